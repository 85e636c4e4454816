package datasets

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"mldpbench/datasets/internal/textfile"
	"mldpbench/datasets/textio"
)

// ReadColumns reads columns of a table of the user's own, in the formats of
// Request.File and plain lines: for each row its values in the order of columns.
// Plain lines have no columns and one value per row. format "" is that of the
// file's suffix; delimiter is that of CSV and TSV, "" for the usual one.
func ReadColumns(ctx context.Context, file, format, delimiter string, columns []string) ([][]string, error) {
	if format = cmp.Or(format, string(textio.FormatOf(file))); format == string(textio.Lines) {
		if len(columns) > 0 {
			return nil, fmt.Errorf("%s: plain lines have no columns %q", file, columns)
		}
		return readLines(ctx, file)
	}
	format, err := formatOf(file, format)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("%s: %s needs the name of a column", file, format)
	}
	return readTable(ctx, source{file, format, delimiter}, columns, func([]string) error { return nil })
}

func readLines(ctx context.Context, file string) ([][]string, error) {
	var rows [][]string
	err := textfile.LinesOf(file, func(line string) error {
		if !utf8.ValidString(line) {
			return fmt.Errorf("not UTF-8")
		}
		rows = append(rows, []string{strings.TrimSuffix(line, "\r")})
		return ctx.Err()
	})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%s: no lines", file)
	}
	return rows, err
}
