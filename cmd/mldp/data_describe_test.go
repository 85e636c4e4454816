package main

import (
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/internal/realdata"
)

func TestDescribeModelFolder(t *testing.T) {
	dir := t.TempDir()
	if code, out := mldp(t, "data", "describe", dir); code == exitOK || !strings.Contains(out, "tokenizer.json") {
		t.Errorf("an empty folder: exit code %d, %s", code, out)
	}
	for name, wants := range map[string]string{"tiny-masked-lm": "masked language model", "tiny-causal-lm": "perplexity",
		"use-lite-onnx": "vectors of 512 dimensions"} {
		folder := filepath.Dir(realdata.File(t, name+"/model.onnx"))
		code, byName := mldp(t, "data", "describe", name, "--data", filepath.Dir(folder))
		if _, byPath := mldp(t, "data", "describe", folder); code != exitOK || byPath != byName ||
			!strings.Contains(byName, wants) {
			t.Errorf("%s: exit code %d\n%s", name, code, byName)
		}
	}
}
