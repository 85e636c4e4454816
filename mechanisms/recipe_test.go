package mechanisms_test

// The templates of CONTRIBUTING conform like the mechanisms that are here.
import (
	_ "mldpbench/examples/recipes/documentmechanism"
	_ "mldpbench/examples/recipes/formulamechanism"
	_ "mldpbench/examples/recipes/noisemechanism"
	_ "mldpbench/examples/recipes/scoresmechanism"
)
