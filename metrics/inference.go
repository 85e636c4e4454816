package metrics

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// Adversary poses the inference problem of [X21] §3.1: a secret word w is drawn
// from m candidates with probability Prior[w], the mechanism outputs w′, and
// the adversary, which knows prior and mechanism, guesses a candidate ŵ.
//
// On a vocabulary of n words the full problem costs n² distributions. To make
// it affordable, candidates are a seeded subset of the vocabulary (SampleWords)
// and the prior is restricted to it; outputs still range over all n words.
// Fewer candidates make an easier problem, so E_M values are comparable only at
// equal m, which the record holds.
type Adversary struct {
	// Prior has one entry per candidate, sums to one; see UniformPrior and
	// EmpiricalPrior.
	Prior []float64
	// Distance is the Euclidean distance of two candidates, for the Euclidean
	// losses; nil leaves them missing.
	Distance func(candidate, other int) float64
	// Loss is d_L(w, w′) of a candidate and an output, for L_M; nil leaves it
	// missing. Product Reviews: 1 when the sentiment flips, else 0.
	Loss func(candidate, output int) float64
}

// InferenceError is E_M and L_M of one mechanism. 0/1 errors are shares, 0
// (the adversary always knows) to 1; Euclidean ones are in units of the space.
type InferenceError struct {
	Candidates int // m
	// Posterior is E_M with ŵ drawn from the posterior, 0/1 loss: the
	// definition as printed in [X21].
	Posterior          float64
	PosteriorEuclidean float64
	// MAP is E_M with ŵ the most probable candidate (the first on ties), the
	// strongest adversary under 0/1 loss: MAP <= Posterior.
	MAP          float64
	MAPEuclidean float64
	// LM is the expected utility loss Σ π(w) f(w′|w) d_L(w,w′).
	LM float64
	// StandardError is the standard error of MAP; 0 when exact.
	StandardError float64
	// MAPLower is a lower bound in expectation on MAP: equal to it when exact,
	// the resubstitution error for Monte Carlo (see EstimateInference).
	MAPLower float64
	// Runs per candidate, 0 when exact.
	Runs int
	// PerRun holds the errors of each single run, nil when exact. Their means
	// are Posterior, MAP and LM; error bars show their spread.
	PerRun []RunError
}

// RunError is the adversary's error, and the loss, when every candidate is sent
// once.
type RunError struct{ Posterior, MAP, LM float64 }

// UniformPrior gives each of m candidates 1/m.
func UniformPrior(m int) []float64 { return slices.Repeat([]float64{1 / float64(m)}, m) }

// EmpiricalPrior returns a prior proportional to the counts of the candidates in
// a corpus, with a number added to each: with 1 none is ruled out (Laplace's rule).
func EmpiricalPrior(counts []int, added int) ([]float64, error) {
	total := added * len(counts)
	for i, n := range counts {
		if n < 0 {
			return nil, fmt.Errorf("prior: count %d = %d: must be >= 0", i, n)
		}
		total += n
	}
	if total == 0 {
		return nil, fmt.Errorf("prior: no candidate occurs")
	}
	return list.Map(counts, func(n int) float64 { return float64(n+added) / float64(total) }), nil
}

func (a Adversary) validate() error {
	if err := check.AtLeast("candidates", len(a.Prior), 1); err != nil {
		return err
	}
	sum := 0.0
	for i, p := range a.Prior {
		if err := check.Within(fmt.Sprintf("prior[%d]", i), p, 0, 1); err != nil {
			return err
		}
		sum += p
	}
	return check.Within("sum of prior", sum, 1-1e-9, 1+1e-9)
}

