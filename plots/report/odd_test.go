package report

import (
	"bytes"
	"testing"

	"mldpbench/results"
)

// A page of next to nothing is still a page: only a baseline, only undefined
// cells, names with control characters, an error without an accuracy.
func TestOddResults(t *testing.T) {
	base := results.NewRow()
	base.Study, base.Dataset, base.Mechanism, base.Model = "odd\x1b[31m", "a\x00b <x>", "none", "svm"
	undefined := results.NewRow()
	undefined.Dataset, undefined.Mechanism, undefined.Variant, undefined.Epsilon = "a", "gumbel", "proved", results.Float(1)
	undefined.Status, undefined.Reason = results.StatusUndefined, "because"
	private := results.NewRow()
	private.Dataset, private.Mechanism, private.Epsilon, private.GuaranteeReason = "a", "outside\x07", results.Float(1e300), "told"
	for name, rows := range map[string][]results.Row{
		"baseline": {base.Of("accuracy", results.Number(80))}, "undefined": {undefined},
		"outside": {private.Of("n_w", results.Number(3))},
		"error":   {private.Of("e_m_map", results.Number(0.5)), base.Of("accuracy", results.Number(80))},
	} {
		p, err := results.Prepare(results.Run{Name: name, Rows: rows})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Write(&b, Input{Prepared: p}); err != nil || !bytes.HasSuffix(b.Bytes(), []byte("</html>\n")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
