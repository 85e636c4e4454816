// Package python has mldpbench/models.py, which answers as a model: see package models/transformer.
package python

import _ "embed"

// Models is the program that answers as a model.
//
//go:embed mldpbench/models.py
var Models string
