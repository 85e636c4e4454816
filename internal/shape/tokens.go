package main

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// A size is how much Go stands somewhere.
type size struct{ tokens, lines int }

// A census is the size of each room: the first two folders of a file.
type census map[string]size

// add counts a file, named from the root of the module. A semicolon that stands at the end of a line is no token.
func (c census) add(name string, source []byte) {
	folders := strings.Split(path.Dir(name), "/")
	room := path.Join(folders[:min(2, len(folders))]...)
	total := c[room]
	total.lines += bytes.Count(source, []byte("\n"))
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(name, -1, len(source)), source, nil, 0)
	for {
		_, found, _ := s.Scan()
		if found == token.EOF {
			break
		}
		if found != token.SEMICOLON {
			total.tokens++
		}
	}
	c[room] = total
}

func (c census) print(out io.Writer) {
	var all size
	for _, room := range slices.Sorted(maps.Keys(c)) {
		fmt.Fprintf(out, "room %s %d tokens, %d lines\n", room, c[room].tokens, c[room].lines)
		all.tokens += c[room].tokens
		all.lines += c[room].lines
	}
	fmt.Fprintf(out, "sum %.1f tokens a line: %d tokens, %d lines\n", float64(all.tokens)/float64(all.lines),
		all.tokens, all.lines)
}
