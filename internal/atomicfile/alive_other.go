//go:build !unix

package atomicfile

// alive cannot tell, so nothing is removed.
func alive(int) bool { return true }
