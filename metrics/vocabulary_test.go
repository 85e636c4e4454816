package metrics

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// randomChannel has rows of random probabilities, some of them zero.
func randomChannel(rng *rand.Rand, inputs, outputs int) (Channel, [][]float64) {
	rows := make([][]float64, inputs)
	for x := range rows {
		rows[x] = make([]float64, outputs)
		sum := 0.0
		for y := range rows[x] {
			if rng.IntN(3) > 0 {
				rows[x][y] = rng.ExpFloat64()
			}
			sum += rows[x][y]
		}
		if sum == 0 {
			rows[x][0], sum = 1, 1
		}
		for y := range rows[x] {
			rows[x][y] /= sum
		}
	}
	return matrixChannel(rows), rows
}

func matrixChannel(rows [][]float64) Channel {
	return Channel{Inputs: len(rows), Outputs: len(rows[0]), Row: func(_ []float64, x int) ([]float64,
		error) {
		return rows[x], nil
	}}
}

// responseChannel is k-ary randomised response.
func responseChannel(k int, epsilon float64) Channel {
	other := 1 / (math.Exp(epsilon) + float64(k-1))
	return Channel{Inputs: k, Outputs: k, Row: func(row []float64, x int) ([]float64, error) {
		for y := range row {
			row[y] = other
		}
		row[x] = math.Exp(epsilon) * other
		return row, nil
	}}
}

func randomPrior(rng *rand.Rand, n int) []float64 {
	counts := make([]int, n)
	for i := range counts {
		counts[i] = rng.IntN(9)
	}
	prior, err := EmpiricalPrior(counts, 1)
	if err != nil {
		panic(err)
	}
	return prior
}

