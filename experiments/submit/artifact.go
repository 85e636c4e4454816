package submit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/internal/atomicfile"
)

// MakeArtifact writes a folder with all of a run: study, rows, test items,
// checksums, the commands that repeat it, an appendix for an artefact evaluation
// and a citation; more adds tables, figures and the page. The folder is a
// package: Verify takes it.
func MakeArtifact(dir, out string, more func(to string) error) (*Package, error) {
	m, s, rows, err := read(dir)
	if err != nil {
		return nil, err
	}
	return build(m, s, rows, dir, out, Artifact, func(to string) error {
		manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			return err
		}
		seconds := 0.0
		for _, r := range rows {
			if r.Seconds.Known() {
				seconds += float64(r.Seconds)
			}
		}
		put := func(name, text string) error {
			return atomicfile.WriteBytes(filepath.Join(to, name), 0o644, []byte(text))
		}
		return errors.Join(put("manifest.json", string(manifest)), put("commands.sh", commands),
			put("APPENDIX.md", appendix(m, len(rows), seconds)), put("CITATION.cff", citation(m)), more(to))
	})
}

// commands repeats the artefact in its own folder.
const commands = `#!/bin/sh
# Repeats this artefact in its folder. The data must be there: mldp data list.
set -e
mldp verify .                               # all rows again, compared number by number
mldp run study.yaml --out again             # the same as a run to look at
mldp compare results.csv again              # no difference is expected
mldp tables again --out again/tables
mldp figures again --out again/figures
`

// appendix follows the form that conferences ask for (ACM, USENIX: abstract,
// check-list, description, installation, workflow, results, customisation).
func appendix(m *engine.Manifest, rows int, seconds float64) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# Artefact appendix: %s\n", m.Study)
	p("## Abstract\n\nThe study `study.yaml`, its %d rows with intervals and answers on test items, tables and figures, "+
		"made with mldp %s.\n", rows, m.Version)
	p("## Check-list\n")
	p("- Program: mldpbench %s (Go, no other program)", m.Version)
	p("- Run on: %s", m.Machine)
	p("- Run time: %.2g hours on one core, the sum over units", seconds/3600)
	p("- Data: see below; not part of the artefact")
	p("- Metrics: the columns quantity, value, low and high of `results.csv`")
	p("- Publicly available, licences: to be stated by the authors")
	p("\n## Description\n\n| file | what |\n|---|---|")
	p("| study.yaml | the study with all settings and its seed |\n| results.csv, results.documents.csv | rows, and answers " +
		"on test items |\n| tables, figures, report.html | made from the rows |\n| manifest.json | fingerprints of " +
		"data, version, machine, command |\n| package.json | SHA-256 of every file |\n| commands.sh | what repeats it |")
	p("\n### Data\n")
	for _, d := range m.Datasets {
		p("- %s: %d training and %d test documents, fingerprint `%.16s…`", d.Name, d.TrainDocuments, d.TestDocuments,
			d.Fingerprint)
	}
	if len(m.Datasets) == 0 {
		p("- none was read in this run: finished units were used; fingerprints are in manifest.json")
	}
	p("\n`mldp data fetch` gets what may be fetched, and says how to get the rest.")
	p("\n## Installation\n\nGo 1.26 or newer: `go build ./cmd/mldp` in mldpbench at version %s.", m.Version)
	p("\n## Workflow\n\n```sh\nsh commands.sh\n```")
	p("\n## Results to expect\n\n`mldp verify .` says *recomputed*: every number and every answer is the same, on any " +
		"number of workers. Only columns of time differ.")
	p("\n## Customisation\n\nEdit study.yaml: mechanisms, epsilons, data sets, measurements; `mldp study keys` " +
		"lists all keys.")
	return b.String()
}

func citation(m *engine.Manifest) string {
	return fmt.Sprintf(`cff-version: 1.2.0
message: If you use this artefact, please cite it and the papers of the mechanisms that it measures.
title: "Artefact of the study %s"
type: dataset
authors:
  - name: to be stated by the authors
date-released: %s
references:
  - type: software
    title: mldpbench
    version: "%s"
    authors:
      - name: The mldpbench authors
`, m.Study, m.Started.Format("2006-01-02"), m.Version)
}
