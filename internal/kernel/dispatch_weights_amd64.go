package kernel

const weightAssembly = true

func (p path) weightSum(n int, row, law *float32) float64 { return weightSumAVX2(n, row, law) }
