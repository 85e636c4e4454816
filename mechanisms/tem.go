package mechanisms

import (
	"math"

	"mldpbench/embeddings"
	"mldpbench/internal/params"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "tem",
		Title:    "TEM",
		Source:   "Carvalho et al. 2023, Algorithm 1 and Theorem 3",
		Metric:   "euclidean",
		Order:    40,
		Variants: []Variant{Proved, Released, AsRun},
		PerWord:  true,
		Parameters: []Parameter{
			{
				Name:    "gamma",
				Default: temTheorem3,
				Number:  true,
				Legal:   `"theorem3" or a distance >= 0`,
				Valid:   params.Between(0, math.Inf(1)),
				Words:   []string{temTheorem3},
				Doc: "truncation distance; theorem3 gives the smallest that keeps the word within it with " +
					"probability 1-beta",
			},
			{
				Name:    "beta",
				Default: 0.001,
				Legal:   "in (0, 1)",
				Valid:   params.Strictly(0, 1),
				Doc:     "failure probability of theorem3",
			},
		},
		New: newTEM,
	})
}

const temTheorem3 = "theorem3"

// newTEM builds the truncated exponential mechanism.
//
//   - Proved: words within γ compete with score −d(w,y), all others share one
//     element of score −γ + (2/ε)·ln(their number), each with Gumbel noise of
//     scale 2/ε. The winner is distributed as the softmax of scores·ε/2, so
//     Pr[y] ∝ exp(−(ε/2)·min(d(w,y), γ)): this is what is sampled.
//   - Released: γ is computed with n in place of n−1 and rounded to one
//     decimal, and the score of the others is −γ + (2/ε)·ln(n/|L_w|), L_w the
//     words within γ. Where there are no others, the element does not exist.
//
// γ of Theorem 3 depends on ε.
func newTEM(env Environment, s Settings) (*Mechanism, error) {
	n := env.Space.Len()
	if s.Variant == AsRun {
		return newAsRunTEM(env, s)
	}
	if s.Variant == Released {
		return newReleasedTEM(s, Guarantee{Reason: unprovedTEM}, env.Space, n), nil
	}
	g := euclideanGuarantee(env.Space, s.Epsilon,
		"exponential mechanism with the distance, truncated at gamma, as cost")
	law := Decay{
		Costs: DistanceCosts(env.Space, nil),
		Rate:  s.Epsilon / 2,
		Most:  truncation(s, n-1),
	}
	return ByScores(s, g, law.Scores()), nil
}

// truncation is γ, that of theorem3 for so many words.
func truncation(s Settings, words int) float64 {
	if gamma, given := s.Parameters["gamma"].(float64); given {
		return gamma
	}
	return theorem3(s.Epsilon, s.Parameters["beta"].(float64), words)
}

const unprovedTEM = "the weight of the words beyond gamma depends on how many words are within it, which no " +
	"proof covers"

// newReleasedTEM rounds the γ of so many words to one decimal.
func newReleasedTEM(s Settings, g Guarantee, space *embeddings.Space, words int) *Mechanism {
	gamma := math.Round(10*truncation(s, words)) / 10
	return ByScores(s, g, Scores{
		Vocabulary: space.Vocabulary,
		Basis:      Distances(space),
		Of: func(_ WordID, row []float64) ([]float64, []WordID) {
			releasedTEMScores(row, s.Epsilon, gamma)
			return row, nil
		},
	})
}

// theorem3 returns γ = (2/ε)·ln((1−β)·others/β) (Carvalho et al. 2023, Theorem
// 3), or 0 if that is negative.
func theorem3(epsilon, beta float64, others int) float64 {
	return max(0, 2/epsilon*math.Log((1-beta)*float64(others)/beta))
}

// releasedTEMScores turns distances into log-weights in place. The words beyond
// γ share their element evenly.
func releasedTEMScores(row []float64, epsilon, gamma float64) {
	n := float64(len(row))
	within := 0.0
	for _, d := range row {
		if d <= gamma {
			within++
		}
	}
	beyond := -epsilon/2*gamma + math.Log(n/within) - math.Log(n-within)
	for i, d := range row {
		if d <= gamma {
			row[i] = -epsilon / 2 * d
		} else {
			row[i] = beyond
		}
	}
}
