//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

var best = func() path {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return pathGo
	case !x.HasAVX512F || !x.HasAVX512DQ || !x.HasAVX512BW || !x.HasAVX512VL || !x.HasAVX512VNNI:
		return pathAVX2
	default:
		return pathAVX512
	}
}()

// AVX-512 has forms of its own only where a study is faster for them: products,
// cells and scans. The rest is a small part of the time, and the same to the bit.
func init() {
	avx2 := assembly{
		lanes:           8,
		tiles:           []tile{gemm1AVX2, gemm2AVX2, gemm3AVX2, gemm4AVX2, gemm5AVX2, gemm6AVX2},
		tileWidth:       16,
		cellLanes:       1,
		cellForward:     cellForwardAVX2,
		cellBackward:    cellBackwardAVX2,
		scan:            scanAVX2,
		squaredDistance: squaredDistanceAVX2,
		distancesTo:     distancesToAVX2,
		distances:       distancesAVX2,
		innerProducts:   innerProductsAVX2,
		weightSum:       weightSumAVX2,
		fold:            foldAVX2,
		atMost:          atMostAVX2,
		sparseStrip:     sparseStripAVX2,
	}
	avx512 := avx2
	avx512.lanes = 16
	avx512.tiles = []tile{gemm1AVX512, gemm2AVX512, gemm3AVX512, gemm4AVX512, gemm5AVX512, gemm6AVX512,
		gemm7AVX512, gemm8AVX512, gemm9AVX512, gemm10AVX512, gemm11AVX512, gemm12AVX512, gemm13AVX512,
		gemm14AVX512}
	avx512.tileWidth = 32
	avx512.scan = scanAVX512
	avx512.distances = distancesAVX512
	avx512.weightSum = weightSumAVX512
	avx512.sparseStrip = sparseStripAVX512
	avx512.cellForward = cellForwardAVX512
	avx512.cellBackward = cellBackwardAVX512
	forms[pathAVX2] = avx2
	forms[pathAVX512] = avx512
}
