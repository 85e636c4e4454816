package experiments_test

import (
	"math"
	"strings"
	"testing"

	"mldpbench/experiments/engine"
	"mldpbench/results"
)

// E_M over all words is measured once per mechanism and ε; that of the
// baselines is known: no guess is wrong for plain text, n−1 of n for noise.
func TestFullVocabularyError(t *testing.T) {
	t.Parallel()
	s := own(t, "  - {name: uniform}\n  - {name: identity}\n  - {name: k-rr, epsilons: [1, 3]}\n  - "+
		"{name: cmp, epsilons: [1000]}")
	s = withText(t, s, "\nrepetitions: 1", "\nrepetitions: 2")
	sum := mustRun(t, s, engine.Options{})
	seen := 0
	for _, r := range cells(t, sum) {
		if r.IsBaseline() {
			continue
		}
		if r.Repetition == 2 {
			if r.Has("e_m_full_uniform") {
				t.Errorf("%s: measured again", r.Mechanism)
			}
			continue
		}
		n := float64(r.Vocabulary)
		want, runs := math.NaN(), 0
		switch r.Mechanism {
		case "uniform":
			want = 1 - 1/n
		case "identity":
			want = 0
		case "k-rr":
			e := math.Exp(r.Epsilon.Float())
			want = 1 - e/(e+n-1)
		case "cmp": // noise that is too small to matter
			want, runs = 0, 10
		}
		if got := r.Get("e_m_full_uniform").Float(); !(math.Abs(got-want) <= 1e-9) || at(r,
			"e_m_full_uniform").Whole != runs ||
			at(r, "e_m_full_uniform").Low.Float() > r.Get("e_m_full_uniform").Float() ||
			at(r, "e_m_full_uniform").High.Float() < r.Get("e_m_full_uniform").Float() {
			t.Errorf("%s ε=%v: E_M %v in [%v, %v], want %v, runs %d", r.Mechanism, r.Epsilon, got, at(r, "e_m_full_uniform").Low,
				at(r, "e_m_full_uniform").High, want, at(r, "e_m_full_uniform").Whole)
		}
		if !(r.Get("e_m_full_corpus").Float() <= r.Get("e_m_full_uniform").Float()+1e-9) {
			t.Errorf("%s: who knows more errs more: %v > %v", r.Mechanism, r.Get("e_m_full_corpus"), r.Get("e_m_full_uniform"))
		}
		seen++
	}
	if seen != 5 {
		t.Errorf("%d cells, want 5", seen)
	}
	p, err := results.Prepare(results.Run{Rows: sum.Rows})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Cells {
		if c.Mechanism == "uniform" && c.Get(results.EM).Float() != 1-1/float64(c.Vocabulary) {
			t.Errorf("repetition %d: E_M %v", c.Repetition, c.Get(results.EM))
		}
	}
}

// E_M from growing draws, and with a loss weighed by distance: 0 for plain text,
// and for a mechanism whose wrong outputs are any other words alike, E_M itself,
// as a wrong guess is as far away as any word.
func TestDistanceOfGuesses(t *testing.T) {
	t.Parallel()
	s := own(t, "  - {name: identity}\n  - {name: k-rr, epsilons: [3, 6]}\n  - {name: cmp, epsilons: [5]}")
	s = withText(t, s, "    samples: 10", "    samples: 10\n    most: 80\n    distance: true")
	seen := 0
	for _, r := range cells(t, mustRun(t, s, engine.Options{})) {
		if r.IsBaseline() {
			continue
		}
		seen++
		e, d := at(r, "e_m_full_uniform"), at(r, "e_m_full_distance")
		switch r.Mechanism {
		case "identity":
			if d.Value.Float() != 0 {
				t.Errorf("plain text: %+v", d)
			}
		case "k-rr":
			if !(math.Abs(d.Value.Float()-e.Value.Float()) < 0.03) || d.High != d.Low {
				t.Errorf("%+v for E_M %+v", d, e)
			}
		case "cmp": // a wrong guess is near: less than E_M; ten draws are not enough
			if !(d.Value.Float() < e.Value.Float()) || d.Whole < 20 || e.Whole != d.Whole || e.Note == "" || !(e.Low.Float() < e.Value.Float()) {
				t.Errorf("%+v for E_M %+v", d, e)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d cells", seen)
	}
}

// The privacy loss of documents in a study: exact where there is a closed form,
// and above the bound of the game; of randomised response, ε for one word.
func TestDocumentLoss(t *testing.T) {
	t.Parallel()
	s := own(t, "  - {name: identity}\n  - {name: k-rr, epsilons: [3]}\n  - {name: cmp, epsilons: [5]}")
	s = withText(t, s, "\nmetrics:", "\nmetrics:\n  document_loss: {}")
	for _, r := range cells(t, mustRun(t, s, engine.Options{})) {
		if r.IsBaseline() {
			continue
		}
		exact, bound, game := at(r, "document_epsilon_word"), at(r, "document_bound_word"), at(r, "document_game_word")
		if game.Whole < 1000 || !r.Has("document_game_topic") || r.Has("document_game_author") {
			t.Errorf("%s: game %+v", r.Mechanism, game)
		}
		switch r.Mechanism {
		case "identity":
			if exact.Value.Known() || !strings.Contains(exact.Note, "infinite for ") || game.Part != game.Whole {
				t.Errorf("plain text: %+v, game %+v", exact, game)
			}
		case "k-rr":
			if math.Abs(exact.Value.Float()-3) > 0.01 || bound.Value.Float() != 3 || game.Value.Float() > exact.Value.Float() || exact.Whole < 10 {
				t.Errorf("one word at ε = 3: %+v, bound %+v, game %+v", exact, bound, game)
			}
		case "cmp":
			if exact.Value.Known() || exact.Note != "no closed form" {
				t.Errorf("without a closed form: %+v", exact)
			}
		}
	}
}
