// Package notices tests what .ci/notices prints.
package notices

import (
	"os/exec"
	"strings"
	"testing"
)

// What make dist and the image carry has the licence of each module that is
// compiled in, and those that must be named.
func TestNotices(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash on this machine")
	}
	text, err := exec.Command(bash, "../../.ci/notices").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps, err := exec.Command("go", "list", "-deps",
		"-f", "{{with .Module}}{{if .Version}}{{.Path}} {{.Version}}{{end}}{{end}}",
		"../../cmd/mldp").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(strings.Split(strings.TrimSpace(string(deps)), "\n"), "The FreeType Project LICENSE",
		"Reserved Font Name Liberation", "SIL OPEN FONT LICENSE", "Copyright 2009 The Go Authors", "The MIT License",
		"Neither the name of") {
		if want != "" && !strings.Contains(string(text), want) {
			t.Errorf("no %q", want)
		}
	}
}
