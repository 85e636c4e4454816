package published

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "mldpbench/experiments/measure" // names of its quantities
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/tables"
)

// TestReplicationPageFollowsItsRecords: the tables of the page are those that
// `mldp compare --published` makes from the committed records, all of their rows,
// and every printed number is in them.
func TestReplicationPageFollowsItsRecords(t *testing.T) {
	t.Parallel()
	p := reference(t, "replication", "replication-imdb", "comparative")
	honest, ok := HonestTable(p)
	if !ok {
		t.Fatal("no records of the mechanisms as described")
	}
	const page = "reports/2-the-2024-tables.md"
	comparePage(t, page, "How many", ReplicationTables(p), "replication")
	comparePage(t, page, "AG News", ReplicationTables(p), "replication-agnews")
	comparePage(t, page, "IMDb", ReplicationTables(p), "replication-imdb")
	comparePage(t, page, "Where the numbers come from", ReplicationTables(p), "replication-causes")
	comparePage(t, page, "As described", []tables.Table{honest}, honest.Name)
	if n := len(Replicate(p)); n != 256 {
		t.Errorf("%d printed numbers, want 256", n)
	}
}

// TestPromisesFollowTheirRecords: the table of the page is that which `mldp
// tables` makes from the committed records and the audit, all of its rows.
func TestPromisesFollowTheirRecords(t *testing.T) {
	t.Parallel()
	comparePage(t, "STUDY.md", "Accuracy at equal privacy", tables.All(audited(t, "extended", "refuted")),
		"promises-svm-local")
}

// TestEqualPrivacyFollowsItsRecords: tables and counts of the page at equal
// privacy are those that `mldp compare --align` makes from the committed records.
func TestEqualPrivacyFollowsItsRecords(t *testing.T) {
	t.Parallel()
	const page = "reports/1-equal-privacy.md"
	at := func(levels, name string) (*results.Prepared, []tables.Table) {
		p := reference(t, name)
		var err error
		if p.Levels, err = results.ParseLevels(levels); err != nil {
			t.Fatal(err)
		}
		return p, tables.Equal(p)
	}
	extended, all := at("em=0.5", "extended")
	comparePage(t, page, "At equal privacy", all, "equal")
	prior, byPrior := at("weighted=0.5", "extended")
	comparePage(t, page, "With the frequencies of the text", byPrior, "equal")
	_, attacked := at("label=0.7", "attacks")
	order := func(all []tables.Table, name string) tables.Table {
		t.Helper()
		i := slices.IndexFunc(all, func(x tables.Table) bool { return x.Name == "order" })
		if i < 0 {
			t.Fatal("no table of orders")
		}
		all[i].Name = name
		return all[i]
	}
	both := []tables.Table{order(all, "extended"), order(attacked, "attacks")}
	comparePage(t, page, "Where the order changes", both, "extended", "attacks")
	comparePage(t, page, "The error of the error", tables.All(reference(t, "grown")), "adversary")

	// Of the tables of pairs the page has some rows.
	made := map[string]bool{}
	for _, x := range slices.Concat(all, byPrior) {
		for _, row := range tableRows(x) {
			made[row] = true
		}
	}
	on := pageRows(t, page, "Pair by pair")
	for row := range on {
		if !made[row] {
			t.Errorf("on the page, not of the records: %s", row)
		}
	}
	if len(on) < 15 {
		t.Errorf("%d rows of pairs", len(on))
	}

	var sentences []string
	told := func(p *results.Prepared) (parts []string) {
		for _, a := range compare.Align(p, compare.Question{}, 0.5) {
			n := len(results.Where(a.Pairs, func(x compare.Pair) bool { return x.Told }))
			parts = append(parts, fmt.Sprintf("%d of %d (%s)", n, len(a.Pairs), results.DatasetTitle(a.Dataset)))
		}
		return parts
	}
	for _, p := range []*results.Prepared{extended, prior} {
		parts := told(p)
		sentences = append(sentences, strings.Join(parts[:len(parts)-1], ", ")+" and "+parts[len(parts)-1])
	}
	pairs, opposite := 0, 0
	for _, row := range both[0].Rows {
		var n, k int
		if _, err := fmt.Sscan(row[6].Text, &n); err == nil {
			_, _ = fmt.Sscan(row[7].Text, &k) // a number where the one before it is
			pairs, opposite = pairs+n, opposite+k
		}
		if row[9].Text != "" && row[9].Text != "none" {
			t.Errorf("a pair is reversed: %s", row[9].Text)
		}
	}
	sentences = append(sentences, fmt.Sprintf("means change places in %d of %d pairs", opposite, pairs))
	data, err := os.ReadFile(filepath.Join("..", page))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(data)), " ")
	for _, s := range sentences {
		if !strings.Contains(text, s) {
			t.Errorf("the page lacks %q", s)
		}
	}
	words := 0
	for line := range strings.Lines(string(data)) {
		if !strings.HasPrefix(line, "|") {
			words += len(strings.Fields(line))
		}
	}
	if words > 1500 {
		t.Errorf("%d words outside of tables", words)
	}
}

