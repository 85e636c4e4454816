// Command vectors writes a text file of generated word vectors as large as real
// ones that are not available:
//
//	go run ./internal/kernel/bench/vectors -words 400000 -dimension 300 -o v.txt
//
// Norms follow GloVe 6B as measured (100 dimensions; √3 times that in 300): 6.1
// for the most frequent words, falling by 0.3 with each power of ten of the
// rank, 12% apart between words. Directions have a common mean of 0.3 of the
// norm and are otherwise spread evenly over the axes, which is harder for a
// search than real words.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
)

func main() {
	words := flag.Int("words", 400_000, "number of words")
	dimension := flag.Int("dimension", 100, "numbers per word")
	header := flag.Bool("header", false, "write a first line as fastText does")
	path := flag.String("o", "", "file to write")
	flag.Parse()
	if err := write(*path, *words, *dimension, *header); err != nil {
		fmt.Fprintln(os.Stderr, "vectors:", err)
		os.Exit(1)
	}
}

func write(path string, words, dimension int, header bool) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if header {
		fmt.Fprintln(w, words, dimension)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	mean := make([]float64, dimension)
	for i := range mean {
		mean[i] = rng.NormFloat64() / math.Sqrt(float64(dimension))
	}
	row := make([]float64, dimension)
	var line []byte
	for word := range words {
		length := 0.0
		for i := range row {
			row[i] = 0.3*mean[i] + rng.NormFloat64()/math.Sqrt(float64(dimension))
			length += row[i] * row[i]
		}
		rank := math.Log10(float64(word) + 10)
		norm := (6.4 - 0.3*rank) * max(0.1, 1+0.12*rng.NormFloat64()) * math.Sqrt(float64(dimension)/100) /
			math.Sqrt(length)
		line = fmt.Appendf(line[:0], "word%d", word)
		for _, x := range row {
			line = append(line, ' ')
			line = strconv.AppendFloat(line, x*norm, 'f', 5, 64)
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return w.Flush()
}
