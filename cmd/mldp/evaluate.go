package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/views"
)

func newEvaluateCommand() *cobra.Command {
	var o experiments.EvaluateOptions
	var versions []string
	var out string
	cmd := command("evaluate", "")
	f := cmd.Flags()
	f.StringVar(&o.Original, "original", "", "the table before privatising")
	f.StringArrayVar(&versions, "privatised", nil, "a version, as FILE, NAME=FILE or NAME@EPSILON=FILE; FILE may be "+
		"column:COLUMN of the original; may be given more than once")
	f.StringSliceVar(&o.Text, "text", nil, "columns of the text, in all files")
	f.StringVar(&o.Label, "label", "", "column to predict, in the original (without one accuracy is not measured)")
	textFlags(f, &o.Delimiter, &o.Encoding)
	f.StringVar(&o.Private, "private", "", "column of the private label, in the original")
	f.StringVar(&o.ID, "id", "", "column with the id of the document, in all files (default: the order of rows)")
	setFlag(f, &o.Set)
	f.StringVar(&o.Encoder, "encoder", "", "measure CS with this sentence encoder: a folder with model.onnx, or a "+
		"name of sentence-transformers")
	countFlag(f, &o.Documents, "documents", 50, -1, "documents compared for CS; -1 none")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the split and of training")
	dataFlag(cmd, &o.Root)
	folderFlag(f, &out, "evaluation", "folder of rows, table and page")
	require(cmd, "original", "privatised", "text")
	return prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) error {
		for _, s := range versions {
			v, err := experiments.ParseVersion(s)
			if err != nil {
				return usage(err)
			}
			o.Versions = append(o.Versions, v)
		}
		if o.Documents == 0 {
			return check.AtLeast("documents", o.Documents, 1)
		}
		rows := filepath.Join(out, "results.csv")
		if err := mayWrite(cmd, nil, rows); err != nil {
			return err
		}
		summary, lines, notes, err := experiments.Evaluate(cmd.Context(), o, engine.Options{Out: out,
			Log: cmd.ErrOrStderr(), Version: mldpVersion(), Command: commandLine(cmd.Context())})
		for _, n := range notes {
			fmt.Fprintln(cmd.ErrOrStderr(), n)
		}
		if err != nil {
			return err
		}
		p, err := results.Prepare(results.Run{Name: "evaluate", Rows: summary.Rows})
		if err != nil {
			return err
		}
		pairs := versionPairs(p)
		a.Files = append(a.Files, rows)
		for _, t := range []views.Table{evaluationTable(lines), pairsTable(pairs)} {
			if len(t.Rows) == 0 {
				continue
			}
			files, err := views.Save(out, []views.Table{t}, views.Formats)
			if err = errors.Join(err, a.show(t)); err != nil {
				return err
			}
			a.Files = append(a.Files, files...)
		}
		a.Tables["versions"] = versionRows(lines)
		a.add("pairs", pairs)
		return writeOutputs(a, cmd.ErrOrStderr(), summary, nil, results.Levels{})
	})
}

// evaluationTable returns the table for printing and for a paper: the original,
// which is the most that an attacker finds, the versions, and guessing, which is the
// least. - means not measured; what was measured of none has no column.
func evaluationTable(lines []experiments.Evaluated) views.Table {
	t := views.Table{Name: "evaluation", Title: "Privatised versions"}
	column := func(title string, guess string, of func(x experiments.Evaluated) string) {
		texts := append(list.Map(lines, of), guess)
		if !slices.ContainsFunc(texts, func(s string) bool { return s != "-" }) {
			return
		}
		t.Header = append(t.Header, title)
		if t.Rows == nil {
			t.Rows = make([][]views.Cell, len(texts))
		}
		for i, s := range texts {
			t.Rows[i] = append(t.Rows[i], views.Cell{Text: s})
		}
	}
	column("version", "guessing", func(x experiments.Evaluated) string { return x.Name })
	column("epsilon", "-", func(x experiments.Evaluated) string { return number(x.Epsilon, -1) })
	column("rep", "-", func(x experiments.Evaluated) string { return strconv.Itoa(x.Repetition) })
	column("aligned", "-", func(x experiments.Evaluated) string { return cell(x.Aligned).Text })
	for _, q := range experiments.Evaluation {
		guess := results.Missing // that of the strongest may be another for each version
		for _, x := range lines {
			if n, ok := x.Numbers[q.Key]; ok && n.Floor.Known() && !(guess.Float() > n.Floor.Float()) {
				guess = n.Floor
			}
		}
		column(q.Title, number(guess, 1), func(x experiments.Evaluated) string {
			n, ok := x.Numbers[q.Key]
			if !ok {
				return "-"
			}
			return views.Within(n.Value.Float(), n.Low.Float(), n.High.Float(), 1)
		})
	}
	if len(lines) > 0 {
		t.Legend = fmt.Sprintf("none is the original; mldp evaluate --help explains each number. ± is half the 95%% "+
			"interval over the %d test documents, of CS over those compared, of PP, LOW and English over all that were "+
			"privatised, with a word of LOW in the document where it occurs first; at its end, as at 100%%, the two ends "+
			"follow. Guessing, and the overlap of a text with itself, follow from the documents without a doubt, so they have "+
			"none; nor has a median of fewer than 6.", lines[0].Items)
	}
	return t
}