// Rows made together are those made one by one, in the same order.
func TestRowsTogether(t *testing.T) {
	t.Parallel()
	channel, rows := randomChannel(testRand("rows together"), 39, 41)
	together := Channel{Inputs: channel.Inputs, Outputs: channel.Outputs, Rows: func(x, n int) ([][]float64, error) {
		if n < 1 || n > rowsTogether {
			t.Errorf("%d rows", n)
		}
		return rows[x : x+n], nil
	}}
	priors := [][]float64{UniformPrior(39)}
	want, err := FullVocabulary(t.Context(), channel, priors, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := FullVocabulary(t.Context(), together, priors, 3); err != nil || got.Capacity != want.Capacity ||
		!reflect.DeepEqual(got.Decoders, want.Decoders) {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
	broken := errors.New("broken")
	together.Rows = func(int, int) ([][]float64, error) { return nil, broken }
	if _, err := FullVocabulary(t.Context(), together, priors, 2); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
}

// The one-pass computation against the definition, and against
// ExactInference, which stores less and does the same for few candidates.
func TestFullVocabularyAgainstBruteForce(t *testing.T) {
	rng := testRand("full vocabulary")
	for range 30 {
		inputs := 1 + rng.IntN(40)
		channel, rows := randomChannel(rng, inputs, inputs+rng.IntN(5))
		priors := [][]float64{UniformPrior(inputs), randomPrior(rng, inputs)}
		got, err := FullVocabulary(t.Context(), channel, priors, 3)
		if err != nil {
			t.Fatal(err)
		}
		capacity := 0.0
		for y := range channel.Outputs {
			top := 0.0
			for x := range rows {
				top = max(top, rows[x][y])
			}
			capacity += top
		}
		near(t, "capacity", got.Capacity, math.Log2(capacity), 1e-12)
		near(t, "uniform MAP", got.MAP[0], 1-capacity/float64(inputs), 1e-12)
		for i, prior := range priors {
			want, err := Adversary{Prior: prior}.ExactInference(func(x int) ([]float64, error) {
				return rows[x],
					nil
			})
			if err != nil {
				t.Fatal(err)
			}
			near(t, "MAP", got.MAP[i], want.MAP, 1e-12)
			for y, guess := range got.Decoders[i].Guess {
				best, at := 0.0, -1
				for x := range rows {
					if j := prior[x] * rows[x][y]; j > best {
						best, at = j, x
					}
				}
				if int(guess) != at {
					t.Errorf("output %d: guess %d, want %d", y, guess, at)
				}
			}
		}
	}
}

func TestFullVocabularyOfAnyNumberOfWorkers(t *testing.T) {
	rng := testRand("workers")
	channel, _ := randomChannel(rng, 203, 207)
	priors := [][]float64{randomPrior(rng, 203)}
	one, err := FullVocabulary(t.Context(), channel, priors, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{2, 5, 40} {
		other, err := FullVocabulary(t.Context(), channel, priors, workers)
		if err != nil {
			t.Fatal(err)
		}
		if one.MAP[0] != other.MAP[0] || one.Capacity != other.Capacity {
			t.Errorf("%d workers: %v, not %v", workers, other.MAP, one.MAP)
		}
	}
}

func TestCapacityOfRandomisedResponse(t *testing.T) {
	for _, k := range []int{2, 3, 100} {
		for _, epsilon := range []float64{0, 0.1, 1, 5, 30} {
			got, err := FullVocabulary(t.Context(), responseChannel(k, epsilon), [][]float64{UniformPrior(k)}, 2)
			if err != nil {
				t.Fatal(err)
			}
			// It keeps the input with probability e^ε/(e^ε + k − 1), so Σ_y max_x is k times that.
			near(t, "capacity", got.Capacity, math.Log2(float64(k)/(1+float64(k-1)*math.Exp(-epsilon))), 1e-12)
		}
	}
}

// A mechanism that reveals a group of 20 words and nothing else, as CusText
// does when ε goes to 0: with 200 random candidates of 4,000 words most are
// alone in their group, and the secret looks lost; over all words an attacker
// is right once in 20 times.
func TestFewCandidatesMisjudgeGroups(t *testing.T) {
	const words, group = 4000, 20
	rows := func(buffer []float64, x int) ([]float64, error) {
		if buffer == nil {
			buffer = make([]float64, words)
		}
		clear(buffer)
		for i := range group {
			buffer[x/group*group+i] = 1.0 / group
		}
		return buffer, nil
	}
	full, err := FullVocabulary(t.Context(), Channel{Inputs: words, Outputs: words, Row: rows},
		[][]float64{UniformPrior(words)}, 2)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "E_M over all words", full.MAP[0], 0.95, 1e-9)
	candidates := testRand("groups").Perm(words)[:200]
	few, err := Adversary{Prior: UniformPrior(200)}.ExactInference(func(i int) ([]float64, error) {
		return rows(nil,
			candidates[i])
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("200 candidates: %.3f; all words: %.3f", few.MAP, full.MAP[0])
	// 200 draws from 200 groups of 20 hit about 200·(1 − (1 − 1/200)^200) = 127 groups: E_M about .36.
	if few.MAP > 0.5 {
		t.Errorf("E_M of 200 candidates is %.3f: the example shows nothing", few.MAP)
	}
}

// sampleChannel draws from a channel's rows.
func sampleChannel(t *testing.T, rng *rand.Rand, c Channel, perInput int) Draws {
	t.Helper()
	d := Draws{PerInput: perInput}
	buffer := make([]float64, c.Outputs)
	for x := range c.Inputs {
		row, err := c.Row(buffer, x)
		if err != nil {
			t.Fatal(err)
		}
		for range perInput {
			u, y := rng.Float64(), 0
			for ; y < len(row)-1 && u >= row[y]; y++ {
				u -= row[y]
			}
			d.Outputs = append(d.Outputs, int32(y))
		}
	}
	return d
}

// With level 1 − 10⁻⁶ the truth must lie where the bounds say; each bound
// fails with probability 10⁻⁶ at most, and an attacker who learned from draws
// cannot beat the ideal one.
func TestSampledVocabularyBracketsTheTruth(t *testing.T) {
	rng := testRand("sampled")
	for _, epsilon := range []float64{0, 1, 3, 20} {
		const k = 60
		channel := responseChannel(k, epsilon)
		priors := [][]float64{UniformPrior(k), randomPrior(rng, k)}
		exact, err := FullVocabulary(t.Context(), channel, priors, 1)
		if err != nil {
			t.Fatal(err)
		}
		learn, fresh := sampleChannel(t, rng, channel, 400), sampleChannel(t, rng, channel, 400)
		got, err := SampledVocabulary(t.Context(), learn, fresh, k, priors, 1-1e-6, 2)
		if err != nil {
			t.Fatal(err)
		}
		sampled, decoders, capacity := got.Inference, got.Decoders, got.Capacity
		t.Logf("ε = %v: capacity %.3f in [%.3f, %.3f]; E_M %.3f in [%.3f, %.3f]", epsilon, exact.Capacity,
			capacity.Low, capacity.High,
			exact.MAP[0], sampled[0].Lower, sampled[0].MAP.High)
		if !(capacity.Low <= exact.Capacity && exact.Capacity <= capacity.High) {
			t.Errorf("ε = %v: capacity %v is not in %v", epsilon, exact.Capacity, capacity)
		}
		for i := range priors {
			ideal := exact.MAP[i]
			if ideal > sampled[i].MAP.High {
				t.Errorf("ε = %v, prior %d: the ideal error %v is above that of a real attacker, %v", epsilon, i,
					ideal, sampled[i].MAP)
			}
			if epsilon > 0 && sampled[i].MAP.Low > ideal+0.1 {
				t.Errorf("ε = %v, prior %d: an attacker with 400 draws has error %v, the ideal one %v", epsilon, i,
					sampled[i].MAP, ideal)
			}
			if len(decoders[i].Guess) != k {
				t.Errorf("%d guesses", len(decoders[i].Guess))
			}
		}
	}
}

func TestChannelErrors(t *testing.T) {
	c := responseChannel(3, 1)
	if _, err := FullVocabulary(t.Context(), c, [][]float64{{1}}, 1); err == nil {
		t.Error("a prior of another length must be an error")
	}
	if _, err := FullVocabulary(t.Context(), c, [][]float64{{1, 1, 1}}, 1); err == nil {
		t.Error("a prior that does not sum to one must be an error")
	}
	if _, err := FullVocabulary(t.Context(), c, nil, 0); err == nil {
		t.Error("no workers must be an error")
	}
	if _, err := LearnChannel(Draws{PerInput: 2, Outputs: []int32{0, 1, 2}}, 2, 3); err == nil {
		t.Error("missing draws must be an error")
	}
	if _, err := LearnChannel(Draws{PerInput: 1, Outputs: []int32{0, 3}}, 2, 3); err == nil {
		t.Error("an output outside the channel must be an error")
	}
	if _, err := EmpiricalPrior([]int{1, -1}, 1); err == nil {
		t.Error("a negative count must be an error")
	}
}
