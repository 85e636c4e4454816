package mechanisms

// UndefinedError means that a mechanism does not exist at its settings: there
// is nothing to run, and a study reports that as its result. Definition.New
// returns it, possibly wrapped.
type UndefinedError struct {
	Reason string // one sentence with the condition that is not met
	// SmallestEpsilon is the smallest ε at which the mechanism exists, 0 if
	// unknown.
	SmallestEpsilon float64
}

func (e *UndefinedError) Error() string { return "undefined: " + e.Reason }
