#!/usr/bin/env bash
# Seen 2026-11-28 with Go 1.26.8 and github.com/parquet-go/parquet-go v0.32.0.
# Behaviour: reading into a struct whose tag names a column that the file does not have gives "" or 0 in every row, and
# no error. A column of a type that does not fit is an error.
# One would guess: an error that the column is not there; the schema of the file is known before the first row.
# Who meets it: readers of tables whose column is called otherwise, or was renamed: every text is empty. Way out: look
# the name up in the schema of OpenFile before reading.
# Output seen:
#   right name: "a quiet room" <nil>
#   other name: "" <nil>
#   lookup of the other name: false
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > main.go <<'GO'
package main

import (
	"bytes"
	"fmt"

	"github.com/parquet-go/parquet-go"
)

type written struct {
	Text string `parquet:"text"`
}

type renamed struct {
	Text string `parquet:"body"`
}

func main() {
	var file bytes.Buffer
	if err := parquet.Write(&file, []written{{Text: "a quiet room"}}); err != nil {
		panic(err)
	}
	size := int64(file.Len())
	right, err := parquet.Read[written](bytes.NewReader(file.Bytes()), size)
	fmt.Printf("right name: %q %v\n", right[0].Text, err)
	other, err := parquet.Read[renamed](bytes.NewReader(file.Bytes()), size)
	fmt.Printf("other name: %q %v\n", other[0].Text, err)
	opened, err := parquet.OpenFile(bytes.NewReader(file.Bytes()), size)
	if err != nil {
		panic(err)
	}
	_, found := opened.Schema().Lookup("body")
	fmt.Println("lookup of the other name:", found)
}
GO
{ go mod init try && go get github.com/parquet-go/parquet-go@v0.32.0; } > log 2>&1 || { cat log >&2; exit 2; }
go run . 2> log | tee seen || { cat log >&2; exit 2; }
diff seen - <<'OUT'
right name: "a quiet room" <nil>
other name: "" <nil>
lookup of the other name: false
OUT
