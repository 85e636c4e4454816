package plots

// Measurements register the quantities of attackers.
import _ "mldpbench/experiments/measure"
