package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sigmoid is a share that falls from 1 to 0 around an ε, within so many e-folds.
func sigmoid(middle, width float64) func(float64) float64 {
	return func(epsilon float64) float64 { return 1 / (1 + math.Exp(math.Log(epsilon/middle)/width)) }
}

// cliff falls from one value to another at an ε.
func cliff(at, before, after float64) func(float64) float64 {
	return func(epsilon float64) float64 {
		if epsilon < at {
			return before
		}
		return after
	}
}

// budgeted is the share of words that change where documents of these lengths share an ε evenly, and all words of one
// change below ε = 1 for each: a step for each length.
func budgeted(lengths ...float64) func(float64) float64 {
	return func(epsilon float64) float64 {
		changed, words := 0.0, 0.0
		for _, n := range lengths {
			words += n
			if epsilon/n < 1 {
				changed += n
			}
		}
		return changed / words
	}
}

func flat(value float64) func(float64) float64 { return func(float64) float64 { return value } }

// share is a question of a falling share, over the whole range.
func share(level float64) Question {
	return Question{Level: level, Falls: true, Low: LeastEpsilon, High: MostEpsilon, Step: Squared}
}

func byAbove(level, above float64) Question {
	q := share(level)
	q.Above = above
	return q
}

func byNear(level, near float64) Question {
	q := share(level)
	q.Near = near
	q.Step = Doubled
	return q
}

// run searches from a first ε, and fails where an ε is asked twice, is out of range, is not of three digits (but the
// ends) or where the search does not end.
func run(t *testing.T, q Question, first float64, curve func(float64) float64) (Answer, []Point) {
	t.Helper()
	points := []Point{{first, curve(first)}}
	for round := range 60 {
		answer := q.Next(points, round)
		if answer.Done != Going {
			if answer.Next != 0 {
				t.Errorf("done (%s), and asks for ε = %g", answer.Done, answer.Next)
			}
			return answer, points
		}
		next := answer.Next
		if isKnown(points, next) || next < q.Low || next > q.High {
			t.Fatalf("asks for ε = %g, want a new one in %g to %g; measured: %v", next, q.Low, q.High, points)
		}
		if next != rounded(next) && next != q.Low && next != q.High {
			t.Errorf("asks for ε = %g, want three digits", next)
		}
		points = append(points, Point{next, curve(next)})
	}
	t.Fatalf("no end after 60 rounds at level %g: %v", q.Level, points)
	return Answer{}, nil
}

