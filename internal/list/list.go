// Package list has the loops over slices that the standard library has not.
package list

// Map returns f of every element, in order; it is never nil.
func Map[E, T any](list []E, f func(E) T) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = f(x)
	}
	return out
}

// Sum adds up f of every element.
func Sum[E any](list []E, f func(E) int) int {
	total := 0
	for _, x := range list {
		total += f(x)
	}
	return total
}

// Count returns how many elements have a property.
func Count[E any](list []E, has func(E) bool) int {
	n := 0
	for _, x := range list {
		if has(x) {
			n++
		}
	}
	return n
}

// Group gathers what shares a key, in the order of the first of each.
func Group[E any, K comparable](list []E, key func(E) K) (groups [][]E) {
	at := map[K]int{}
	for _, x := range list {
		k := key(x)
		i, met := at[k]
		if !met {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], x)
	}
	return groups
}
