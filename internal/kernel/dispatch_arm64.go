//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// Every arm64 processor that Go runs on has NEON.
const best = pathNEON

// init registers what NEON does, with the scan where there are dot products of bytes.
func init() {
	neon := assembly{
		lanes:           8, // two registers
		tiles:           []tile{gemm1NEON, gemm2NEON, gemm3NEON, gemm4NEON, gemm5NEON, gemm6NEON},
		tileWidth:       16,
		cellLanes:       4,
		cellForward:     cellForwardNEON,
		cellBackward:    cellBackwardNEON,
		squaredDistance: squaredDistanceNEON,
		distancesTo:     distancesToNEON,
		distances:       distancesNEON,
		innerProducts:   innerProductsNEON,
		weightSum:       weightSumNEON,
		fold:            foldNEON,
		atMost:          atMostNEON,
	}
	if cpu.ARM64.HasASIMDDP {
		neon.scan = scanNEON
	}
	forms[pathNEON] = neon
}
