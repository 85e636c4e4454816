package generated

import (
	"regexp"
	"slices"
	"testing"
)

func TestGrammarIsWhole(t *testing.T) {
	g := theGrammar()
	name := regexp.MustCompile(`\{([^}]*)\}`)
	used := map[string]bool{}
	for section, templates := range g.templates {
		for _, template := range templates {
			for _, m := range name.FindAllStringSubmatch(template, -1) {
				n := m[1]
				if pair, ok := byPolarity[n]; ok {
					used[pair[0]], used[pair[1]] = true, true
					continue
				}
				if n == "n" || n == "item" || n == "adj" || n == "opposite" {
					continue
				}
				if g.byName[n] == nil {
					t.Errorf("[%s] %q: no slot %q", section, template, n)
				}
				used[n] = true
			}
		}
	}
	for _, product := range products {
		used[product+".item"] = true
		if len(g.parts[product]) < 3 || len(g.templates[product]) == 0 {
			t.Errorf("product %s: %d parts, %d templates", product, len(g.parts[product]), len(g.templates[product]))
		}
		for _, part := range g.parts[product] {
			used[part], used[part+"+"], used[part+"-"] = true, true, true
			if g.byName[part+"+"].Polarity != 1 || g.byName[part+"-"].Polarity != -1 || g.byName[part].Polarity != 0 {
				t.Errorf("part %s: wrong polarity", part)
			}
		}
	}
	for _, s := range g.slots {
		if !used[s.Name] || len(s.Words) < 2 || g.byName[s.Name].Words[0] != s.Words[0] {
			t.Errorf("slot %s is in no template, has one word, or is there twice", s.Name)
		}
		for _, w := range s.Words {
			if g.byWord[w].Name != s.Name {
				t.Errorf("%q is in %s and %s", w, s.Name, g.byWord[w].Name)
			}
		}
	}
	if len(g.templates[""]) > 0 {
		t.Error("a template before the first section")
	}
}

func TestCorpusIsBalancedAndDistinct(t *testing.T) {
	for name, docs := range map[string][]Document{"reviews": Reviews(), "news": News()} {
		counts := map[int]int{}
		texts := map[string]int{}
		for _, d := range docs {
			counts[d.Label]++
			texts[d.Text()]++
		}
		for label, n := range counts {
			if n != len(docs)/len(counts) {
				t.Errorf("%s: %d documents of class %d", name, n, label)
			}
		}
		if repeated := len(docs) - len(texts); repeated > len(docs)/100 {
			t.Errorf("%s: %d of %d documents repeat another", name, repeated, len(docs))
		}
	}
}

func TestThesaurus(t *testing.T) {
	var th Thesaurus
	if l := th.Lemmas("superb"); !slices.Contains(l, "superb") || !slices.Contains(l, "excellent") ||
		!th.Covers("superb") {
		t.Errorf("superb: %q", l)
	}
	if th.Covers("zyzzyva") || th.Lemmas("zyzzyva") != nil {
		t.Error("a word outside the corpus is covered")
	}
}
