package metrics

// CountEnglish returns how many tokens an English word list has, and how many
// tokens there are. English % is Percent of the two. Source: [M24] App. B.1.
//
// Tokens are lower case; a list is not. With the list lower-cased, the token
// english matches the entry English, and the metric is English %. With the list
// as printed it does not match, and the metric is English % as printed, which
// the published table seems to use.
func CountEnglish(documents [][]string, english func(token string) bool) (in, total int) {
	for _, d := range documents {
		for _, t := range d {
			if english(t) {
				in++
			}
		}
		total += len(d)
	}
	return in, total
}
