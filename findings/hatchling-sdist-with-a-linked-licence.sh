#!/usr/bin/env bash
# Seen 2026-11-28 with Python 3.11, hatchling 1.33.0 and pip 26.3.
# Behaviour: where LICENSE is a symbolic link to the file of the folder above, the wheel has the text of the licence, but
# the sdist has the link; pip then refuses to install from the sdist. Neither building says anything.
# One would guess: the text in both, since the sdist is what others build from.
# Who meets it: a Python package in a subfolder of a repository with one licence. Way out: copy the file, not a link, or
# try the sdist before publishing it: a wheel made from the folder does not show the fault.
# Output seen:
#   wheel: one licence for all
#   sdist: finding-1/LICENSE -> ../LICENSE
#   pip: 'LICENSE' would link to 'LICENSE', which is outside the destination
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p project/finding
echo "one licence for all" > LICENSE
ln -s ../LICENSE project/LICENSE
touch project/finding/__init__.py
cat > project/pyproject.toml <<'TOML'
[build-system]
requires = ["hatchling==1.33.0"]
build-backend = "hatchling.build"
[project]
name = "finding"
version = "1"
license-files = ["LICENSE"]
[tool.hatch.build.targets.wheel]
packages = ["finding"]
TOML
python3 -m venv venv
venv/bin/pip install -q pip==26.3 hatchling==1.33.0 2> log || { cat log >&2; exit 2; }
(cd project && ../venv/bin/hatchling build) > log 2>&1 || { cat log >&2; exit 2; }
{
  echo "wheel: $(venv/bin/python -m zipfile -e project/dist/*.whl wheel && cat wheel/*.dist-info/licenses/LICENSE)"
  echo "sdist: $(tar tvf project/dist/*.tar.gz | grep -o '[^ ]* -> .*')"
  if venv/bin/pip install -q --no-deps project/dist/*.tar.gz > log 2>&1; then
    echo "pip: installed"
  else
    grep -o "'LICENSE' would link.*" log | sed "s|link to '.*/LICENSE'|link to 'LICENSE'|; s|^|pip: |"
  fi
} | tee seen
diff seen - <<'OUT'
wheel: one licence for all
sdist: finding-1/LICENSE -> ../LICENSE
pip: 'LICENSE' would link to 'LICENSE', which is outside the destination
OUT
