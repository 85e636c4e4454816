package plan

import (
	"testing"

	"mldpbench/mechanisms"
	"mldpbench/mechanisms/audit"
	"mldpbench/results"
)

// A verdict has the lower bound of what was audited, exact or by draws, and none of what
// was not.
func TestAuditRow(t *testing.T) {
	t.Parallel()
	for method, want := range map[audit.Method]struct {
		lower results.Optional
		exact bool
	}{audit.Exact: {results.Float(2), true}, audit.Sampled: {results.Float(2), false},
		audit.NoAudit: {results.Missing, false}} {
		r := audit.Report{Method: method, EpsilonLowerBound: 2, Settings: mechanisms.Settings{Mechanism: "cmp",
			Epsilon: 5}}
		row := AuditRow(r, "")
		if row.Lower != want.lower {
			t.Errorf("method %q: lower bound %v, want %v", method, row.Lower, want.lower)
		}
		if row.Exact != want.exact {
			t.Errorf("method %q: exact is %v, want %v", method, row.Exact, want.exact)
		}
	}
}
