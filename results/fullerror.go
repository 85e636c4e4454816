package results

import "slices"

// FullErrors returns records in which E_M MAP is that against all words, where
// every mechanism that has an E_M has this one, and whether it is: an error
// among few candidates says how easy a guess among few is, and mechanisms that
// hide a word in a group look as if they did not. It was measured once per
// mechanism and ε, and holds for all repetitions, models and settings.
func FullErrors(records []Record) ([]Record, bool) {
	full := map[Group]Float{}
	at := func(r Record) Group {
		g := r.Group()
		g.Model, g.ModelParameters, g.Setting = "", "", ""
		return g
	}
	for _, r := range records {
		if r.EMFullUniform.Known() {
			full[at(r)] = r.EMFullUniform
		}
	}
	if len(full) == 0 {
		return records, false
	}
	out := slices.Clone(records)
	for i, r := range out {
		e, ok := full[at(r)]
		switch {
		case ok:
			out[i].EMMap = e
		case r.EMMap.Known():
			return records, false // not to be compared with those that have it
		}
	}
	return out, true
}

// candidates says in a legend whom the adversary chooses among.
func candidates(records []Record) string {
	if _, full := FullErrors(records); full {
		return ", all words being candidates"
	}
	return ", among few candidates"
}
