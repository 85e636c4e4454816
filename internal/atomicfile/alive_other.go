//go:build !unix

package atomicfile

// alive always returns true here because it cannot check, so nothing is
// removed.
func alive(int) bool { return true }
