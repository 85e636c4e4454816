// Package deps holds the versions of modules in go.mod while the packages that use them are being written.
package deps

import (
	_ "github.com/gocarina/gocsv"
	_ "github.com/goccy/go-yaml"
	_ "github.com/knights-analytics/hugot"
	_ "github.com/nwaples/rardecode/v2"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/spf13/cobra"
	_ "go4.org/unsafe/assume-no-moving-gc"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/cpu"
	_ "golang.org/x/term"
	_ "golang.org/x/text/unicode/norm"
	_ "gonum.org/v1/gonum/mat"
	_ "gonum.org/v1/gonum/mathext"
	_ "gonum.org/v1/gonum/stat/distuv"
	_ "gonum.org/v1/plot/vg/vgimg"
	_ "gonum.org/v1/plot/vg/vgpdf"
	_ "gonum.org/v1/plot/vg/vgsvg"
	_ "gorgonia.org/gorgonia"
	_ "gorgonia.org/tensor"
)
