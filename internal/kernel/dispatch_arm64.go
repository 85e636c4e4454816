//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// Every arm64 processor that Go runs on has NEON.
const best = pathNEON

func init() {
	neon := assembly{
		lanes: 8, // two registers
		tiles: []tile{gemmNEON_1, gemmNEON_2, gemmNEON_3, gemmNEON_4, gemmNEON_5, gemmNEON_6}, tileWidth: 16,
		cellLanes: 4, cellForward: cellForwardNEON, cellBackward: cellBackwardNEON,
		squaredDistance: squaredDistanceNEON, distancesTo: distancesToNEON,
		distances: distancesNEON, innerProducts: innerProductsNEON,
		weightSum: weightSumNEON, fold: foldNEON, atMost: atMostNEON,
	}
	if cpu.ARM64.HasASIMDDP {
		neon.scan = scanNEON
	}
	forms[pathNEON] = neon
}
