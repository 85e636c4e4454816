#!/bin/sh
# Repeats this artefact in its folder. The data must be there: mldp data list.
set -e
mldp verify .                               # all rows again, compared number by number
mldp run study.yaml --out again             # the same as a run to look at
mldp compare results.csv again              # no difference is expected
mldp tables again --out again/tables
mldp figures again --out again/figures
