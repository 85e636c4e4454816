package results

// Throughput returns the speed of privatising a text of this cell's size
// without prepared tables, in words per second: the words of one repetition
// divided by the whole time of the call that privatised it, including tables
// per word. Where one call privatised several repetitions, which share the
// tables, the time is that of the whole call. A single text takes no longer, so
// the number does not grow with the repetitions of a study. It is missing where
// no time is known.
func (c Cells) Throughput() []float64 {
	together := map[Float]int{} // repetitions with the same time were privatised together
	for _, r := range c.Records {
		if r.PrivatizeSeconds > 0 {
			together[r.PrivatizeSeconds]++
		}
	}
	var out []float64
	for _, r := range c.Records {
		if !(r.PrivatizeSeconds > 0) || !(r.WordsPerSecond > 0) {
			continue
		}
		n := together[r.PrivatizeSeconds]
		if r.PrivatizeTexts > 0 {
			n = r.PrivatizeTexts
		}
		out = append(out, float64(r.WordsPerSecond)/float64(n))
	}
	return out
}
