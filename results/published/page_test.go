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
	p := reference(t, "replication", "comparative")
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

// TestEqualPrivacyFollowsItsRecords: the tables of the page at equal privacy are
// those that `mldp tables` makes from the committed records and the audit, all
// of their rows.
func TestEqualPrivacyFollowsItsRecords(t *testing.T) {
	t.Parallel()
	comparePage(t, "STUDY.md", "Accuracy at equal privacy", tables.All(audited(t, "extended", "refuted")),
		"aligned-accuracy-svm-local", "aligned-epsilon-svm-local", "promises-svm-local")
}

// TestRankingFollowsItsRecords: what the page says of the leaderboard is so in
// the committed records.
func TestRankingFollowsItsRecords(t *testing.T) {
	t.Parallel()
	others, open := 0, map[string]int{}
	for _, s := range compare.Standings(audited(t, "extended", "refuted"), compare.Question{}, results.StatedErrors[0]) {
		if first := s.Entries[0]; first.Line.Mechanism != "rank-fix" {
			t.Errorf("%s: %s is first", s.Dataset, first.Name)
		}
		others, open[s.Dataset] = len(s.Entries)-1, len(s.Entries[0].Open)
	}
	want := fmt.Sprintf("of the %d others with a promise between any two words %d (IMDb), %d (AG News) and %d "+
		"(Product Reviews) cannot be told from it", others, open["imdb"], open["agnews"], open["product-reviews"])
	page, err := os.ReadFile(filepath.Join("..", "STUDY.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), want) {
		t.Errorf("the page lacks %q", want)
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
