package documents

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mldpbench/models/attack"
)

// linkage-layout finds a document among all originals by the layout alone of what
// `mldp privatize` writes of it, whatever became of its words: their number, what
// stands between them and, where --case keep wrote it, which are capitalised. Without
// capitals he reads as much as the default output has.
func init() {
	attack.Register(attack.Definition{
		Name:       "linkage-layout",
		Needs:      []attack.Need{attack.NeedsWriter},
		OneRelease: true,
		Columns: []attack.Column{
			{Name: withCapitals, Title: "linkage P@1, layout with capitals", Panel: attack.Linked},
			{Name: withoutCapitals, Title: "linkage P@1, layout without capitals"},
		},
		Start: attack.AtOnce(linkByLayout),
	})
}

// Columns of the layout.
const (
	withCapitals    = "linkage-layout-p1"
	withoutCapitals = "linkage-layout-lower-p1"
)

// linkByLayout has an outcome with capitals and one without.
func linkByLayout(ctx context.Context, t *attack.Target) ([]attack.Outcome, error) {
	written, err := t.Written(ctx, attack.Test, 0)
	if err != nil {
		return nil, err
	}
	signs := slices.ContainsFunc(written, aSign.MatchString)
	capitals := slices.ContainsFunc(written, aCapital.MatchString)
	with, err := linkByReading(ctx, t, withCapitals, written, layout{signs: signs, capitals: capitals})
	if err != nil {
		return nil, err
	}
	without, err := linkByReading(ctx, t, withoutCapitals, written, layout{signs: signs})
	return []attack.Outcome{with, without}, err
}

// linkByReading is the outcome of reading so much of the layout.
func linkByReading(ctx context.Context, t *attack.Target, column string, written []string, read layout) (attack.Outcome,
	error) {
	read.marks = attack.NewLexicon(nil)
	l := Linked{Numbers: asked(t)}
	for _, i := range l.Numbers {
		l.Plain = append(l.Plain, read.of(t.Corpus.Test[i].Text))
		l.Noisy = append(l.Noisy, read.of(written[i]))
	}
	o, err := Attacker{}.link(ctx, t, l, cosines(l).Of)
	o.Column = column
	return o, err
}

// aWord is a word with its joiners, whatever it becomes; aRun is one or a part of one.
var (
	aWord    = regexp.MustCompile(`[\pL\pM\pN]+(?:[-'’.,@/_&][\pL\pM\pN]+)*`)
	aRun     = regexp.MustCompile(`[\pL\pM\pN]+`)
	aSign    = regexp.MustCompile(`[^\pL\pM\pN ]`)
	aCapital = regexp.MustCompile(`\p{Lu}`)
)

// layout reads what a text has besides its words.
type layout struct {
	signs, capitals bool // are written
	marks           *attack.Lexicon
}

// of returns the layout of a text: the mark of each word, by its place from the beginning and
// from the end, and in runs, as new words bring signs of their own.
func (l layout) of(text string) []int32 {
	text = strings.Join(strings.Fields(text), " ")
	marks := l.read(text)
	n := len(marks)
	runs := len(aRun.FindAllString(text, -1))
	out := l.marks.IDs([]string{fmt.Sprint(n), fmt.Sprint(runs)})
	for i, mark := range marks {
		out = append(out, l.marks.ID(fmt.Sprintf("%d %q", i, mark)), l.marks.ID(fmt.Sprintf("%d %q", i-n, mark)))
		for _, length := range []int{2, 4, 8} {
			if i+length > n {
				break
			}
			run := marks[i : i+length]
			if slices.ContainsFunc(run, func(m string) bool { return m != " " }) {
				out = append(out, l.marks.ID(fmt.Sprintf("%q", run)))
			}
		}
	}
	return out
}

// read returns the marks: what stands before each word, where signs are written, and whether
// the word is capitalised; then what stands after the last one.
func (l layout) read(text string) []string {
	end := 0
	var marks []string
	for _, at := range aWord.FindAllStringIndex(text, -1) {
		mark := " "
		if l.signs {
			mark = text[end:at[0]]
		}
		if l.capitals && capitalised(text[at[0]:at[1]]) {
			mark += "A"
		}
		marks = append(marks, mark)
		end = at[1]
	}
	if l.signs {
		marks = append(marks, text[end:])
	}
	return marks
}

func capitalised(word string) bool {
	first := aCapital.FindStringIndex(word)
	return first != nil && first[0] == 0
}
