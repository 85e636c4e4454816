#!/usr/bin/env bash
# Seen 2026-11-28 with Python 3.11, hatchling 1.33.0 and pip 23.2.1.
# Behaviour: a build hook that adds a file to build_data["force_include"] puts it into the wheel, but an editable
# installation made by the same hook does not have it: no error, no warning.
# One would guess: an editable package has the files that the wheel has, or says that it can't.
# Who meets it: packages that ship a program or a compiled table made while building. Way out: where the hook's version
# is "editable", write the file beside the sources.
# Output seen:
#   wheel: True
#   editable: False
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p project/finding
cat > project/pyproject.toml <<'TOML'
[build-system]
requires = ["hatchling==1.33.0"]
build-backend = "hatchling.build"
[project]
name = "finding"
version = "1"
[tool.hatch.build.targets.wheel]
packages = ["finding"]
[tool.hatch.build.targets.wheel.hooks.custom]
TOML
cat > project/hatch_build.py <<'PY'
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        made = Path(self.root, "made.txt")
        made.write_text("made while building\n")
        build_data["force_include"][str(made)] = "finding/made.txt"
PY
cat > project/finding/__init__.py <<'PY'
from importlib.resources import files

has_made = files(__name__).joinpath("made.txt").is_file()
PY
for kind in wheel editable; do
  python3 -m venv "$kind"
  option=; [ "$kind" = wheel ] || option=-e
  "$kind/bin/pip" install -q $option ./project 2> log || { cat log >&2; exit 2; }
  (cd / && echo "$kind: $("$work/$kind/bin/python" -c 'import finding; print(finding.has_made)')")
done | tee seen
diff seen - <<'OUT'
wheel: True
editable: False
OUT
