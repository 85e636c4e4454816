package attack

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// linkage-layout finds a document among all originals by the layout alone of what
// `mldp privatize` writes of it, whatever became of its words: their number, what
// stands between them and, where --case keep wrote it, which are capitalised. Without
// capitals he reads as much as the default output has.
func init() {
	keep := Column{Name: "linkage-layout-p1", Title: "linkage P@1, layout with capitals", Panel: Linked}
	lower := Column{Name: "linkage-layout-lower-p1", Title: "linkage P@1, layout without capitals"}
	Register(Definition{Name: "linkage-layout", Needs: []Need{NeedsWriter}, OneRelease: true,
		Columns: []Column{keep, lower}, Run: func(ctx context.Context, s *Situation) (all []Outcome, err error) {
			written, err := s.written(ctx, release{Test, 0})
			if err != nil {
				return nil, err
			}
			for _, c := range []Column{keep, lower} {
				p, l := pieces{ids: map[string]int32{}}, linked{of: s.asked()}
				signs := slices.ContainsFunc(written, aSign.MatchString)
				capitals := c.Name == keep.Name && slices.ContainsFunc(written, aCapital.MatchString)
				read := func(text string) []int32 { return p.layout(text, signs, capitals) }
				for _, i := range l.of {
					l.plain, l.noisy = append(l.plain, read(s.Test[i].Text)), append(l.noisy, read(written[i]))
				}
				o, err := s.link(ctx, c.Name, l, false, scoreTFIDF)
				if err != nil {
					return nil, err
				}
				all = append(all, o...)
			}
			return all, nil
		}})
}

// aWord is a word with its joiners, whatever it becomes; aRun is one or a part of one.
var (
	aWord    = regexp.MustCompile(`[\pL\pM\pN]+(?:[-'’.,@/_&][\pL\pM\pN]+)*`)
	aRun     = regexp.MustCompile(`[\pL\pM\pN]+`)
	aSign    = regexp.MustCompile(`[^\pL\pM\pN ]`)
	aCapital = regexp.MustCompile(`\p{Lu}`)
)

// layout returns what a text has besides its words: the mark of each word is what
// stands before it, where signs are written, and whether it is capitalised. Marks count
// by their place from the beginning and from the end, and in runs, as new words bring
// signs of their own.
func (p *pieces) layout(text string, signs, capitals bool) []int32 {
	text, end := strings.Join(strings.Fields(text), " "), 0
	var marks []string
	for _, at := range aWord.FindAllStringIndex(text, -1) {
		mark := " "
		if signs {
			mark = text[end:at[0]]
		}
		if first := aCapital.FindStringIndex(text[at[0]:at[1]]); capitals && first != nil && first[0] == 0 {
			mark += "A"
		}
		marks, end = append(marks, mark), at[1]
	}
	if signs {
		marks = append(marks, text[end:])
	}
	n := len(marks)
	out := []int32{p.id(fmt.Sprint(n)), p.id(fmt.Sprint(len(aRun.FindAllString(text, -1))))}
	for i, mark := range marks {
		out = append(out, p.id(fmt.Sprintf("%d %q", i, mark)), p.id(fmt.Sprintf("%d %q", i-n, mark)))
		for _, k := range []int{2, 4, 8} {
			if run := marks[i:min(i+k, n)]; len(run) == k && slices.ContainsFunc(run, func(m string) bool { return m != " " }) {
				out = append(out, p.id(fmt.Sprintf("%q", run)))
			}
		}
	}
	return out
}
