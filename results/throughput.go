package results

// Throughput is how fast a text of the size of this cell's is privatised from
// nothing, in words per second: the words of one repetition over the whole time
// of the call that privatised it, what a mechanism tabulates per word included.
// Where one call privatised several repetitions, which share what is tabulated,
// the time is that of the call: a text alone takes no more, so that the number
// does not grow with the repetitions of a study. Nothing where no time is
// known.
func (c Cells) Throughput() []float64 {
	together := map[Float]int{} // repetitions that say the same time were privatised together
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
