"""Builds the program with Go into the wheel: that of $GOOS and $GOARCH, else of this machine."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path(__file__).resolve().parent.parent
TAGS = {"linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
        "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
        "darwin/amd64": "macosx_12_0_x86_64", "darwin/arm64": "macosx_12_0_arm64",
        "windows/amd64": "win_amd64", "windows/arm64": "win_arm64"}


def said(*command: str) -> str:
    return subprocess.check_output(command, cwd=SOURCE, text=True).strip()


def version() -> str:
    """That of $MLDP_VERSION, else of the commit."""
    commit = subprocess.getoutput(f"git -C '{SOURCE}' describe --always --dirty 2>{os.devnull}")
    return os.environ.get("MLDP_VERSION") or commit or "unknown"


def pep440(name: str) -> str:
    """A version that pip takes: v1.2.3 is 1.2.3, the name of a commit becomes a local version."""
    plain = name.removeprefix("v")
    if re.fullmatch(r"\d+(\.\d+)+", plain):
        return plain
    return "0.dev0+" + re.sub(r"[^a-z0-9]+", ".", plain.lower()).strip(".")


class CustomBuildHook(BuildHookInterface):
    def initialize(self, _: str, build_data: dict) -> None:
        go = os.environ.get("GO", "go")
        if shutil.which(go) is None:
            raise SystemExit("mldpbench: this builds a program with Go, which is not on the path")
        system, processor = said(go, "env", "GOOS", "GOARCH").split()
        self.built = tempfile.mkdtemp()
        program = Path(self.built, "mldp.exe" if system == "windows" else "mldp")
        os.environ["CGO_ENABLED"] = "0"
        said(go, "build", "-trimpath", "-buildvcs=false", "-ldflags", f"-s -w -X main.version={version()}", "-o",
             str(program), "./cmd/mldp")
        files = build_data["force_include"]
        files[str(program)] = f"mldpbench/bin/{program.name}"
        if bash := shutil.which("bash"):
            notices = Path(self.built, "THIRD_PARTY.txt")
            notices.write_bytes(subprocess.check_output([bash, ".ci/notices"], cwd=SOURCE))
            files[str(notices)] = "mldpbench/bin/THIRD_PARTY.txt"
        build_data["pure_python"] = False
        if tag := TAGS.get(f"{system}/{processor}"):
            build_data["tag"] = f"py3-none-{tag}"
        else:
            build_data["infer_tag"] = True

    def finalize(self, *_: object) -> None:
        shutil.rmtree(self.built)
