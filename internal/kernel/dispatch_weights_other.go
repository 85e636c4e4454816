//go:build !amd64

package kernel

const weightAssembly = false

func (p path) weightSum(n int, row, law *float32) float64 { panic("kernel: no assembly") }
