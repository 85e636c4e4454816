// Package python holds what the program takes from the Python package.
package python

import _ "embed"

// Models is mldpbench/models.py, which answers as a model; see package
// mechanisms/external.
//
//go:embed mldpbench/models.py
var Models string