// versionRows are all numbers of an evaluation, for --json.
func versionRows(lines []experiments.Evaluated) (rows []map[string]any) {
	for _, x := range lines {
		row := map[string]any{"name": x.Name, "epsilon": value(x.Epsilon), "repetition": x.Repetition, "aligned": x.Aligned,
			"test_items": x.Items}
		for _, q := range experiments.Evaluation {
			n, ok := x.Numbers[q.Key]
			if !ok {
				n = experiments.Number{}
			}
			row[q.Key], row[q.Key+"_low"], row[q.Key+"_high"], row[q.Key+"_floor"] = value(n.Value), value(n.Low), value(n.High),
				value(n.Floor)
		}
		rows = append(rows, row)
	}
	return rows
}

// versionPair is the test of two versions in one quantity, in points of 100.
type versionPair struct {
	Quantity   string  `csv:"quantity"`
	Title      string  `csv:"title"`
	Version    string  `csv:"version"`
	Against    string  `csv:"against"`
	Difference float64 `csv:"difference"`
	Low        float64 `csv:"low"`
	High       float64 `csv:"high"`
	Adjusted   float64 `csv:"p_holm"`
	Told       bool    `csv:"told_apart"`
	Detectable float64 `csv:"detectable"`
	Verdict    string  `csv:"verdict"`
	Items      int     `csv:"test_items"`
}

// versionPairs tests all pairs in every quantity that has outcomes of test items.
func versionPairs(p *results.Prepared) []versionPair {
	pairs := []versionPair{}
	for _, q := range results.Columns() {
		if q.Derived || !slices.ContainsFunc(p.Private(), func(c results.Cell) bool {
			m, _ := c.At(q.Name)
			return m.Right() != nil
		}) {
			continue
		}
		points := 100.0
		if q.Counted {
			points = 1
		}
		of := compare.Versions(p, q.Name)
		name := func(i int) string {
			l := of.Lines[i]
			if math.IsNaN(l.Epsilon) {
				return l.Name
			}
			return fmt.Sprintf("%s, ε = %g", l.Name, l.Epsilon)
		}
		for _, x := range of.Pairs {
			m, _ := of.Lines[x.A].Cells[0].At(q.Name)
			pairs = append(pairs, versionPair{q.Name, q.Heading(), name(x.A), name(x.B), points * x.Difference,
				points * x.Low, points * x.High, x.Adjusted, x.Told, points * x.Detectable, views.Verdict(x, q), m.Whole})
		}
	}
	return pairs
}

func pairsTable(pairs []versionPair) views.Table {
	t := views.Table{Name: "pairs", Title: "Versions, pair by pair, in points of 100",
		Header: []string{"measured", "version", "against", "difference", "p (Holm)", "verdict", "detectable",
			"test documents"},
		Legend: "Differences on the same test documents ± half the 95% interval; Holm over the pairs of a measure, 5%. " +
			"Where fewer than 12 documents differ the test is exact. Level: two one-sided tests say that the difference is " +
			"within the margin. The spread of training is that of the original, trained three times, where each version is " +
			"there once.",
	}
	for _, x := range pairs {
		t.AddRow(x.Title, x.Version, x.Against, views.Difference(x.Difference, x.Low, x.High), views.Probability(x.Adjusted),
			x.Verdict, views.Number(x.Detectable, 2), strconv.Itoa(x.Items))
	}
	return t
}

func number(x results.Optional, digits int) string {
	if !x.Known() {
		return "-"
	}
	return strconv.FormatFloat(x.Float(), 'f', digits, 64)
}
