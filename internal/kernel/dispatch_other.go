//go:build noasm || (!amd64 && !arm64)

package kernel

const best = pathGo
