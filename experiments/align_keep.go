package experiments

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/plan"
	"mldpbench/internal/atomicfile"
	"mldpbench/results"
)

// keep copies the run that the folder holds to a folder in it where rows of it would be
// replaced: those at other levels, or of mechanisms, data sets, spaces or models that this
// run does not have. The ε differ from run to run.
func (a *aligning) keep() error {
	folder := cmp.Or(a.options.Out, filepath.Join("runs", a.Name))
	m, err := engine.ReadManifest(filepath.Join(folder, "manifest.json"))
	if errors.Is(err, fs.ErrNotExist) || a.options.Force {
		return nil
	}
	if err != nil {
		return err
	}
	if m.Records == 0 { // interrupted before the first rows
		return nil
	}
	lost := "rows at other epsilons"
	if alignedAt(m.Command) == alignedAt(a.options.Command) {
		if lost, err = a.lost(filepath.Join(folder, "results.csv")); lost == "" || err != nil {
			return err
		}
	}
	kept := filepath.Join(folder, "before")
	for i := 2; ; i++ {
		if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
			break
		}
		kept = filepath.Join(folder, fmt.Sprintf("before-%d", i))
	}
	if err := os.Mkdir(kept, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"results.csv", "manifest.json", "report.html"} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = atomicfile.WriteBytes(filepath.Join(kept, name), 0o644, data)
		}
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(cmp.Or(a.options.Log, io.Discard),
		"%s holds %s, which this run does not have: its rows and page are kept in %s\n", folder, lost, kept)
	return nil
}

// lost names a row of a file that is of what this run does not have, "" for none.
func (a *aligning) lost(file string) (string, error) {
	p, err := plan.New(a.Study)
	if err != nil {
		return "", err
	}
	where := func(p results.Place) results.Place {
		return results.Place{
			Dataset:         p.Dataset,
			Embedding:       p.Embedding,
			Dimension:       p.Dimension,
			Mechanism:       p.Mechanism,
			Variant:         p.Variant,
			Parameters:      p.Parameters,
			Model:           p.Model,
			ModelParameters: p.ModelParameters,
		}
	}
	own := map[results.Place]bool{}
	for _, place := range p.Places() {
		own[where(place)] = true
		own[where(place.Text())] = true
	}
	rows, err := results.Read(file)
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if !own[where(r.Place)] {
			names := strings.Fields(r.Dataset + " " + r.Embedding + " " + r.Mechanism + " " + r.Model)
			return "rows of " + strings.Join(names, ", "), nil
		}
	}
	return "", nil
}

// alignedAt is the value of --align in a command line, "" for none.
func alignedAt(command []string) string {
	for i, word := range command {
		if value, found := strings.CutPrefix(word, "--align="); found {
			return value
		}
		if word == "--align" && i+1 < len(command) {
			return command[i+1]
		}
	}
	return ""
}