// TestComparativePageFollowsItsRecords: the tables of the page on the comparative
// study are those that `mldp tables` makes from its records, all of their rows.
func TestComparativePageFollowsItsRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files    []string
		sections map[string][]string
	}{
		{[]string{"comparative"}, map[string][]string{
			"Accuracy":                           {"accuracy-lstm-local", "accuracy-lstm-train-only"},
			"Product Reviews":                    {"accuracy-svm-local", "auc-svm-local"},
			"Which mechanisms differ?":           {"duels-accuracy-lstm-local"},
			"The same ε is not the same privacy": {"adversary"},
			"What it costs":                      {"cost-per-million-words"},
		}},
		{[]string{"comparative-released"}, map[string][]string{
			"As released": {"accuracy-lstm-local", "accuracy-lstm-train-only", "accuracy-svm-local"}}},
		{[]string{"comparative-local-50", "comparative-local-300", "comparative-released-local-50",
			"comparative-released-local-300"}, map[string][]string{
			"Dimension": {"accuracy-lstm-local", "accuracy-lstm-train-only"}}},
	} {
		all := tables.All(reference(t, c.files...))
		for section, names := range c.sections {
			comparePage(t, "COMPARATIVE.md", section, all, names...)
		}
	}
}

// reference returns the committed rows of runs, prepared together.
func reference(t *testing.T, names ...string) *results.Prepared { return prepared(t, nil, names...) }

// audited is reference with the committed verdicts of the audit.
func audited(t *testing.T, names ...string) *results.Prepared {
	t.Helper()
	audit, err := results.ReadAudit(filepath.Join("..", "reference", "audit-glove-100.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return prepared(t, audit, names...)
}

func prepared(t *testing.T, audit []results.AuditRow, names ...string) *results.Prepared {
	t.Helper()
	var runs []results.Run
	for _, name := range names {
		rows, err := results.Read(filepath.Join("..", "reference", name+".csv.gz"))
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, results.Run{Name: name, Rows: rows, Audit: audit})
	}
	p, err := results.Prepare(runs...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// comparePage compares the rows of tables in a section of a page with those of
// the named tables.
func comparePage(t *testing.T, page, section string, all []tables.Table, names ...string) {
	t.Helper()
	on, made := pageRows(t, page, section), map[string]bool{}
	for _, table := range all {
		if !slices.Contains(names, table.Name) {
			continue
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == table.Name })
		for _, line := range tableRows(table) {
			made[line] = true
			if !on[line] {
				t.Errorf("the page lacks %s", line)
			}
		}
	}
	for line := range on {
		if !made[line] {
			t.Errorf("on the page, not of the records: %s", line)
		}
	}
	if len(names) > 0 {
		t.Errorf("no tables %q", names)
	}
}

// TestAttacksPageFollowsItsRecords: the tables of the page are those that `mldp
// tables` makes from the committed records, all of their rows.
func TestAttacksPageFollowsItsRecords(t *testing.T) {
	t.Parallel()
	for section, file := range map[string]string{"Tables": "attacks",
		"The auditor of a language model": "auditor"} {
		on, made := pageRows(t, "ATTACKS.md", section), map[string]bool{}
		for _, table := range tables.All(reference(t, file)) {
			if kind, _, _ := strings.Cut(table.Name, "-"); !slices.Contains([]string{"use", "attackers", "attacks"}, kind) {
				continue
			}
			for _, line := range tableRows(table) {
				made[line] = true
				if !on[line] {
					t.Errorf("%s: the page lacks %s", file, line)
				}
			}
		}
		for line := range on {
			if !made[line] {
				t.Errorf("on the page, not of %s: %s", file, line)
			}
		}
		if len(made) < 6 {
			t.Errorf("%s: %d rows", file, len(made))
		}
	}
}

// pageRows are the rows of tables in a section of a page of results.
func pageRows(t *testing.T, name, section string) map[string]bool {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "\n## "+section+"\n")
	if !found {
		t.Fatalf("%s has no section %q", name, section)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	on := map[string]bool{}
	for _, line := range rowsOf(text) {
		on[line] = true
	}
	return on
}

func tableRows(t tables.Table) []string {
	var b bytes.Buffer
	_ = t.Write(&b, "md") // a buffer takes everything
	return rowsOf(b.String())
}

func rowsOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = rowOf(line); strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|-") {
			lines = append(lines, line)
		}
	}
	return lines
}

// rowOf is a line of a Markdown table without the spaces that align it.
func rowOf(line string) string {
	cells := strings.Split(strings.TrimSpace(line), "|")
	for i, c := range cells {
		cells[i] = strings.TrimSpace(c)
	}
	return strings.Join(cells, "|")
}
