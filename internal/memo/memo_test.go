package memo

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"mldpbench/internal/check"
)

// The value that was not asked for longest is made again; one that is being made
// is never forgotten.
func TestOnceForgets(t *testing.T) {
	made := map[int]int{}
	m := &Memo{Keep: 2}
	get := func(key int) {
		t.Helper()
		v, err := Once(m, key, func() (int, error) { made[key]++; return 10 * key, nil })
		if v != 10*key || err != nil {
			t.Fatalf("value of %d = %d, %v, want %d", key, v, err, 10*key)
		}
	}
	for _, key := range []int{1, 2, 1, 3, 1, 2} { // 3 replaces 2, then 2 replaces 3
		get(key)
	}
	if made[1] != 1 || made[2] != 2 || made[3] != 1 || len(m.Values()) != 2 {
		t.Errorf("made %v times, want 1: 1, 2: 2, 3: 1; %d kept, want 2", made, len(m.Values()))
	}
	m = &Memo{Keep: 1}
	slow, ready := make(chan bool), make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = Once(m, 1, func() (int, error) { close(ready); <-slow; return 1, nil })
	})
	<-ready
	for key := range 3 {
		_, _ = Once(m, key+2, func() (int, error) { return key, nil })
	}
	close(slow)
	wg.Wait()
	if v, err := Once(m, 1, func() (int, error) { return 0, errors.New("made twice") }); v != 1 || err != nil {
		t.Errorf("the value that was being made = %d, %v, want 1", v, err)
	}
}

// A failure of one caller, an error or a panic, is not that of the next who asks for
// the same; concurrent ones make a value once; equal values of two types are two keys.
func TestOnceKeepsNoFailure(t *testing.T) {
	type first struct{ number int }
	type second struct{ number int }
	var m Memo
	for _, fail := range []func() (int, error){
		func() (int, error) { return 0, errors.New("cancelled") },
		func() (int, error) { panic("of one caller") },
	} {
		if err := check.Panics(func() error { _, err := Once(&m, first{1}, fail); return err }); err == nil {
			t.Fatal("a failure returned no error")
		}
	}
	var made atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if v, err := Once(&m, first{1}, func() (int, error) { return int(made.Add(1)), nil }); v != 1 || err != nil {
				t.Errorf("value = %d, %v, want 1", v, err)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("made %d times, want once", made.Load())
	}
	if v, _ := Once(&m, second{1}, func() (string, error) { return "other", nil }); v != "other" {
		t.Errorf("value of another type's key = %q, want %q", v, "other")
	}
}
