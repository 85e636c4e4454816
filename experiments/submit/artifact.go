package submit

import (
	"embed"
	"errors"
	"io"
	"os"
	"path/filepath"
	"text/template"

	"mldpbench/experiments/engine"
	"mldpbench/internal/atomicfile"
)

// The texts of an artefact: the commands that repeat it, a citation, and an
// appendix in the form that conferences ask for (ACM, USENIX: abstract,
// check-list, description, installation, workflow, results, customisation).
//
//go:embed artifact
var artifactFiles embed.FS

var artifactTexts = template.Must(template.ParseFS(artifactFiles, "artifact/*"))

// MakeArtifact writes a folder with all of a run: study, rows, test items,
// checksums, the commands that repeat it, an appendix for an artefact evaluation
// and a citation; more adds tables, figures and the page. The folder is a
// package: Verify takes it.
func MakeArtifact(dir, out string, more func(to string) error) (*Package, error) {
	m, s, rows, err := read(dir)
	if err != nil {
		return nil, err
	}
	view := struct {
		*engine.Manifest
		Rows  int
		Hours float64
	}{m, len(rows), 0}
	for _, r := range rows {
		if r.Seconds.Known() {
			view.Hours += float64(r.Seconds) / 3600
		}
	}
	return build(m, s, rows, dir, out, Artifact, func(to string) error {
		manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			return err
		}
		err = atomicfile.WriteBytes(filepath.Join(to, "manifest.json"), 0o644, manifest)
		for _, t := range artifactTexts.Templates() {
			err = errors.Join(err, atomicfile.Write(filepath.Join(to, t.Name()), 0o644, func(w io.Writer) error {
				return t.Execute(w, view)
			}))
		}
		return errors.Join(err, more(to))
	})
}
