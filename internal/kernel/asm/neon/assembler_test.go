package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestCodes assembles every mnemonic with another assembler and compares the
// codes.
func TestCodes(t *testing.T) {
	mc, err := exec.LookPath("llvm-mc")
	if err != nil {
		t.Skip("no llvm-mc, which knows the codes")
	}
	if known, err := exec.Command(mc, "--version").Output(); err != nil || !strings.Contains(string(known), "aarch64") {
		t.Skip("llvm-mc does not know arm64")
	}
	lines := regexp.MustCompile(`WORD \$0x(.{8}) // (.*)`).FindAllStringSubmatch(generate().assembly(), -1)
	var source strings.Builder
	for _, l := range lines {
		source.WriteString(l[2] + "\n")
	}
	command := exec.Command(mc, "-triple=aarch64", "-mattr=+dotprod", "-show-encoding")
	command.Stdin = strings.NewReader(source.String())
	var errors strings.Builder
	command.Stderr = &errors
	out, err := command.Output()
	if err != nil {
		t.Fatalf("llvm-mc: %v\n%.2000s", err, errors.String())
	}
	want := regexp.MustCompile(`encoding: \[0x(..),0x(..),0x(..),0x(..)\]`).FindAllStringSubmatch(string(out), -1)
	if len(want) != len(lines) || len(lines) < 1000 {
		t.Fatalf("%d instructions, llvm-mc knows %d", len(lines), len(want))
	}
	wrong := map[string]bool{}
	for i, l := range lines {
		if b := want[i]; b[4]+b[3]+b[2]+b[1] != l[1] && !wrong[strings.Fields(l[2])[0]] {
			wrong[strings.Fields(l[2])[0]] = true
			t.Errorf("%s is %s, want %s", l[2], l[1], b[4]+b[3]+b[2]+b[1])
		}
	}
}
