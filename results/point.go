package results

import (
	"fmt"
	"io"
	"os"

	"github.com/gocarina/gocsv"

	"mldpbench/internal/atomicfile"
)

// PointSchemaVersion is bumped whenever a column of Point changes its meaning
// or name.
const PointSchemaVersion = 1

// Point is one row of a paper study: one quantity, measured once, at one
// place of one curve. The figures of the source papers are drawn from points;
// spreads are computed from the repetitions, never stored instead of them.
type Point struct {
	Schema int    `csv:"schema"`
	Study  string `csv:"study"`
	Key    string `csv:"key"` // of the unit that made the row

	Panel      string `csv:"panel"`  // data set or measure, one picture of the paper
	Series     string `csv:"series"` // one curve
	XName      string `csv:"x_name"` // epsilon, beta, k, word…
	X          Float  `csv:"x"`
	Quantity   string `csv:"quantity"` // e_m_map, accuracy, distance_error…
	Repetition int    `csv:"repetition"`
	Value      Float  `csv:"value"`

	Dataset         string `csv:"dataset"`
	Generated       bool   `csv:"generated"`
	Embedding       string `csv:"embedding"`
	Dimension       int    `csv:"dimension"`
	Mechanism       string `csv:"mechanism"`
	Variant         string `csv:"variant"`
	Parameters      string `csv:"parameters"`
	Epsilon         Float  `csv:"epsilon"`
	GuaranteeMetric string `csv:"guarantee_metric"`
	GuaranteeReason string `csv:"guarantee_reason"`
	Note            string `csv:"note"`
}

// WritePoints writes a CSV atomically.
func WritePoints(path string, points []Point) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error { return gocsv.Marshal(points, w) })
}

// ReadPoints reads what WritePoints wrote.
func ReadPoints(path string) ([]Point, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var points []Point
	if err := gocsv.UnmarshalFile(f, &points); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i, p := range points {
		if p.Schema != PointSchemaVersion {
			return nil, fmt.Errorf("%s:%d: schema = %d: this version of mldp reads schema %d", path, i+2, p.Schema, PointSchemaVersion)
		}
	}
	return points, nil
}

// WriteRows writes a slice of structs with csv tags as CSV.
func WriteRows(w io.Writer, rows any) error { return gocsv.Marshal(rows, w) }
