// Package docs holds the pages that the program prints.
package docs

import _ "embed"

// StudyKeys is the reference of the keys of study files. A test makes it from
// the schema.
//
//go:embed study-keys.md
var StudyKeys string
