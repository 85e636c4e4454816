package datasets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mldpbench/internal/realdata"
	"mldpbench/stream"
)

func TestAgenciesAreCutOut(t *testing.T) {
	for _, c := range []struct {
		text, want string
		agency     int
		ok         bool
	}{
		{"Money Funds Fell (AP) AP - Assets of the funds fell.", "Money Funds Fell  Assets of the funds fell.", 0,
			true},
		{"Wall St. Bears (Reuters) Reuters - Short-sellers are back.", "Wall St. Bears  Short-sellers are back.", 1,
			true},
		{"Stocks Up  NEW YORK (Reuters) - Stocks rose, officials told Reuters.",
			"Stocks Up Stocks rose, officials told  .", 1, true},
		{"Oil (Reuters) Reuters - told The Associated Press, said AP's man.", "Oil  told  , said  's man.", 1, true},
		{`Google (Reuters) - &lt;A HREF="http://www.investor.reuters.com/x" target=/y&gt;GOOG.OQ&lt;/A&gt; rose.`,
			"Google  -   rose.", 1, true},
		{"Both (AP) and (Reuters)", "", 0, false},
		{"Neither: APEC met.", "", 0, false},
	} {
		agency, ok := agencyOf(c.text)
		if agency != c.agency || ok != c.ok {
			t.Errorf("%q: agency %d, %v", c.text, agency, ok)
		}
		if !ok {
			continue
		}
		if got := cutAgencies(c.text); got != c.want {
			t.Errorf("%q:\ngot  %q\nwant %q", c.text, got, c.want)
		}
	}
}

// requireEven fails where a split does not hold the same number of every
// private label within every class, up to one.
func requireEven(t *testing.T, d *Dataset) {
	t.Helper()
	for _, s := range d.Splits() {
		counts := make([][]int, len(d.Classes))
		for c := range counts {
			counts[c] = make([]int, len(d.Privates))
		}
		for _, doc := range s.Documents {
			counts[doc.Label][doc.Private]++
		}
		for c, n := range counts {
			for p := range n {
				if n[p] > n[0]+1 || n[p] < n[0]-1 {
					t.Errorf("%s, %s: class %s has private labels %d", d.Name, s.Name, d.Classes[c], n)
				}
			}
		}
	}
}

func TestAgencyOfRealNews(t *testing.T) {
	realdata.File(t, "ag_news_train.subset.csv.gz")
	realdata.File(t, "wordnet-3.0")
	d, err := Load(t.Context(), Request{Name: "agnews-agency", Root: realdata.Dir(t), Seed: stream.FromUint64(1)})
	if err != nil {
		t.Fatal(err)
	}
	requireEven(t, d)
	counts := make([]int, len(d.Classes))
	for _, s := range d.Splits() {
		for _, doc := range s.Documents {
			counts[doc.Label]++
			for _, w := range doc.Tokens {
				if w == "ap" || strings.Contains(w, "reuters") {
					t.Errorf("row %d names its agency: %q", doc.ID, doc.Text)
				}
			}
			if strings.Contains(doc.Text, "Associated Press") {
				t.Errorf("row %d names its agency: %q", doc.ID, doc.Text)
			}
		}
	}
	t.Logf("%d items, by topic %d", d.SourceRows, counts)
	if d.SourceRows < 2000 {
		t.Errorf("%d items of either agency", d.SourceRows)
	}
}

func TestSpookyAuthors(t *testing.T) {
	realdata.File(t, "spooky_authors.csv.gz")
	d, err := Load(t.Context(), Request{Name: "spooky-authors", Root: realdata.Dir(t), Seed: stream.FromUint64(1)})
	if err != nil {
		t.Fatal(err)
	}
	if d.SourceRows != 19579 || len(d.Privates) != 3 {
		t.Errorf("%d sentences of %q", d.SourceRows, d.Privates)
	}
}

