package results

import "testing"

func TestNewRecordMeasuredNothing(t *testing.T) {
	r := NewRecord()
	if r.Schema != SchemaVersion || r.Accuracy.Known() || r.CS.Known() || r.TotalSeconds.Known() {
		t.Fatalf("%+v", r)
	}
}