// ExactInference computes E_M and L_M from the exact output distributions of
// the candidates. row returns f(·|candidate) over all outputs; it may reuse
// one buffer and is called once per candidate, in order.
//
// Time O(m·n) plus, with Distance, O(m²·n); memory O(n), with Distance O(m·n)
// float64 for the posterior's Euclidean loss.
func (a Adversary) ExactInference(row func(candidate int) ([]float64, error)) (InferenceError, error) {
	m := len(a.Prior)
	e := InferenceError{
		Candidates: m, PosteriorEuclidean: math.NaN(), MAPEuclidean: math.NaN(), LM: math.NaN(),
	}
	if err := a.validate(); err != nil {
		return e, fmt.Errorf("inference: %w", err)
	}
	if a.Loss != nil {
		e.LM = 0
	}
	// With J(w,y) = π(w)·f(y|w): the posterior adversary is right with
	// probability Σ_y Σ_w J(w,y)² / Σ_w J(w,y), the MAP one with Σ_y max_w J(w,y).
	var total, squares, largest []float64
	var guess []int
	var joint []float64 // m × n, for the Euclidean losses only
	for w := range m {
		f, err := row(w)
		if err != nil {
			return e, fmt.Errorf("inference: candidate %d: %w", w, err)
		}
		if total == nil {
			total, squares = make([]float64, len(f)), make([]float64, len(f))
			largest, guess = make([]float64, len(f)), make([]int, len(f))
			if a.Distance != nil {
				joint = make([]float64, m*len(f))
			}
		}
		if len(f) != len(total) {
			return e, fmt.Errorf("inference: candidate %d: %d outputs, not %d", w, len(f), len(total))
		}
		for y, p := range f {
			j := a.Prior[w] * p
			total[y] += j
			squares[y] += j * j
			if j > largest[y] {
				largest[y], guess[y] = j, w
			}
			if joint != nil {
				joint[w*len(f)+y] = j
			}
			if a.Loss != nil && p > 0 {
				e.LM += j * a.Loss(w, y)
			}
		}
	}
	var right, rightMAP float64
	for y, t := range total {
		if t > 0 {
			right += squares[y] / t
			rightMAP += largest[y]
		}
	}
	e.Posterior, e.MAP = max(0, 1-right), max(0, 1-rightMAP)
	e.MAPLower = e.MAP
	if joint != nil {
		e.MAPEuclidean = mapEuclidean(joint, m, guess, a.Distance)
		e.PosteriorEuclidean = posteriorEuclidean(joint, m, total, a.Distance)
	}
	return e, nil
}

func mapEuclidean(joint []float64, m int, guess []int, distance func(a, b int) float64) float64 {
	n := len(guess)
	sum := 0.0
	for w := range m {
		fromGuess := make([]float64, m) // mass of w by the word guessed instead
		for y, j := range joint[w*n : (w+1)*n] {
			fromGuess[guess[y]] += j
		}
		for g, mass := range fromGuess {
			if g != w && mass > 0 {
				sum += mass * distance(w, g)
			}
		}
	}
	return sum
}

// posteriorEuclidean is Σ_y Σ_{w,ŵ} J(w,y)·J(ŵ,y)/J(y)·d(ŵ,w): with A the
// joint scaled by 1/√J(y), the sum of d over A·Aᵀ. It overwrites joint by A.
func posteriorEuclidean(joint []float64, m int, total []float64, distance func(a, b int) float64) float64 {
	n := len(total)
	for w := range m {
		for y, t := range total {
			if t > 0 {
				joint[w*n+y] /= math.Sqrt(t)
			}
		}
	}
	gram := blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: make([]float64, m*m)}
	blas64.Syrk(blas.NoTrans, 1, blas64.General{Rows: m, Cols: n, Stride: n, Data: joint}, 0, gram)
	sum := 0.0
	for w := range m {
		for o := w + 1; o < m; o++ {
			sum += 2 * gram.Data[w*m+o] * distance(w, o)
		}
	}
	return sum
}

// Outputs are what a mechanism returned for one candidate, one entry per run,
// in the order of the runs. Equal outputs are equal numbers; a candidate's own
// number need not be among them.
type Outputs []int

