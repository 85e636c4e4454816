package experiments

import (
	"fmt"
	"strings"
	"time"

	"mldpbench/datasets/table"
	"mldpbench/internal/check"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

// DefaultRelease is the name of a release that nobody named.
const DefaultRelease = "release"

// Keyed says from which secret noise is drawn, so that it can be repeated by who has it; see privatize.Stream.Keyed.
type Keyed struct {
	Key     string // file of the key; "": there is none
	Release string // name of the release; another name is another draw
	Ledger  string // file of all runs with a key, one line each; "": there is none
}

// check returns an error for what has no meaning without a key, or with one. fixed says that the mechanism and its ε
// are given, not looked for in the text.
func (k Keyed) check(id string, seeded, fixed bool) error {
	switch {
	case k.Key == "" && (id != "" || k.Ledger != "" || k.Release != DefaultRelease):
		return check.Wrong("--id, --release and --ledger belong to a --key")
	case k.Key == "":
		return nil
	case id == "":
		return check.Wrong("--key needs --id: the column that tells rows apart, or %s for plain lines", table.LineID)
	case seeded:
		return check.Wrong("--key and --seed: give one of them")
	case !fixed:
		return check.Wrong("--key and --target: parts of a table would get another epsilon each; find it first, with " +
			"mldp calibrate, and give it by --epsilon")
	case k.Release == "":
		return check.Wrong("release: must have a name")
	}
	return check.Name("release", k.Release)
}

// readKey reads the key into the options of texts, and returns the seed of all that is random beside them.
func (k Keyed) readKey(o *privatize.Options) (stream.Seed, error) {
	key, err := privatize.ReadKey(k.Key)
	if err != nil {
		return stream.Seed{}, err
	}
	o.Key = key
	o.Release = k.Release
	return key.Root(k.Release), nil
}

// openLedger opens the ledger, where there is one, and returns an error where the run can't go on with its release.
func (p *privatizing) openLedger() (err error) {
	if p.options.Key == nil {
		return nil
	}
	p.report.Key = p.options.Key.Name()
	p.report.Release = p.Release
	if p.Ledger == "" {
		return nil
	}
	p.ledger, err = privatize.ReadLedger(p.Ledger)
	if err != nil {
		return err
	}
	return p.ledger.Check(p.entry())
}

// addToLedger writes the run into the ledger, and says what each release has spent.
func (p *privatizing) addToLedger() error {
	if p.ledger == nil {
		return nil
	}
	if err := p.ledger.Add(p.entry()); err != nil {
		return err
	}
	p.report.Ledger = p.ledger.Spent()
	for _, spent := range p.report.Ledger {
		if spent.Release != p.Release {
			continue
		}
		p.note("ledger: release %q, %s: runs %d, rows %d, epsilon per %s %.6g in sum", spent.Release, spent.Mechanism,
			spent.Runs, spent.Rows, spent.Unit, spent.Epsilon)
	}
	return nil
}

// entry is the line of the ledger of the run.
func (p *privatizing) entry() privatize.Entry {
	settings := p.options.Mechanism.Settings()
	mechanism := fmt.Sprintf("%s %s %s", settings.Mechanism, settings.Variant, settings.Parameters)
	e := privatize.Entry{
		Date:      time.Now().UTC().Truncate(time.Second),
		Release:   p.Release,
		Mechanism: strings.TrimSpace(mechanism),
		Epsilon:   settings.Epsilon,
		Unit:      "word",
		Rows:      p.report.Summary.Rewritten + p.report.Summary.Wordless,
		Key:       p.options.Key.Name(),
		Vectors:   p.options.Vectors,
	}
	if p.options.Mechanism.Documents() != nil {
		e.Unit = "document"
	}
	if p.DocumentEpsilon > 0 {
		e.Epsilon = p.DocumentEpsilon
		e.Unit = "document"
	}
	return e
}
