"""Builds the wheels of mldpbench into dist/: one for each program in dist/, and one without a program.

Equal input gives equal files. Usage: python3 python/wheels.py VERSION [DIST]
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

TAGS = {"linux-amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64", "linux-arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64",
        "darwin-amd64": "macosx_11_0_x86_64", "darwin-arm64": "macosx_11_0_arm64",
        "windows-amd64": "win_amd64", "windows-arm64": "win_arm64"}
SUMMARY = "Measure word-level metric differential privacy (MLDP) for text"


def pep440(version: str) -> str:
    """A version that pip takes: 1.2.3 stays, the name of a commit becomes a local version."""
    plain = version.removeprefix("v")
    if re.fullmatch(r"\d+(\.\d+)*", plain):
        return plain
    return "0.dev0+" + re.sub(r"[^a-z0-9]+", ".", plain.lower()).strip(".")


def wheel(version: str, tag: str, program: Path | None, out: Path) -> Path:
    """Writes one wheel; program is None for the one without."""
    here = Path(__file__).parent
    info = f"mldpbench-{version}.dist-info"
    files: list[tuple[str, bytes, int]] = []
    for source in sorted((here / "mldpbench").glob("*")):
        if source.suffix in (".py", ".typed"):
            files.append((f"mldpbench/{source.name}", source.read_bytes(), 0o644))
    if program is not None:
        name = "mldp.exe" if program.suffix == ".exe" else "mldp"
        files.append((f"mldpbench/bin/{name}", program.read_bytes(), 0o755))
        notices = out / "THIRD_PARTY.txt"
        if notices.exists():
            files.append((f"{info}/THIRD_PARTY.txt", notices.read_bytes(), 0o644))
    files.append((f"{info}/METADATA", (
        f"Metadata-Version: 2.1\nName: mldpbench\nVersion: {version}\nSummary: {SUMMARY}\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.9\n").encode(), 0o644))
    files.append((f"{info}/entry_points.txt", b"[console_scripts]\nmldp = mldpbench._program:main\n", 0o644))
    pure = str(program is None).lower()
    files.append((f"{info}/WHEEL", (
        f"Wheel-Version: 1.0\nGenerator: mldpbench\nRoot-Is-Purelib: {pure}\n" +
        "".join(f"Tag: py3-none-{t}\n" for t in tag.split("."))).encode(), 0o644))
    files.append((f"{info}/LICENSE", (here.parent / "LICENSE").read_bytes(), 0o644))
    record = "".join(
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for name, data, _ in files) + f"{info}/RECORD,,\n"
    files.append((f"{info}/RECORD", record.encode(), 0o644))
    path = out / f"mldpbench-{version}-py3-none-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in files:
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return path


def main() -> None:
    version, dist = sys.argv[1], Path(sys.argv[2] if len(sys.argv) > 2 else "dist")
    dist.mkdir(exist_ok=True)
    print(wheel(pep440(version), "any", None, dist))
    for platform, tag in TAGS.items():
        for program in sorted(dist.glob(f"mldp-{version}-{platform}*")):
            print(wheel(pep440(version), tag, program, dist))


if __name__ == "__main__":
    main()
