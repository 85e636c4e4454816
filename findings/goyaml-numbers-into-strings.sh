#!/usr/bin/env bash
# Seen 2026-11-28 with Go 1.26.8, github.com/goccy/go-yaml v1.19.2 and gopkg.in/yaml.v3 v3.0.1.
# Behaviour: a plain scalar that looks like a number, decoded into a Go field of type string, is the number written
# anew, not the text of the file: 1.10 becomes 1.1, 0x1F becomes 31, 007 becomes 7.
# One would guess: the text as it stands, since the field's type is known; yaml.v3 does so.
# Who meets it: readers of labels, versions and identifiers. Way out: read the node's token, or quote the text.
# Output seen:
#   goccy 1.1 31 7
#   yaml.v3 1.10 0x1F 007
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > main.go <<'GO'
package main

import (
	"fmt"

	goccy "github.com/goccy/go-yaml"
	three "gopkg.in/yaml.v3"
)

type version struct{ A, B, C string }

const file = "a: 1.10\nb: 0x1F\nc: 007\n"

func main() {
	var one, other version
	if err := goccy.Unmarshal([]byte(file), &one); err != nil {
		panic(err)
	}
	if err := three.Unmarshal([]byte(file), &other); err != nil {
		panic(err)
	}
	fmt.Println("goccy", one.A, one.B, one.C)
	fmt.Println("yaml.v3", other.A, other.B, other.C)
}
GO
{
  go mod init finding
  go get github.com/goccy/go-yaml@v1.19.2 gopkg.in/yaml.v3@v3.0.1
} 2> log || { cat log >&2; exit 2; }
go run . | tee seen
diff seen - <<'OUT'
goccy 1.1 31 7
yaml.v3 1.10 0x1F 007
OUT
