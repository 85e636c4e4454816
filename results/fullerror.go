package results

import "slices"

// FullErrors returns records in which E_M MAP is replaced by the error against
// all words, and true, provided every mechanism with an E_M has that error. An
// error among few candidates only shows how easy a guess among few is, and
// mechanisms that hide a word in a group then look as if they did not hide it.
// The error was measured once per mechanism and ε and holds for all
// repetitions, models and settings.
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
			return records, false // not comparable with those that have it
		}
	}
	return out, true
}

// candidates returns a legend's text about the adversary's candidates.
func candidates(records []Record) string {
	if _, full := FullErrors(records); full {
		return ", all words being candidates"
	}
	return ", among few candidates"
}
