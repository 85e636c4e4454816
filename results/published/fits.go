package published

import (
	"fmt"
	"math"

	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// A fit is the mechanism whose text has the printed numbers of another, where
// the study's code as it stands does not make that text, and the metrics that it
// explains.
type fit struct {
	mechanism, parameters, title string
	explains                     map[string][]Metric // by data set
}

// fits are of the study replication-fits, by the printed mechanism.
var fits = map[string]fit{
	"mahalanobis": {"mahalanobis", "lambda=0.5", "λ = 0.5 in place of 0.2",
		map[string][]Metric{"agnews": {"pp", "low"}, "imdb": {"pp"}}},
	"santext": {"santext-plus", "p=0.3 w=0.9", "SanText+ with w = 0.9, p = 0.3",
		map[string][]Metric{"agnews": {"pp", "low", "english"}, "imdb": {"english"}}},
}

// Fits are the printed numbers of texts, beside those of the mechanisms whose text
// fits them. N_w and S_w are not of a text.
func Fits(p *results.Prepared) []Replicated {
	fitted := results.Where(places(replicatedDimension), func(at Place) bool { return fits[at.Mechanism].title != "" })
	return beside(p, fitted, replicatedMetrics[2:], asRun(standsFor))
}

// standsFor is the printed mechanism whose text a cell fits, "" for none.
func standsFor(c results.Cell) string {
	for printed, f := range fits {
		if c.Mechanism == f.mechanism && c.Parameters == f.parameters {
			return printed
		}
	}
	return ""
}

// Listed are N_w and S_w of SanText on a data set for the share of words without a
// vector that the mean of its printed N_w has, in place of the share at hand. Its
// probabilities are nearly the same for all rows, and a row beyond the list of
// words with a vector returns the word: N_w is the share of such rows, and S_w
// the share of the others, less the few outputs that come twice.
func Listed(all []Replicated, dataset string) (share float64, listed []Replicated) {
	var printed []float64
	nw := map[Place]Replicated{}
	for _, k := range all {
		if k.Dataset == dataset && codes[k.Mechanism].words != "" && k.as == printedNw && k.Verdict != NotRun {
			printed = append(printed, k.Printed)
			nw[k.Place] = k
		}
	}
	if len(printed) == 0 {
		return math.NaN(), nil
	}
	share = stats.Mean(printed)
	for _, k := range all {
		here, ok := nw[k.Place]
		if !ok || !k.as.quantity().OfWords {
			continue
		}
		// Both are means of as many yes and no: their spread goes as √(p(1−p)).
		spread := math.Sqrt(share * (100 - share) / (here.Here * (100 - here.Here)))
		if k.as == printedNw {
			k.Here = share
		} else {
			k.Here *= (100 - share) / (100 - here.Here)
		}
		k.SD *= spread
		k.judge(noise * k.SD * math.Sqrt(1+1/float64(k.N)))
		listed = append(listed, k)
	}
	return share, listed
}

// Covered are PP on a data set for the share of words without a vector in print, in
// place of the share at hand, where a text of vectors has them; Fits stand for the
// rows that they explain. A word without a vector stays. Where no word of N_w came
// back in print, what did not change had none: their means are the two shares.
func Covered(all, fitted []Replicated, dataset string) (here, printed float64, covered []Replicated) {
	none := map[Place]bool{}
	var own, theirs []float64
	for _, k := range all {
		if k.Dataset != dataset {
			continue
		}
		if k.as == printedNw && k.Printed == 0 {
			none[k.Place] = true
		}
		if k.as == printedPP && none[k.Place] && k.N > 0 {
			own, theirs = append(own, 100-k.Here), append(theirs, 100-k.Printed)
		}
	}
	if len(own) == 0 {
		return math.NaN(), math.NaN(), nil
	}
	here, printed = stats.Mean(own), stats.Mean(theirs)
	take := func(k Replicated) {
		if k.Dataset == dataset && k.as == printedPP && k.N > 0 {
			k.Here *= (100 - printed) / (100 - here)
			k.judge(k.as.tolerance)
			covered = append(covered, k)
		}
	}
	for _, k := range all {
		if fits[k.Mechanism].title == "" && !codes[k.Mechanism].noVectors {
			take(k)
		}
	}
	for _, k := range fitted {
		take(k)
	}
	return here, printed, covered
}

// arithmeticTables are Listed and Covered.
func arithmeticTables(all, fitted []Replicated) (list []tables.Table) {
	for _, d := range replicatedData {
		share, listed := Listed(all, d)
		here, printed, covered := Covered(all, fitted, d)
		list = append(list,
			besidePrinted("replication-listed-"+d, fmt.Sprintf("SanText if %.1f%% of the words have no vector: by "+
				"arithmetic/printed, %s, d = 100", share, results.DatasetTitle(d)), listed, replicatedMetrics[:2],
				results.MechanismTitle),
			besidePrinted("replication-covered-"+d, fmt.Sprintf("If %.1f%% of the text has no vector, in place of %.1f%%: "+
				"by arithmetic/printed, %s, d = 100", printed, here, results.DatasetTitle(d)), covered,
				replicatedMetrics[2:3], fitTitle))
	}
	return list
}

func fitTitle(mechanism string) string {
	if f := fits[mechanism]; f.title != "" {
		return results.MechanismTitle(mechanism) + ": " + f.title
	}
	return results.MechanismTitle(mechanism)
}
