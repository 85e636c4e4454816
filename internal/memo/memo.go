// Package memo keeps values that are made once, by key, for those who share them.
package memo

import (
	"slices"
	"sync"
)

// Memo keeps values by key; its zero value is ready to use. It is safe for concurrent
// use. With Keep above 0, the value that was not asked for longest is forgotten where
// there are more; it is made again when it is needed again. Keep is set before the first
// use.
type Memo struct {
	Keep   int
	mu     sync.Mutex
	values map[any]*entry
	asked  []any // with Keep: the keys, the last asked for at the end
}

type entry struct {
	mu    sync.Mutex
	value any // nil until it is made
}

// Once returns the value that produce returned on its first success; concurrent users of
// one key wait for it. What fails, or panics, fails for its caller alone: whoever asks next
// tries again. The key is any comparable value; one of a type private to its package
// meets no other's, and stands for one T.
func Once[T any](m *Memo, key any, produce func() (T, error)) (T, error) {
	e := m.entry(key)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.value != nil {
		return e.value.(T), nil
	}
	v, err := produce()
	if err == nil {
		e.value = v
	}
	return v, err
}

// Values are those that were made and are still kept, in no order. It is called when
// nothing is made any more.
func (m *Memo) Values() []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []any
	for _, e := range m.values {
		if e.value != nil {
			all = append(all, e.value)
		}
	}
	return all
}

// entry is that of a key, which is now the last asked for.
func (m *Memo) entry(key any) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[any]*entry{}
	}
	e := m.values[key]
	if e == nil {
		e = &entry{}
		m.values[key] = e
	}
	if m.Keep > 0 {
		m.asked = append(slices.DeleteFunc(m.asked, func(k any) bool { return k == key }), key)
		if len(m.values) > m.Keep {
			m.forget()
		}
	}
	return e
}

// forget removes the value that was not asked for longest. One that is being
// made stays, and the newest.
func (m *Memo) forget() {
	for i, key := range m.asked[:len(m.asked)-1] {
		e := m.values[key]
		if !e.mu.TryLock() {
			continue
		}
		made := e.value != nil
		e.mu.Unlock()
		if made {
			delete(m.values, key)
			m.asked = slices.Delete(m.asked, i, i+1)
			return
		}
	}
}
