package published

import (
	"fmt"
	"strconv"
	"strings"

	"mldpbench/results"
)

// aboveBaseline counts the cells of Table 3 above the baseline.
func (a *Arithmetic) aboveBaseline(p *Numbers) {
	var counts []string
	for _, dataset := range []string{"agnews", "imdb"} { // the order of the claim
		n := 0
		for _, d := range Dimensions {
			baseline := p.Value(Place{Dataset: dataset, Dimension: d, Mechanism: results.BaselineMechanism}, "accuracy")
			for _, epsilon := range Epsilons {
				for _, m := range Mechanisms {
					if p.Value(Place{dataset, d, epsilon, m}, "accuracy") > baseline {
						n++
					}
				}
			}
		}
		counts = append(counts, strconv.Itoa(n))
	}
	a.compareClaim("Table 3: cells above baseline (AG News/IMDb)", "Meisenbacher et al. 2024, text",
		claim("cells above baseline"), strings.Join(counts, "/"), "counted in Table 3")
}

// claims checks statements of the other papers' prose.
func (a *Arithmetic) claims() {
	percent := func(s string) float64 {
		v, err := strconv.ParseFloat(strings.Trim(s, "+%"), 64)
		if err != nil {
			panic("results: embedded claim: " + err.Error())
		}
		return v
	}
	madlib, tem := percent(claim("eps=2: both MIA AUC")), percent(claim("eps=2: TEM mean test accuracy"))
	a.compareClaim("Carvalho et al. 2023: relative utility improvement at ε=2", "Carvalho et al. 2023, text",
		claim("relative utility improvement at eps=2"), fmt.Sprintf("%.0f%%", 100*(tem/madlib-1)),
		fmt.Sprintf("%.0f/%.0f − 1 = %.1f%%", tem, madlib, 100*(tem/madlib-1)))

	var rows []struct {
		Dataset  string  `csv:"dataset"`
		Method   string  `csv:"method"`
		Split    string  `csv:"split"`
		Accuracy float64 `csv:"accuracy"`
	}
	mustReadPublished("priv_emb_table1.csv", &rows)
	for _, dataset := range []string{"CR", "TREC-6"} {
		gain := 0.0
		for _, r := range rows {
			switch {
			case r.Dataset != dataset || r.Split != "test":
			case strings.HasPrefix(r.Method, "M2"):
				gain += r.Accuracy
			case strings.HasPrefix(r.Method, "M1"):
				gain -= r.Accuracy
			}
		}
		a.compareClaim("Feyisetan & Kasiviswanathan 2021: gain of M2 over M1 on "+dataset,
			"Feyisetan & Kasiviswanathan 2021, text",
			claim("M2 vs M1 test gain "+dataset), fmt.Sprintf("%+.0f%%", gain),
			fmt.Sprintf("%.2f points in Table 1", gain))
	}
}

func (a *Arithmetic) compareClaim(name, source, printed, recomputed, explanation string) {
	check := ArithmeticCheck{Name: name, Cells: 1, Explanation: explanation}
	if printed == recomputed {
		check.Agree = 1
	} else {
		a.Errata = append(a.Errata, Erratum{source, name, printed, recomputed, explanation})
	}
	a.Checks = append(a.Checks, check)
}
