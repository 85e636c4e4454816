package table

import (
	"bufio"
	"slices"
	"strings"

	"mldpbench/internal/check"
)

// kind is a kind of file by its first bytes.
type kind struct{ head, is string }

// kinds are the first bytes of files that are no table of a format here, and what to do.
var kinds = []kind{
	{"PAR1", "Parquet: give the file with the suffix .parquet, or --format parquet (in a study: the suffix)"},
	{"PK\x03\x04", "a workbook of Excel, or another ZIP archive: save the table as CSV or Parquet"},
	{"\xd0\xcf\x11\xe0", "an old workbook of Excel: save the table as CSV"},
	{"ARROW1", "an Arrow file (Feather): write the table as Parquet"},
	{"\xff\xff\xff\xff", "a stream of Arrow: write the table as Parquet"},
	{"FEA1", "a Feather file: write the table as Parquet"},
	{"Obj\x01", "an Avro file: write the table as Parquet or JSON lines"},
	{"SQLite format 3\x00", "an SQLite database: write the table as CSV"},
}

// checkKind returns an error for the first bytes of a file that is none of the formats.
func checkKind(name, head string) error {
	for _, k := range kinds {
		if strings.HasPrefix(head, k.head) {
			return check.Wrong("%s: is %s", name, k.is)
		}
	}
	return nil
}

// peekKind returns the first bytes of a file: two, and more only while they begin like
// one of the kinds, since who writes a text line by line may wait for its answer.
func peekKind(b *bufio.Reader) string {
	for n := 2; ; n++ {
		head, err := b.Peek(n)
		open := func(k kind) bool {
			return len(head) < len(k.head) && strings.HasPrefix(k.head, string(head))
		}
		if err != nil || !slices.ContainsFunc(kinds, open) {
			return string(head)
		}
	}
}
