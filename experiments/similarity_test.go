package experiments

import (
	"bytes"
	"strings"
	"testing"
)

// A machine without a sentence encoder measures CS with SIF, and every row
// says so.
func TestCSFallsBackToSIF(t *testing.T) {
	s := small(t, func(s *Study) {
		s.Datasets, s.Mechanisms = s.Datasets[:1], s.Mechanisms[:1]
		s.Metrics.CS = CSOptions{Encoder: catalogueEncoder, Documents: 5}
	})
	var log bytes.Buffer
	sum := mustRun(t, s, RunOptions{Root: t.TempDir(), Out: t.TempDir(), Log: &log})
	measured := 0
	for _, r := range sum.Records {
		if !r.CS.Known() {
			continue
		}
		measured++
		if r.CSEncoder != sifEncoder || r.CSDocuments != 5 {
			t.Errorf("cs_encoder = %q over %d documents", r.CSEncoder, r.CSDocuments)
		}
	}
	if measured == 0 {
		t.Error("CS was not measured")
	}
	if !strings.Contains(log.String(), "mldp data fetch sentence-encoder") {
		t.Errorf("the log does not say how to get an encoder: %s", &log)
	}
}