// What a search ends with, and after how many points at most.
func TestReasons(t *testing.T) {
	t.Parallel()
	rising := byAbove(0.5, 0.01)
	rising.Falls = false
	spent := byNear(0.5, 1e-4)
	spent.Rounds = 3
	narrow := byAbove(0.9, 0.01)
	narrow.Low = math.Ln2 * (1 + 1e-9)
	atEnd := byAbove(0.5, 0)
	atEnd.Low = math.Ln2 * (1 + 1e-9)
	low := func(e float64) float64 { return 0.9 * sigmoid(3, 0.7)(e) }
	high := func(e float64) float64 { return 0.1 + low(e) }
	slope := func(e float64) float64 { return 0.5 - 0.001*math.Log(e) }
	for _, c := range []struct {
		name     string
		question Question
		first    float64
		curve    func(float64) float64
		want     Reason
		most     int
	}{
		{"gentle, a point", byAbove(0.5, 0.02), 10, sigmoid(3, 0.7), Reached, 7},
		{"gentle, two near", byNear(0.5, 0.05), 10, sigmoid(3, 0.7), Reached, 9},
		{"rises", rising, 10, func(e float64) float64 { return 1 - sigmoid(300, 0.5)(e) }, Reached, 9},
		{"far above the start", byAbove(0.5, 0.02), 0.002, sigmoid(5e4, 0.3), Reached, 12},
		{"far below the start", byAbove(0.5, 0.02), 9e4, sigmoid(2e-3, 0.3), Reached, 12},
		{"first point", byAbove(0.5, 0.02), 3, sigmoid(3, 0.7), Reached, 1},
		{"cliff, a point", byAbove(0.5, 0.02), 10, cliff(3.217, 0.9, 0.1), Cliff, 18},
		{"cliff, two near", byNear(0.5, 0.05), 10, cliff(3.217, 0.9, 0.1), Cliff, 18},
		{"cliff beside an end that is not of three digits", atEnd, 10, cliff(0.6935, 0.9, 0.1), Cliff, 18},
		{"cliff after a plateau", byNear(0.5, 0.05), 0.01, cliff(50, 0.9875, 0), Cliff, 22},
		{"no effect", byNear(0.5, 0.05), 5, flat(0), Plateau, 8},
		{"no effect, a point", byAbove(0.5, 0.02), 10, flat(0.99), Plateau, 5},
		{"little effect", byAbove(0.9, 0.02), 5, slope, End, 12},
		{"above all values", byAbove(0.99, 0.001), 10, low, End, 6},
		{"below all values", byNear(0.01, 0.05), 10, high, End, 9},
		{"below where it is defined", narrow, 10, sigmoid(1, 0.5), End, 6},
		{"rounds", spent, 10, sigmoid(3, 0.7), Rounds, 4},
		{"level of a step of a budget", byNear(0.5, 0.05), 10, budgeted(5, 20, 60, 300), Cliff, 22},
		{"step of a budget at the level", byAbove(0.5, 0.02), 10, budgeted(50, 25, 25), Reached, 9},
	} {
		answer, points := run(t, c.question, c.first, c.curve)
		if answer.Done != c.want || len(points) > c.most {
			t.Errorf("%s: ends with %q after %d points, want %q after %d at most: %v", c.name, answer.Done, len(points),
				c.want, c.most, points)
		}
	}
}

// On any monotone curve a search ends by what it was asked for, and right: the level is between the two points that
// it says, a point that reaches it does, and an end that is said is measured.
func TestMonotoneCurves(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	between := func(low, high float64) float64 { return low * math.Exp(random.Float64()*math.Log(high/low)) }
	for range 3000 {
		falls := random.IntN(2) == 0
		var curve func(float64) float64
		switch random.IntN(3) {
		case 0:
			curve = sigmoid(between(1e-4, 1e6), between(0.01, 3))
		case 1:
			curve = cliff(between(1e-3, 1e5), 0.97, 0.03)
		default:
			curve = budgeted(between(1e-3, 1e5), between(1e-2, 1e3), between(1, 1e4))
		}
		if !falls {
			fall := curve
			curve = func(e float64) float64 { return 1 - fall(e) }
		}
		q := byAbove(0.05+0.9*random.Float64(), 0.02)
		if random.IntN(2) == 0 {
			q = byNear(q.Level, 0.05)
		}
		q.Falls = falls
		answer, points := run(t, q, rounded(between(0.01, 1e4)), curve)
		low := answer.Around[0]
		high := answer.Around[1]
		isBetween := (low.Value-q.Level)*(high.Value-q.Level) <= 0
		switch {
		case answer.Done == Reached && q.Near > 0 || answer.Done == Cliff && q.Above == 0:
			if !isBetween {
				t.Errorf("%s: level %g is not between %v and %v", answer.Done, q.Level, low, high)
			}
		case answer.Done == Reached:
			if answer.Best.Value < q.Level || answer.Best.Value > q.Level+q.Above {
				t.Errorf("says that %v reaches %g within %g", answer.Best, q.Level, q.Above)
			}
		case answer.Done == Cliff:
			gap := high.Epsilon / low.Epsilon
			if gap > 1.011 || answer.Best.Value < q.Level {
				t.Errorf("cliff at level %g between %v and %v, best %v: want neighbours of three digits, and the upper",
					q.Level, low, high, answer.Best)
			}
		case answer.Done == End || answer.Done == Plateau:
			least := curve(LeastEpsilon)
			most := curve(MostEpsilon)
			// The target of a search by Above is the middle of what it accepts.
			if target := q.target(); (least-target)*(most-target) < 0 {
				t.Errorf("%s: %g is between %g and %g at the ends of the range; measured: %v", answer.Done, target,
					least, most, points)
			}
		default:
			t.Errorf("ends with %q after %d points, want any other reason", answer.Done, len(points))
		}
	}
}

