package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"mldpbench/internal/realdata"
)

// BenchmarkGraph reports texts per second of the fastest run of each graph.
// models/transformer/bench/run.sh times onnxruntime on the same graphs and
// numbers; MLDP_DUMP names a file for the result, as float32, with which it
// compares its own.
func BenchmarkGraph(b *testing.B) {
	const pieces = 8000 // ids are below
	for _, c := range []struct {
		model, output string
		batch, length int
	}{
		{"use-lite-onnx", "sentence_embedding", 1, 32}, {"use-lite-onnx", "sentence_embedding", 8, 32},
		{"use-lite-onnx", "sentence_embedding", 2, 128}, {"tiny-masked-lm", "logits", 8, 32},
		{"tiny-causal-lm", "logits", 4, 64},
	} {
		b.Run(fmt.Sprintf("%s/batch=%d/length=%d", c.model, c.batch, c.length), func(b *testing.B) {
			m, err := Open(realdata.File(b, c.model+"/model.onnx"))
			if err != nil {
				b.Fatal(err)
			}
			ids, ones := make([]int64, c.batch*c.length), make([]int64, c.batch*c.length)
			for i := range ids {
				ids[i], ones[i] = int64(i*37%pieces), 1
			}
			inputs := map[string]*Tensor{"input_ids": NewInt(ids, c.batch, c.length),
				"attention_mask": NewInt(ones, c.batch, c.length)}
			var result *Tensor
			best := math.Inf(1)
			for b.Loop() {
				start := time.Now()
				if result, err = m.Run(inputs, Request{Output: c.output}); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(start).Seconds())
			}
			b.ReportMetric(float64(c.batch)/best, "texts/s")
			if name := os.Getenv("MLDP_DUMP"); name != "" {
				data, _ := binary.Append(nil, binary.LittleEndian, result.F)
				if err := os.WriteFile(name, data, 0o666); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
