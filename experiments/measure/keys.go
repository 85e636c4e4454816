package measure

import (
	"embed"

	"mldpbench/experiments/study"
)

// keys are the files with the options of metrics, whose comments say what they
// mean.
//
//go:embed cs.go deniability.go document_loss.go inference.go paper_*.go perplexity.go texts.go
var keys embed.FS

func init() { study.RegisterSources(keys) }
