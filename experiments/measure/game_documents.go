package measure

import (
	"context"
	"math"

	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// releaseDocuments draws what a mechanism of whole documents releases from its probabilities.
// Nobody beats exact likelihood, so that no other adversary has a margin.
func (g *game) releaseDocuments(ctx context.Context, law *mechanisms.Documents, pairs []gamePair, times int,
	seed stream.Seed) ([]gameRound, error) {
	places := map[string][]int{} // of outputs; texts may be there more than once
	for y, text := range law.Outputs {
		places[text] = append(places[text], y)
	}
	rng := seed.Rand()
	var rounds []gameRound
	for i, p := range pairs {
		rows, err := law.LogRows(ctx, []string{joined(p.originals[0]), joined(p.originals[1])})
		if err != nil {
			return nil, err
		}
		for range times {
			coin := rng.IntN(2)
			text := law.Outputs[mechanisms.DrawLog(rows[coin], rng.Float64())]
			ofFirst := logOfSum(rows[0], places[text])
			ofSecond := logOfSum(rows[1], places[text])
			margins := make([]float64, len(metrics.InPlace))
			margins[0] = ofFirst - ofSecond // one is possible: it was drawn
			rounds = append(rounds, gameRound{pair: i, coin: coin, margins: margins})
		}
	}
	return rounds, ctx.Err()
}

// logOfSum is the logarithm of the sum of probabilities, of which logs has the logarithms.
func logOfSum(logs []float64, at []int) float64 {
	sum := 0.0
	for _, y := range at {
		sum += math.Exp(logs[y])
	}
	return math.Log(sum)
}
