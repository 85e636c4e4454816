package mechanisms_test

// The template of CONTRIBUTING conforms like the mechanisms that are here.
import _ "mldpbench/examples/recipes/mechanism"
