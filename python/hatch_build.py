"""Builds the program with Go into the wheel: that of $GOOS and $GOARCH, else of this machine.

An sdist has the Go sources of the program in the folder go, an editable install builds into mldpbench/bin.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
_PACKED = HERE / "go"  # of an sdist
_VERSION = "VERSION"  # of an sdist, as no commit says it there
SOURCE = _PACKED if _PACKED.exists() else HERE.parent
TAGS = {"linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
        "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
        "darwin/amd64": "macosx_12_0_x86_64", "darwin/arm64": "macosx_12_0_arm64",
        "windows/amd64": "win_amd64", "windows/arm64": "win_arm64"}


# Files of a package that its build reads on some system.
_FILES = ("{{$p := .}}{{with .Module}}{{if .Main}}"
          "{{range $p.GoFiles}}{{$p.Dir}}/{{.}}\n{{end}}{{range $p.SFiles}}{{$p.Dir}}/{{.}}\n{{end}}"
          "{{range $p.EmbedFiles}}{{$p.Dir}}/{{.}}\n{{end}}{{range $p.HFiles}}{{$p.Dir}}/{{.}}\n{{end}}"
          "{{end}}{{end}}")


def said(*command: str, **environment: str) -> str:
    """What a command in the folder of the sources wrote."""
    return subprocess.check_output(command, cwd=SOURCE, text=True, env={**os.environ, **environment}).strip()


def version() -> str:
    """That of $MLDP_VERSION, else of the sdist, else of the commit."""
    if named := os.environ.get("MLDP_VERSION"):
        return named
    if _PACKED.exists():
        return (_PACKED / _VERSION).read_text(encoding="utf-8").strip()
    return subprocess.getoutput(f"git -C '{SOURCE}' describe --always --dirty 2>{os.devnull}") or "unknown"


def pep440(name: str) -> str:
    """A version that pip takes: v1.2.3 is 1.2.3, the name of a commit becomes a local version."""
    plain = name.removeprefix("v")
    if re.fullmatch(r"\d+(\.\d+)+", plain):
        return plain
    return "0.dev0+" + re.sub(r"[^a-z0-9]+", ".", plain.lower()).strip(".")


def compiler() -> str:
    """Go's command."""
    go = os.environ.get("GO", "go")
    if shutil.which(go) is None:
        raise SystemExit("mldpbench: this needs Go, which is not on the path")
    return go


def sources() -> list[Path]:
    """The files from which the program is built on all systems, and those that go with it."""
    files = {SOURCE / name for name in ("go.mod", "go.sum", ".ci/notices")}
    for platform in TAGS:
        system, _, processor = platform.partition("/")
        listed = said(compiler(), "list", "-deps", "-f", _FILES, "./cmd/mldp", GOOS=system, GOARCH=processor,
                      CGO_ENABLED="0")
        files.update(Path(line) for line in listed.splitlines())
    return sorted(files)


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """The hook of both targets."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the sources to an sdist, the program to a wheel.

        Args:
            version: "standard", or "editable" for ``pip install -e``.
            build_data: what hatchling packs.
        """
        self.built = Path(tempfile.mkdtemp())
        if self.target_name == "sdist":
            self._pack(build_data["force_include"])
            return
        go = compiler()
        system, processor = said(go, "env", "GOOS", "GOARCH").split()
        name = "mldp.exe" if system == "windows" else "mldp"
        editable = version == "editable"
        program = HERE / "mldpbench" / "bin" / name if editable else self.built / name
        self._build(go, program)
        if not editable:
            self._include(program, build_data["force_include"])
        build_data["pure_python"] = False
        if tag := TAGS.get(f"{system}/{processor}"):
            build_data["tag"] = f"py3-none-{tag}"
        else:
            build_data["infer_tag"] = True

    def _pack(self, files: dict[str, str]) -> None:
        """Copies of the sources and their version, in the folder that a build looks for.

        Copies, as hatchling packs a file once, and models.py is one of the package and of the program.
        """
        for source in sources():
            copied = self.built / source.relative_to(SOURCE)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copied)
        (self.built / _VERSION).write_text(version(), encoding="utf-8")
        for copied in sorted(self.built.rglob("*")):
            if copied.is_file():
                files[str(copied)] = f"{_PACKED.name}/{copied.relative_to(self.built).as_posix()}"
        del files[os.path.join(self.root, "LICENSE")]  # a link out of the sdist, which pip refuses
        licence = shutil.copy(HERE / "LICENSE", self.built / "LICENSE")
        files[str(licence)] = "LICENSE"

    def _build(self, go: str, program: Path) -> None:
        said(go, "build", "-trimpath", "-buildvcs=false", "-ldflags", f"-s -w -X main.version={version()}", "-o",
             str(program), "./cmd/mldp", CGO_ENABLED="0")

    def _include(self, program: Path, files: dict[str, str]) -> None:
        """The program and the licences of what is in it."""
        files[str(program)] = f"mldpbench/bin/{program.name}"
        if bash := shutil.which("bash"):
            notices = self.built / "THIRD_PARTY.txt"
            environment = {**os.environ, "CGO_ENABLED": "0"}
            notices.write_bytes(subprocess.check_output([bash, ".ci/notices"], cwd=SOURCE, env=environment))
            files[str(notices)] = "mldpbench/bin/THIRD_PARTY.txt"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Removes what was built outside of the package."""
        shutil.rmtree(self.built)
