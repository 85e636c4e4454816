// Command bench times the graph of a model folder on one core, for run.sh,
// which times onnxruntime on the same graph and numbers.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"time"

	"mldpbench/models/onnx"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("model", "", "`folder` with model.onnx")
	output := flag.String("output", "", "`name` of the output")
	batch := flag.Int("batch", 8, "texts at a time")
	length := flag.Int("length", 32, "pieces of a text")
	pieces := flag.Int("pieces", 8000, "ids are below `n`")
	seconds := flag.Float64("seconds", 2, "`time` to run")
	dump := flag.String("dump", "", "write the result to `file`, as float32")
	flag.Parse()
	rate, result, err := measure(filepath.Join(*dir, "model.onnx"), *output, *batch, *length, *pieces, *seconds)
	if err == nil && *dump != "" {
		var data []byte
		for _, x := range result {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
		err = os.WriteFile(*dump, data, 0o666)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f\n", rate)
}

// measure returns the texts per second of the fastest of many runs.
func measure(model, output string, batch, length, pieces int, seconds float64) (float64, []float32, error) {
	m, err := onnx.Open(model)
	if err != nil {
		return 0, nil, err
	}
	ids, ones := make([]int64, batch*length), make([]int64, batch*length)
	for i := range ids {
		ids[i], ones[i] = int64(i*37%pieces), 1
	}
	inputs := map[string]*onnx.Tensor{
		"input_ids": onnx.NewInt(ids, batch, length), "attention_mask": onnx.NewInt(ones, batch, length),
	}
	var result []float32
	best := math.Inf(1)
	for start := time.Now(); time.Since(start).Seconds() < seconds; {
		t := time.Now()
		out, err := m.Run(inputs, onnx.Request{Output: output})
		if err != nil {
			return 0, nil, err
		}
		best = min(best, time.Since(t).Seconds())
		result = out.F
	}
	return float64(batch) / best, result, nil
}