func TestPseudoUsers(t *testing.T) {
	realdata.File(t, "insuranceqa_v2_questions.tsv.gz")
	d, err := Load(t.Context(), Request{Name: "insuranceqa-users", Root: realdata.Dir(t), Seed: stream.FromUint64(1)})
	if err != nil {
		t.Fatal(err)
	}
	users := byUser(d.Train, d.Validation, d.Test)
	t.Logf("%d pseudo-users", len(users))
	if len(users) < 100 {
		t.Errorf("%d pseudo-users", len(users))
	}
	for _, u := range users {
		if len(u.Documents) != questionsPerUser {
			t.Errorf("%s has %d questions", u.User, len(u.Documents))
		}
		for _, doc := range u.Documents {
			if !strings.HasPrefix(u.User, d.Classes[doc.Label]+"/") {
				t.Errorf("%s has a question on %s", u.User, d.Classes[doc.Label])
			}
		}
	}
}

func TestGeneratedPrivateLabels(t *testing.T) {
	for _, name := range []string{"generated-styles", "generated-users"} {
		d, err := Load(t.Context(), Request{Name: name, Seed: stream.FromUint64(1)})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Privates) != 2 {
			t.Fatalf("%s: private labels %q", name, d.Privates)
		}
		if name == "generated-styles" {
			requireEven(t, d)
			continue
		}
		users := byUser(d.Train, d.Validation, d.Test)
		if len(users) != 240 || len(users[0].Documents) != 30 {
			t.Errorf("%d users, the first with %d texts", len(users), len(users[0].Documents))
		}
	}
}

func TestOwnPrivateLabelAndUser(t *testing.T) {
	var b strings.Builder
	b.WriteString("text,topic,gender,who\n")
	for i := range 40 {
		fmt.Fprintf(&b, "text %d,%s,%s,u%d\n", i, []string{"a", "b"}[i%2], []string{"f", "m"}[i/2%2], i%4)
	}
	q := Request{Name: "mine", File: write(t, "mine.csv", b.String()), TextColumns: []string{"text"},
		LabelColumn:   "topic",
		PrivateColumn: "gender", UserColumn: "who", Seed: stream.FromUint64(1)}
	d, err := Load(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(d.Privates, " ") != "f m" {
		t.Errorf("private labels %q", d.Privates)
	}
	requireEven(t, d)
	if users := byUser(d.Train, d.Validation, d.Test); len(users) != 4 || len(users[3].Documents) != 10 {
		t.Errorf("%d users", len(users))
	}
	without := q
	without.PrivateColumn, without.UserColumn = "", ""
	plain, err := Load(t.Context(), without)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Fingerprint == d.Fingerprint || plain.Privates != nil {
		t.Error("a private label does not show in the data set")
	}
	for column, want := range map[string]string{"age": `no column "age"`, "topics": "no column"} {
		q.PrivateColumn = column
		if _, err := Load(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("private column %s: %v", column, err)
		}
	}
	if _, err := Load(t.Context(), Request{Name: "generated-news", PrivateColumn: "x"}); err == nil {
		t.Error("a private column of a built-in data set must be an error")
	}
}

// userTexts are the documents of one user.
type userTexts struct {
	User      string
	Documents []Document
}

// byUser groups documents by user, users in the order of their names, the
// documents of each in the order of the source. Documents without a user are
// left out.
func byUser(splits ...[]Document) []userTexts {
	byName := map[string]*userTexts{}
	var names []string
	for _, documents := range splits {
		for _, d := range documents {
			if d.User == "" {
				continue
			}
			u := byName[d.User]
			if u == nil {
				u = &userTexts{User: d.User}
				byName[d.User], names = u, append(names, d.User)
			}
			u.Documents = append(u.Documents, d)
		}
	}
	slices.Sort(names)
	out := make([]userTexts, len(names))
	for i, name := range names {
		out[i] = *byName[name]
		slices.SortStableFunc(out[i].Documents, func(a, b Document) int { return cmp.Compare(a.ID, b.ID) })
	}
	return out
}
