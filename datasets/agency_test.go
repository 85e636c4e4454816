package datasets

import (
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
	d := loaded(t, Request{Name: "agnews-agency", Root: realdata.Dir(t), Seed: stream.FromUint64(1)})
	requireEven(t, d)
	for _, doc := range slices.Concat(d.Train, d.Validation, d.Test) {
		if strings.Contains(doc.Text, "Associated Press") || slices.ContainsFunc(doc.Tokens, func(w string) bool {
			return w == "ap" || strings.Contains(w, "reuters")
		}) {
			t.Errorf("row %d names its agency: %q", doc.ID, doc.Text)
		}
	}
	if d.SourceRows < 2000 {
		t.Errorf("%d items of either agency", d.SourceRows)
	}
}

func loaded(t *testing.T, q Request) *Dataset {
	t.Helper()
	d, err := Load(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPseudoUsers(t *testing.T) {
	realdata.File(t, "insuranceqa_v2_questions.tsv.gz")
	d := loaded(t, Request{Name: "insuranceqa-users", Root: realdata.Dir(t), Seed: stream.FromUint64(1)})
	users := byUser(d)
	if len(users) < 100 {
		t.Errorf("%d pseudo-users", len(users))
	}
	for user, documents := range users {
		if len(documents) != questionsPerUser || slices.ContainsFunc(documents, func(doc Document) bool {
			return !strings.HasPrefix(user, d.Classes[doc.Label]+"/")
		}) {
			t.Errorf("%s has %d questions, or others than its own", user, len(documents))
		}
	}
}

func TestPrivateLabels(t *testing.T) {
	requireEven(t, loaded(t, Request{Name: "generated-styles", Seed: stream.FromUint64(1)}))
	if users := byUser(loaded(t, Request{Name: "generated-users", Seed: stream.FromUint64(1)})); len(users) != 240 {
		t.Errorf("%d users", len(users))
	}
	var b strings.Builder
	b.WriteString("text,topic,gender,who\n")
	for i := range 40 {
		fmt.Fprintf(&b, "text %d,%s,%s,u%d\n", i, []string{"a", "b"}[i%2], []string{"f", "m"}[i/2%2], i%4)
	}
	q := Request{Name: "mine", File: write(t, "mine.csv", b.String()), TextColumns: []string{"text"}, LabelColumn: "topic",
		PrivateColumn: "gender", UserColumn: "who", Seed: stream.FromUint64(1)}
	d := loaded(t, q)
	requireEven(t, d)
	if users := byUser(d); strings.Join(d.Privates, " ") != "f m" || len(users) != 4 || len(users["u3"]) != 10 {
		t.Errorf("private labels %q, %d users", d.Privates, len(users))
	}
	without := q
	without.PrivateColumn, without.UserColumn = "", ""
	if plain := loaded(t, without); plain.Fingerprint == d.Fingerprint || plain.Privates != nil {
		t.Error("a private label does not show in the data set")
	}
	if _, err := Load(t.Context(), Request{Name: "generated-news", PrivateColumn: "x"}); err == nil {
		t.Error("a private column of a built-in data set must be an error")
	}
}

// byUser groups documents by user, without those that have none.
func byUser(d *Dataset) map[string][]Document {
	users := map[string][]Document{}
	for _, doc := range slices.Concat(d.Train, d.Validation, d.Test) {
		if doc.User != "" {
			users[doc.User] = append(users[doc.User], doc)
		}
	}
	return users
}