// EstimateInference estimates E_M and L_M by Monte Carlo, for mechanisms
// without a computable distribution. outputs has one list per candidate, all
// of one even length.
//
// Judging an adversary on the runs it learned from is biased towards zero
// error: most outputs of a strong mechanism occur once. Runs are therefore
// split by parity; the adversary learns f from one half and is judged on the
// other, and the two directions are averaged. Such an adversary is a real
// one, so the estimate is an upper bound in expectation on the error of the
// ideal adversary. MAPLower is the resubstitution error on all runs, which by
// convexity is a lower bound in expectation: together they bracket the truth.
//
// fallback names the candidate guessed for an output never seen in learning,
// e.g. the candidate nearest to it; nil means the candidate of highest prior.
// Ties go to the first candidate. StandardError treats runs as independent.
func (a Adversary) EstimateInference(outputs []Outputs, fallback func(output int) int) (InferenceError, error) {
	m := len(a.Prior)
	e := InferenceError{
		Candidates: m, PosteriorEuclidean: math.NaN(), MAPEuclidean: math.NaN(), LM: math.NaN(),
	}
	if err := a.validateOutputs(outputs); err != nil {
		return e, fmt.Errorf("inference: %w", err)
	}
	runs := len(outputs[0])
	e.Runs = runs
	e.PerRun = make([]RunError, runs)
	if fallback == nil {
		best := slices.Index(a.Prior, slices.Max(a.Prior))
		fallback = func(int) int { return best }
	}

	var posteriorEuclid, mapEuclid, loss, variance float64
	for half := range 2 {
		learned := a.learn(outputs, func(run int) bool { return run%2 == half })
		for w, o := range outputs {
			wrong := 0
			weight := a.Prior[w] / float64(runs) // both halves together: one per run
			for run, y := range o {
				if run%2 == half {
					continue
				}
				posterior, seen := learned[y]
				if !seen {
					guess := fallback(y)
					posterior = outputPosterior{mass: []candidateMass{{guess, 1}}, total: 1, best: guess}
				}
				guess := posterior.best
				if guess != w {
					wrong++
					e.PerRun[run].MAP += a.Prior[w]
				}
				for _, c := range posterior.mass {
					share := c.mass / posterior.total
					if c.candidate != w {
						e.Posterior += weight * share
						e.PerRun[run].Posterior += a.Prior[w] * share
						if a.Distance != nil {
							posteriorEuclid += weight * share * a.Distance(w, c.candidate)
						}
					}
				}
				if a.Distance != nil && guess != w {
					mapEuclid += weight * a.Distance(w, guess)
				}
				if a.Loss != nil {
					l := a.Loss(w, y)
					loss += weight * l
					e.PerRun[run].LM += a.Prior[w] * l
				}
			}
			share := float64(wrong) / float64(runs/2)
			e.MAP += a.Prior[w] * share / 2
			variance += a.Prior[w] * a.Prior[w] * share * (1 - share) / float64(runs/2) / 4
		}
	}
	if a.Distance != nil {
		e.PosteriorEuclidean, e.MAPEuclidean = posteriorEuclid, mapEuclid
	}
	if a.Loss != nil {
		e.LM = loss
	}
	e.StandardError = math.Sqrt(variance)
	right := 0.0
	all := a.learn(outputs, func(int) bool { return true })
	for w, o := range outputs {
		for _, y := range o {
			if all[y].best == w {
				right += a.Prior[w] / float64(runs)
			}
		}
	}
	e.MAPLower = max(0, 1-right)
	return e, nil
}

func (a Adversary) validateOutputs(outputs []Outputs) error {
	if err := a.validate(); err != nil {
		return err
	}
	if len(outputs) != len(a.Prior) {
		return fmt.Errorf("outputs of %d candidates for a prior of %d", len(outputs), len(a.Prior))
	}
	runs := len(outputs[0])
	if runs < 2 || runs%2 != 0 {
		return fmt.Errorf("runs = %d: must be even and >= 2", runs)
	}
	for w, o := range outputs {
		if len(o) != runs {
			return fmt.Errorf("candidate %d has %d runs, not %d", w, len(o), runs)
		}
	}
	return nil
}

type candidateMass struct {
	candidate int
	mass      float64
}

// outputPosterior is the unnormalised posterior given one output, candidates
// ascending.
type outputPosterior struct {
	mass  []candidateMass
	total float64
	best  int
}

// learn counts the runs for which use is true, in candidate order. Candidates
// of zero prior have no posterior.
func (a Adversary) learn(outputs []Outputs, use func(run int) bool) map[int]outputPosterior {
	posteriors := map[int]outputPosterior{}
	for w, o := range outputs {
		if a.Prior[w] == 0 {
			continue
		}
		for run, y := range o {
			if !use(run) {
				continue
			}
			p := posteriors[y]
			if k := len(p.mass) - 1; k >= 0 && p.mass[k].candidate == w {
				p.mass[k].mass += a.Prior[w]
			} else {
				p.mass = append(p.mass, candidateMass{w, a.Prior[w]})
			}
			p.total += a.Prior[w]
			posteriors[y] = p
		}
	}
	for y, p := range posteriors { // entries are independent, so map order does not matter
		best := p.mass[0]
		for _, c := range p.mass[1:] {
			if c.mass > best.mass {
				best = c
			}
		}
		p.best = best.candidate
		posteriors[y] = p
	}
	return posteriors
}

// SampleOutputs runs a mechanism `runs` times on each of the candidates
// (words, as numbers of the mechanism's vocabulary) for EstimateInference.
// privatize is that of MeasureDeniability.
func SampleOutputs[W ~int32](candidates []W, runs int, privatize func(dst, src []W) error) ([]Outputs, error) {
	var result []Outputs
	err := eachOutputs(candidates, runs, privatize, func(_ W, outputs []W) {
		result = append(result, list.Map(outputs, func(y W) int { return int(y) }))
	})
	return result, err
}
