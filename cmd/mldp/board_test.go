package main

import (
	"archive/zip"
	"context"
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "mldpbench/experiments/measure" // names of its quantities
	"mldpbench/results"
)

// TestBoardRestsOnRows: every number in the tables of measured cells of a board's
// page is, to its digits, one of the rows that the package of the board has for that
// mechanism and ε: a value, half its interval, or an end of it; floors and ceilings
// are those of any.
func TestBoardRestsOnRows(t *testing.T) {
	dir := t.TempDir()
	board := filepath.Join("..", "..", "examples", "board")
	if code := run(context.Background(), []string{"board", board, "--out", dir}, strings.NewReader(""), io.Discard,
		os.Stderr); code != exitOK {
		t.Fatal("exit code ", code)
	}
	page, err := os.ReadFile(filepath.Join(dir, "generated-styles-1-lite.html"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := results.Prepare(results.Run{Name: "board", Rows: packagedRows(t, filepath.Join(board, "packages",
		"built-in.zip"))})
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[[2]string][]float64{} // of a mechanism and ε
	for _, c := range p.Cells {
		epsilon := "" // of mechanisms on which it has no effect
		if c.Epsilon.Known() {
			epsilon = fmt.Sprint(c.Epsilon)
		}
		key := [2]string{results.MechanismTitle(c.Mechanism), epsilon}
		if c.IsBaseline() {
			key[0] = "plain text"
		}
		for _, column := range results.Columns() {
			if m, ok := c.At(column.Name); ok && m.Value.Known() {
				low, high := c.Interval(column.Name)
				numbers[key] = append(numbers[key], float64(m.Value), float64(low), float64(high), float64(high-low)/2)
				for name, end := range map[string]results.Float{"guessing": m.Floor, "plain text": m.Ceiling} {
					numbers[[2]string{name}] = append(numbers[[2]string{name}], float64(end))
				}
			}
		}
	}
	table, row := regexp.MustCompile(`(?s)<table.*?</table>`), regexp.MustCompile(`(?s)<tr.*?</tr>`)
	cell, tag := regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`), regexp.MustCompile(`<sup>.*?</sup>|<[^>]*>`)
	number := regexp.MustCompile(`^[0-9.]+( ± [0-9.]+| \([0-9.]+–[0-9.]+\))?`)
	checked := 0
	for _, tableText := range table.FindAllString(string(page), -1) {
		var head []string
		for _, rowText := range row.FindAllString(tableText, -1) {
			var cells []string
			for _, c := range cell.FindAllStringSubmatch(rowText, -1) {
				cells = append(cells, strings.TrimSpace(html.UnescapeString(tag.ReplaceAllString(c[1], ""))))
			}
			if head == nil {
				head = cells
			}
			if !slices.Equal(head[:min(2, len(head))], []string{"mechanism", "ε"}) || slices.Equal(cells, head) {
				continue
			}
			known := numbers[[2]string{cells[0], cells[1]}]
			for i, text := range cells[2:] {
				for _, x := range strings.FieldsFunc(number.FindString(text), func(r rune) bool {
					return strings.ContainsRune(" ±(–)", r)
				}) {
					_, digits, _ := strings.Cut(x, ".")
					v, _ := strconv.ParseFloat(x, 64)
					half := 0.5*math.Pow(10, -float64(len(digits))) + 1e-9
					if checked++; !slices.ContainsFunc(known, func(k float64) bool { return math.Abs(k-v) <= half }) {
						t.Errorf("%s, ε = %s, %s: no row has %s", cells[0], cells[1], head[i+2], x)
					}
				}
			}
		}
	}
	if t.Logf("%d numbers", checked); checked < 200 {
		t.Errorf("%d numbers", checked)
	}
}

// packagedRows are those of a package.
func packagedRows(t *testing.T, name string) []results.Row {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	dir := t.TempDir()
	for _, file := range []string{"results.csv", "results.documents.csv"} {
		in, err := z.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := results.Read(filepath.Join(dir, "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
