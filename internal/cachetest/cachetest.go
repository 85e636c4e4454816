// Package cachetest keeps tests away from the user's cache.
package cachetest

import (
	"fmt"
	"os"
)

// Tests runs the tests of a package (it is a *testing.M) with a separate folder
// as the user's cache, also for the programs they start.
type Tests struct{ M interface{ Run() int } }

// Run returns the exit code of the tests.
func (t Tests) Run() int {
	dir, err := os.MkdirTemp("", "mldp-test-cache-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Setenv("XDG_CACHE_HOME", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return t.M.Run()
}
