package channel

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"mldpbench/stream"
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
	return Channel{Inputs: inputs, Outputs: outputs, Row: func(_ []float64, x int) ([]float64, error) {
		return rows[x], nil
	}}, rows
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
	return Empirical(counts)
}

func infer(t *testing.T, c Channel, priors [][]float64, workers int) Inference {
	t.Helper()
	got, err := exactly(t.Context(), c, priors, workers)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The one-pass computation is the definition of [X21] term by term, also of a few
// candidates, which are a prior with zeros; with rows made one by one or together,
// and for any number of workers.
func TestInferIsTheDefinition(t *testing.T) {
	rng := testRand("full vocabulary")
	for range 30 {
		inputs := 1 + rng.IntN(40)
		channel, rows := randomChannel(rng, inputs, inputs+rng.IntN(5))
		few := make([]float64, inputs)
		few[rng.IntN(inputs)] = 0.25
		few[rng.IntN(inputs)] += 0.75
		priors := [][]float64{randomPrior(rng, inputs), few}
		got := infer(t, channel, priors, 3)
		capacity := 0.0
		for y := range channel.Outputs {
			top := 0.0
			for x := range rows {
				top = max(top, rows[x][y])
			}
			capacity += top
		}
		near(t, "capacity", got.Capacity.Estimate, math.Log2(capacity), 1e-12)
		for i, e := range got.Errors {
			prior, right := append([][]float64{Uniform(inputs)}, priors...)[i], 0.0
			for y, guess := range e.Decoder.Guess {
				best, at := 0.0, -1
				for x := range rows {
					if j := prior[x] * rows[x][y]; j > best {
						best, at = j, x
					}
				}
				right += best
				if int(guess) != at {
					t.Errorf("output %d: guess %d, want %d", y, guess, at)
				}
			}
			near(t, "MAP", e.MAP.Estimate, 1-right, 1e-12)
		}
		together := Channel{Inputs: channel.Inputs, Outputs: channel.Outputs, Rows: func(x, n int) ([][]float64, error) {
			if n < 1 || n > rowsTogether {
				t.Errorf("%d rows", n)
			}
			return rows[x : x+n], nil
		}}
		for _, workers := range []int{1, 5, 40} {
			if other := infer(t, together, priors, workers); !reflect.DeepEqual(got, other) {
				t.Errorf("%d workers: %+v, not %+v", workers, other, got)
			}
		}
	}
}

func TestCapacityOfRandomisedResponse(t *testing.T) {
	for _, k := range []int{2, 3, 100} {
		for _, epsilon := range []float64{0, 0.1, 1, 5, 30} {
			got := infer(t, responseChannel(k, epsilon), nil, 2)
			// It keeps the input with probability e^ε/(e^ε + k − 1), so Σ_y max_x is k times that.
			near(t, "capacity", got.Capacity.Estimate, math.Log2(float64(k)/(1+float64(k-1)*math.Exp(-epsilon))), 1e-12)
		}
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
func TestSampledInferenceBracketsTheTruth(t *testing.T) {
	rng := testRand("sampled")
	for _, epsilon := range []float64{0, 1, 3, 20} {
		const k = 60
		channel := responseChannel(k, epsilon)
		priors := [][]float64{randomPrior(rng, k)}
		exact := infer(t, channel, priors, 1)
		got, err := Sampled(Sample{
			Learn:   func(n, _ int) (Draws, error) { return sampleChannel(t, rng, channel, n), nil },
			Fresh:   sampleChannel(t, rng, channel, 400),
			Outputs: k,
		}, priors, Growth{400, 400, 1, 1 - 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		const rounding = 1e-12
		if c := got.Capacity; !(c.Low <= exact.Capacity.Estimate+rounding && exact.Capacity.Estimate <= c.High) {
			t.Errorf("ε = %v: capacity %v is not in %v", epsilon, exact.Capacity, c)
		}
		for i, e := range got.Errors {
			ideal := exact.Errors[i].MAP.Estimate
			if ideal > e.MAP.High+rounding || epsilon > 0 && e.MAP.Low > ideal+0.1 || len(e.Decoder.Guess) != k ||
				e.Lower > e.MAP.High {
				t.Errorf("ε = %v, prior %d: an attacker with 400 draws has error %v, the ideal one %v", epsilon, i,
					e.MAP, ideal)
			}
		}
	}
}

// shares is the channel that Learn estimates, row by row.
func shares(d Draws, n int) Channel {
	unseen := 1 / float64(d.PerInput+1)
	return Channel{Inputs: n, Outputs: n, Row: func(_ []float64, x int) ([]float64, error) {
		row := slices.Repeat([]float64{unseen / 2 / float64(n)}, n)
		row[x] += unseen / 2
		d.of(x, func(y int32, p float64) { row[y] += float64((1 - unseen) / float64(d.PerInput) * p) })
		return row, nil
	}}
}

// What is learned from few outputs is what all rows of the estimated channel tell, with the
// same guess where several words are as probable.
func TestLearnIsMAPOfTheEstimate(t *testing.T) {
	rng := testRand("learn")
	for range 30 {
		n := 2 + rng.IntN(40)
		channel, _ := randomChannel(rng, n, n)
		d := sampleChannel(t, rng, channel, 1+rng.IntN(4))
		priors := [][]float64{Uniform(n), randomPrior(rng, n)}
		want := infer(t, shares(d, n), priors[1:], 2)
		got, _ := learn(d, priors, n)
		for i, e := range want.Errors {
			if !slices.Equal(got[i].Guess, e.Decoder.Guess) {
				t.Fatalf("prior %d: guesses %v, not %v", i, got[i].Guess, e.Decoder.Guess)
			}
		}
	}
}

// stays keeps the input with a probability and else returns one of all outputs; shifted, it
// keeps the input after it.
func stays(inputs, outputs, shift int, keep float64) Channel {
	return Channel{Inputs: inputs, Outputs: outputs, Row: func(row []float64, x int) ([]float64, error) {
		for y := range row {
			row[y] = (1 - keep) / float64(outputs)
		}
		row[(x+shift)%outputs] += keep
		return row, nil
	}}
}

// Who learned from few draws is no better than his draws: the estimate is never above the
// error of guessing the output itself, nor of guessing the most probable input, both
// known exactly here, and is that of who learned where he is better. With level 1 − 10⁻⁶
// the interval has the smallest of the errors.
func TestEstimateIsNeverAboveASimpleGuess(t *testing.T) {
	const n, level = 300, 1 - 1e-6
	skewed := slices.Repeat([]float64{0.4 / (n - 1)}, n)
	skewed[7] = 0.6
	for _, c := range []struct {
		name    string
		channel Channel
		prior   []float64
		growth  Growth
		by      Guesser
	}{
		{"most is noise", stays(n, n, 0, 0.15), nil, Growth{2, 2, 1, level}, byOutput},
		{"most is noise, grown", stays(n, n, 0, 0.05), nil, Growth{2, 8, 1e-9, level}, byOutput},
		{"more outputs than inputs", stays(n, n+50, 0, 0.15), nil, Growth{2, 2, 1, level}, byOutput},
		{"no information", stays(n, n, 0, 0), skewed, Growth{2, 2, 1, level}, byPrior},
		{"no information, grown", stays(n, n, 0, 0), skewed, Growth{2, 8, 1e-9, level}, byPrior},
		{"another output says more", stays(n, n, 1, 0.6), nil, Growth{20, 20, 1, level}, ByChannel},
	} {
		rng := testRand(c.name)
		var learned Draws
		fresh := sampleChannel(t, rng, c.channel, 20)
		got, err := Sampled(Sample{
			Learn: func(each, _ int) (Draws, error) {
				learned = sampleChannel(t, rng, c.channel, each)
				return learned, nil
			},
			Fresh:   fresh,
			Outputs: c.channel.Outputs,
		}, [][]float64{c.prior}[:len(c.prior)/n], c.growth)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		prior, e := Uniform(n), got.Errors[len(got.Errors)-1]
		if c.prior != nil {
			prior = c.prior
		}
		reads := outputDecoder(prior, c.channel.Outputs).measured(prior, fresh, level).Estimate
		decoders, _ := learn(learned, [][]float64{prior}, c.channel.Outputs)
		learns := decoders[0].measured(prior, fresh, level).Estimate
		want := min(reads, learns, 1-slices.Max(prior))
		near(t, c.name+": E_M", e.MAP.Estimate, want, 1e-12)
		if e.By != c.by || e.MAP.Low > want || e.MAP.High < want {
			t.Errorf("%s: by %v within %v, want by %v with %v", c.name, e.By, e.MAP, c.by, want)
		}
		if c.by != ByChannel && learns < want+0.02 {
			t.Errorf("%s: who learned errs in %.3f, the simple guess in %.3f: the test shows nothing", c.name, learns, want)
		}
		near(t, c.name+": error of the decoder", 1-want, 1-e.Decoder.measured(prior, fresh, level).Estimate, 0.05)
		ideal := infer(t, c.channel, [][]float64{prior}, 1).Errors[1].MAP.Estimate
		if e.MAP.High < ideal-1e-12 || c.growth.Most > c.growth.First && e.MAP.Low > ideal+1e-12 {
			t.Errorf("%s: the ideal attacker errs in %.3f, the interval is %v", c.name, ideal, e.MAP)
		}
	}
}

func TestInferenceErrors(t *testing.T) {
	c := responseChannel(3, 1)
	broken := errors.New("broken")
	if _, err := exactly(t.Context(), c, nil, 0); err == nil {
		t.Error("no workers must be an error")
	}
	c.Rows = func(int, int) ([][]float64, error) { return nil, broken }
	if _, err := exactly(t.Context(), c, nil, 2); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
	for _, d := range []Draws{{PerInput: 2, Outputs: []int32{0, 1, 2}}, {PerInput: 1, Outputs: []int32{0, 3}}} {
		same := Sample{Learn: func(int, int) (Draws, error) { return d, nil }, Fresh: d, Outputs: 3}
		if _, err := Sampled(same, nil, Growth{1, 1, 1, 0.95}); err == nil {
			t.Errorf("%v must be an error", d)
		}
	}
}

// A mechanism of noise whose E_M is known: the input is a place on a circle of
// 600, the output lies around the place opposite with exponentially falling probability. An
// attacker who learned from ten draws errs more than the ideal one by more than
// his interval; with more draws the interval has the truth.
func TestGrownInferenceHasTheTruth(t *testing.T) {
	const n, scale = 600, 4.0
	row := make([]float64, n)
	total := 0.0
	for d := range row {
		row[d] = math.Exp(-float64(min(d, n-d)) / scale)
		total += row[d]
	}
	truth := 1 - 1/total // uniform prior: the ideal attacker guesses the place opposite
	seed := stream.FromUint64(5)
	draw := func(each int, seed stream.Seed) Draws {
		rng := seed.Rand()
		d := Draws{PerInput: each}
		for x := range n {
			for range each {
				u := rng.Float64() * total
				k := 0
				for ; k < n-1 && u >= row[k]; k++ {
					u -= row[k]
				}
				d.Outputs = append(d.Outputs, int32((x+n/2+k)%n))
			}
		}
		return d
	}
	sample := func(fresh int) Sample {
		return Sample{
			Learn: func(each, step int) (Draws, error) {
				return draw(each, seed.Derive("learn").At(uint64(step))), nil
			},
			Fresh:   draw(fresh, seed.Derive("measure")),
			Outputs: n,
		}
	}
	grow := func(first, most int, tolerance float64) (Error, int) {
		got, err := Sampled(sample(20), nil, Growth{first, most, tolerance, 0.95})
		if err != nil {
			t.Fatal(err)
		}
		return got.Errors[0], got.Learned
	}
	if few, _ := grow(10, 10, 1); few.MAP.Low <= truth {
		t.Errorf("ten draws: %+v has the truth %.4f: the test shows nothing", few.MAP, truth)
	}
	g, learned := grow(10, 10_000, 0.004)
	if !g.Settled || learned < 40 || g.MAP.Low > truth || g.MAP.High < truth || g.MAP.Estimate-truth > 0.02 {
		t.Errorf("truth %.4f, grown %+v", truth, g.MAP)
	}
	// With little room to grow, the interval says how little is known.
	if s, learned := grow(10, 20, 0.002); s.Settled || s.MAP.Low > truth || learned != 20 {
		t.Errorf("twenty draws: %+v", s.MAP)
	}
	for _, bad := range []Growth{{0, 10, 0.1, 0.95}, {10, 5, 0.1, 0.95}, {10, 20, 0, 0.95}, {10, 20, 1, 1}} {
		if _, err := Sampled(sample(1), nil, bad); err == nil {
			t.Errorf("%v must be an error", bad)
		}
	}
}

// Guesses at a known distance: on a circle of 120 with the output one to three
// places further, the best guess is two off at most.
func TestGuessDistance(t *testing.T) {
	const n = 120
	distance := func(a, b int) float64 { d := (a - b + n) % n; return float64(min(d, n-d)) }
	near(t, "mean distance", meanDistance(n, distance), 30.25, 0.5) // n²/4/(n−1) = 30.25
	channel := Channel{Inputs: n, Outputs: n, Row: func(row []float64, x int) ([]float64, error) {
		clear(row)
		row[(x+1)%n], row[(x+2)%n], row[(x+3)%n] = 0.5, 0.3, 0.2
		return row, nil
	}}
	exact := infer(t, channel, nil, 2)
	got, err := exact.Distance(t.Context(), &channel, distance, 2)
	want := (0.3*1 + 0.2*2) / meanDistance(n, distance) // the best guess is one before the output
	if err != nil || math.Abs(got.Estimate-want) > 1e-12 || got.Low != got.High {
		t.Errorf("%+v, want %v, %v", got, want, err)
	}
	exact.Fresh = sampleChannel(t, testRand("distance"), channel, 50)
	sampled, err := exact.Distance(t.Context(), nil, distance, 2)
	if err != nil {
		t.Fatal(err)
	}
	// Five standard errors: 2.6 half-widths, a false alarm of less than 1e-6.
	half := (sampled.High - sampled.Low) / 2
	if !(math.Abs(sampled.Estimate-want) <= 2.6*half && half <= want/10) {
		t.Errorf("%+v, want %v", sampled, want)
	}
	// The output itself is nearer than the guess of who learned little.
	little := Inference{Errors: []Error{{Decoder: priorDecoder(Uniform(n), n)}}, Fresh: exact.Fresh}
	reads, err := little.Distance(t.Context(), nil, distance, 2)
	near(t, "distance of the output itself", reads.Estimate, (0.5*1+0.3*2+0.2*3)/meanDistance(n, distance), 1e-2)
	if err != nil || reads.Estimate >= 0.9 {
		t.Errorf("distance %v, want that of the output itself: %v", reads, err)
	}
}
