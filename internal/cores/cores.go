// Package cores tells work how many cores it may use: those of a run that no other of its work needs.
package cores

import (
	"context"
	"sync"
)

type key struct{}

// With gives the work under a context cores; free is asked again and again, since other work ends.
func With(ctx context.Context, free func() int) context.Context {
	return context.WithValue(ctx, key{}, free)
}

// Free is the number of cores that work under a context may use now: 1 where nobody says more.
func Free(ctx context.Context) int {
	if free, ok := ctx.Value(key{}).(func() int); ok {
		return max(1, free())
	}
	return 1
}

// Share divides n things among workers, which do theirs side by side, the first on this goroutine.
func Share(workers, n int, do func(worker, from, to int)) {
	var others sync.WaitGroup
	for k := 1; k < workers; k++ {
		others.Go(func() { do(k, n*k/workers, n*(k+1)/workers) })
	}
	do(0, 0, n/max(1, workers))
	others.Wait()
}
