package main

import (
	"context"
	"os"
	"strings"
	"testing"
)

// A result that could not be written is no success.
func TestFullOutputFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	results := "../../results/reference/mini.csv.gz"
	for _, args := range [][]string{
		{"tables", results, "--only", "guarantees", "--format", "md", "-o", t.TempDir()}, {"study", "list"},
		{"study", "show", "mini"}, {"data", "list"}, {"--help"}, {"mechanisms"}, {"--version"}, {"completion", "bash"},
		{"explain", "--mechanism", "identity", "--epsilon", "1", "--words", "food", "--embedding", "generated"},
		{"help", "run"}, {"compare", results, results},
	} {
		var stderr strings.Builder
		if code := run(context.Background(), args, strings.NewReader(""), full, &stderr); code != exitFailure ||
			strings.Count(stderr.String(), "no space left") != 1 {
			t.Errorf("%v: exit code %d, want %d: %s", args, code, exitFailure, stderr.String())
		}
	}
}
