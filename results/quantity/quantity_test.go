package quantity

import (
	"strings"
	"testing"
)

func TestQuantities(t *testing.T) {
	for _, q := range All() {
		got, err := Find(q.Name)
		if err != nil {
			t.Errorf("%s: %v, want that it is found", q.Name, err)
		}
		if got.Name != q.Name {
			t.Errorf("%s: found %s, want itself", q.Name, got.Name)
		}
		if got.Title != q.Title {
			t.Errorf("%s: title %q, want %q", q.Name, got.Title, q.Title)
		}
		if q.Derived && q.Threshold != 0 {
			t.Errorf("%s: threshold %g, want none for what follows from other rows", q.Name, q.Threshold)
		}
		if q.Timing && q.Title != "" {
			t.Errorf("%s: title %q, want none for a time", q.Name, q.Title)
		}
		if q.RunsOf != "" {
			if _, err := Find(q.RunsOf); err != nil {
				t.Errorf("%s: runs_of = %q: %v, want a quantity", q.Name, q.RunsOf, err)
			}
		}
	}
	_, err := Find("acuracy")
	if err == nil || !strings.Contains(err.Error(), `"acuracy"`) {
		t.Errorf("acuracy: error %v, want one that names it", err)
	}
}

func TestUsual(t *testing.T) {
	for _, of := range []string{"utility", "privacy"} {
		var names []string
		for _, q := range All() {
			if q.Usual == of {
				names = append(names, q.Name)
			}
		}
		if len(names) != 1 {
			t.Errorf("usual %s is %q, want one quantity", of, names)
		}
	}
	if got := UsualUtility(); got != "accuracy" {
		t.Errorf("usual utility is %s, want accuracy", got)
	}
	if got := UsualPrivacy(); got != "em" {
		t.Errorf("usual privacy is %s, want em", got)
	}
}
