package datasets

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// agencies are the private labels of agnews-agency.
var agencies = []string{"AP", "Reuters"}

// keepAgencies keeps the items that carry the marker of exactly one agency, and
// cuts out every mention of an agency. Reuters writes more business news and AP
// more sports, so the topic would reveal the agency. Of each topic, therefore, as
// many items of the more frequent agency are kept as the other has, drawn by the
// request's seed.
func keepAgencies(q Request, out *Rows) error {
	var marked []Row
	strata := map[[2]int][]int{} // topic, agency → marked
	for _, r := range out.Rows {
		agency, ok := agencyOf(r.Text)
		if !ok {
			continue
		}
		r.Text = cutAgencies(r.Text)
		r.Private = agency
		r.Split = "" // the test file alone has too few left
		key := [2]int{r.Label, agency}
		strata[key] = append(strata[key], len(marked))
		marked = append(marked, r)
	}
	keep := make([]bool, len(marked))
	for topic := range out.Classes {
		n := min(len(strata[[2]int{topic, 0}]), len(strata[[2]int{topic, 1}]))
		for agency := range agencies {
			ids := strata[[2]int{topic, agency}]
			rng := q.Seed.Derive("balance", q.Name, strconv.Itoa(topic), agencies[agency]).Rand()
			rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
			for _, id := range ids[:n] {
				keep[id] = true
			}
		}
	}
	out.Rows = nil
	out.Privates = agencies
	for id, r := range marked {
		if keep[id] {
			out.Rows = append(out.Rows, r)
		}
	}
	if len(out.Rows) == 0 {
		return fmt.Errorf("%s: no topic has items marked (AP) and items marked (Reuters)", out.Source)
	}
	return nil
}

// agencyOf returns the only agency whose marker a text carries.
func agencyOf(text string) (agency int, ok bool) {
	ap := strings.Contains(text, "(AP)")
	reuters := strings.Contains(text, "(Reuters)")
	if reuters && !ap {
		agency = 1
	}
	return agency, ap != reuters
}

// The forms in which an item names an agency, longest first: a link to a
// quotation page with the ticker it shows, a dateline with its place
// ("NEW YORK (Reuters) - "), the name in brackets or not.
var agencyForms = []*regexp.Regexp{
	regexp.MustCompile(`(?is)(&lt;|<)a href=[^<>]*?reuters.*?((&lt;|<)/a(&gt;|>)|$)`),
	regexp.MustCompile(`(^|  )\s*[A-Z][A-Z .,'/-]{1,40}\((AP|Reuters)\)\s*(-+|_)?\s*`),
	regexp.MustCompile(`\((AP|Reuters)[^()]{0,40}\)\s*((AP|Reuters) -+ ?)?`),
	regexp.MustCompile(`(?i)\b(the )?associated press\b|\breuters\b`),
	regexp.MustCompile(`\bAPs?\b( -+ )?`),
}

// cutAgencies removes every mention of either agency.
func cutAgencies(text string) string {
	for _, form := range agencyForms {
		text = form.ReplaceAllString(text, " ")
	}
	return strings.TrimSpace(text)
}
