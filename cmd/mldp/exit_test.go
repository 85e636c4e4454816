package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
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
		{"explain", "--mechanism", "identity", "--epsilon", "1", "--words", "food", "--embedding", "generated"}, {"help", "run"}, {"compare", results, results},
	} {
		var stderr strings.Builder
		if code := run(context.Background(), args, strings.NewReader(""), full, &stderr); code != exitFailure ||
			strings.Count(stderr.String(), "no space left") != 1 {
			t.Errorf("%v: exit code %d, want %d: %s", args, code, exitFailure, stderr.String())
		}
	}
}

// A fault of the program has a code of its own: Go's 2 would mean wrong usage.
func TestFaultHasItsOwnCode(t *testing.T) {
	switch os.Getenv("MLDP_TEST_FAULT") {
	case "here":
		exit(func() int { panic("a fault") })
		return
	case "elsewhere":
		exit(func() int { go panic("a fault"); select {} })
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{"here", "elsewhere"} {
		cmd := exec.Command(self, "-test.run=^TestFaultHasItsOwnCode$")
		cmd.Env = append(os.Environ(), "MLDP_TEST_FAULT="+where)
		text, err := cmd.CombinedOutput()
		var ended *exec.ExitError
		if code := map[string]int{"here": exitFault, "elsewhere": -1}[where]; !errors.As(err, &ended) ||
			ended.ExitCode() != code || !strings.Contains(string(text), "a fault") {
			t.Errorf("%s: %v, %s", where, err, text)
		}
	}
}