// The order of the points says nothing, and they stay as they are.
func TestOrderOfPoints(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var points []Point
		for range 1 + random.IntN(8) {
			points = append(points, Point{rounded(math.Exp(8*random.Float64() - 3)), float64(random.IntN(20)) / 20})
		}
		slices.SortFunc(points, func(a, b Point) int { return int(math.Copysign(1, a.Epsilon-b.Epsilon)) })
		points = slices.CompactFunc(points, func(a, b Point) bool { return a.Epsilon == b.Epsilon })
		for _, q := range []Question{byAbove(0.5, 0.1), byNear(0.5, 0.1)} {
			want := q.Next(points, 1)
			shuffled := slices.Clone(points)
			random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			before := slices.Clone(shuffled)
			got := q.Next(shuffled, 1)
			if got != want {
				t.Errorf("%v in another order gives %+v, want %+v", points, got, want)
			}
			if !slices.Equal(shuffled, before) {
				t.Errorf("points were %v, are %v", before, shuffled)
			}
		}
	}
}

// Noise far larger than what is asked for ends a search as well, within the points that three digits allow.
func TestNoise(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		noisy := func(e float64) float64 {
			random := rand.New(rand.NewPCG(seed, math.Float64bits(e)))
			return sigmoid(3, 0.7)(e) + 0.2*(random.Float64()-0.5)
		}
		for _, q := range []Question{byAbove(0.5, 0.001), byNear(0.5, 0.001)} {
			answer, points := run(t, q, 10, noisy)
			found := (answer.Around[0].Epsilon + answer.Around[1].Epsilon) / 2
			if answer.Done == Reached && q.Near == 0 {
				found = answer.Best.Epsilon
			}
			// Noise of ± 0.1 moves the level by a factor of e^0.3 at most.
			if !(found > 3*math.Exp(-0.31) && found < 3*math.Exp(0.31)) {
				t.Errorf("seed %d: %s at ε = %g, want about 3: %v", seed, answer.Done, found, points)
			}
		}
	}
}

// A quantity that is not defined below an ε is looked for in ever longer steps beyond it, and no ε is asked twice.
func TestNotDefined(t *testing.T) {
	t.Parallel()
	defined := func(e float64) float64 {
		if e < 0.7 {
			return math.NaN()
		}
		return 0.8 * sigmoid(3, 0.7)(e)
	}
	answer, points := run(t, byNear(0.9, 0.05), 10, defined)
	if answer.Done != End || answer.Around[0].Epsilon < 0.7 {
		t.Errorf("ends with %q, from %v; want %q from a point that is defined: %v", answer.Done, answer.Around[0], End,
			points)
	}
	for _, none := range [][]Point{nil, {{1, math.NaN()}, {2, math.NaN()}}} {
		if answer := byNear(0.5, 0.05).Next(none, 0); answer.Done != Nowhere {
			t.Errorf("%v gives %+v, want %q", none, answer, Nowhere)
		}
	}
}

// A level that lies beyond the lower end is looked for there, though the upper end was measured for another level.
func TestEachEndForItself(t *testing.T) {
	t.Parallel()
	points := []Point{{0.04, 0.9}, {10, 0.5}, {MostEpsilon, 0.1}}
	if answer := byAbove(0.95, 0.01).Next(points, 3); answer.Next != LeastEpsilon {
		t.Errorf("asks for ε = %g (%s), want the lower end, %g", answer.Next, answer.Done, LeastEpsilon)
	}
	points = []Point{{LeastEpsilon, 0.9}, {10, 0.5}, {4e4, 0.1}}
	if answer := byAbove(0.05, 0.01).Next(points, 3); answer.Next != MostEpsilon {
		t.Errorf("asks for ε = %g (%s), want the upper end, %g", answer.Next, answer.Done, MostEpsilon)
	}
}
