package datasets

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"mldpbench/datasets/internal/textfile"
	"mldpbench/datasets/textio"
	"mldpbench/internal/check"
)

// ReadColumns reads columns of a table of the user's own, in the formats of
// Request.File and plain lines: for each row its values in the order of columns.
// Plain lines have no columns and one value per row. delimiter is that of CSV and
// TSV, "" for the usual one. With nulls a row that has a null is nil; it is an
// error without.
func ReadColumns(ctx context.Context, file, delimiter string, columns []string, nulls bool) ([][]string, error) {
	if textio.FormatOf(file) == textio.Lines {
		if len(columns) > 0 {
			return nil, check.Wrong("%s: plain lines have no columns %q", file, columns)
		}
		return readLines(ctx, file)
	}
	format, err := formatOf(file, "")
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, fmt.Errorf("%s: %s needs the name of a column", file, format)
	}
	return readTable(ctx, source{file, format, delimiter}, columns, nulls,
		func([]string) error { return nil })
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
