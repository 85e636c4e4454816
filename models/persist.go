package models

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
)

// errNotFitted is returned by Predict, Score and Save before Fit or Load;
// errFitted by a second Fit.
var (
	errNotFitted = errors.New("model is not trained: call Fit or Load first")
	errFitted    = errors.New("model is already trained: build a new one to train again")
)

// stateVersion is bumped when the layout of any saved state changes.
const stateVersion = 1

type stateHeader struct {
	Magic   string
	Version int
	Model   string
}

// saveState writes a model's trained state. State types hold no maps, so equal
// weights give equal bytes.
func saveState(w io.Writer, model string, state any) error {
	enc := gob.NewEncoder(w)
	if err := enc.Encode(stateHeader{"mldp-model", stateVersion, model}); err != nil {
		return fmt.Errorf("save %s: %w", model, err)
	}
	if err := enc.Encode(state); err != nil {
		return fmt.Errorf("save %s: %w", model, err)
	}
	return nil
}

// loadState reads what saveState wrote, into a pointer to the state.
func loadState(r io.Reader, model string, state any) error {
	dec := gob.NewDecoder(r)
	var h stateHeader
	if err := dec.Decode(&h); err != nil || h.Magic != "mldp-model" {
		return fmt.Errorf("load %s: not a saved model", model)
	}
	if h.Version != stateVersion {
		return fmt.Errorf("load %s: format version %d: must be %d", model, h.Version, stateVersion)
	}
	if h.Model != model {
		return fmt.Errorf("load %s: the file holds a model %q", model, h.Model)
	}
	if err := dec.Decode(state); err != nil {
		return fmt.Errorf("load %s: %w", model, err)
	}
	return nil
}
