package engine

import (
	"runtime"
	"strconv"
	"sync"
)

// Machine is the platform: operating system, architecture, cores.
var Machine = sync.OnceValue(func() string {
	return runtime.GOOS + "/" + runtime.GOARCH + "/" + strconv.Itoa(runtime.NumCPU()) + " cores"
})
