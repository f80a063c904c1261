#!/usr/bin/env python3
"""python/build_wheel.py BUILD_FOLDER OUTPUT_FOLDER VERSION: a wheel of the package and the libraries of a build.

It needs nothing but Python. The libraries are for this kind of machine, and find LuaJIT and TBB installed, so the wheel's tag is
linux_x86_64: it is for machines like this one, not for an index."""
import base64
import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile

libraries = ["libgpulua.so.0", "libgpulua-cuda.so", "libgpulua-cpu.so", "libgpulua-cpu-compiler.so"]

metadata = """Metadata-Version: 2.1
Name: gpulua
Version: {version}
Summary: Scripts in Lua that compute on GPUs, with arrays of NumPy, CuPy and torch
License: MIT
Requires-Python: >=3.9
"""
wheel = """Wheel-Version: 1.0
Generator: gpulua
Root-Is-Purelib: false
Tag: py3-none-linux_x86_64
"""


def stripped(path):
    with tempfile.NamedTemporaryFile() as copy:
        subprocess.run(["strip", "-o", copy.name, path.resolve()], check=True)
        return pathlib.Path(copy.name).read_bytes()


def main(build, output, version):
    source = pathlib.Path(__file__).resolve().parent
    folder = f"gpulua-{version}.dist-info"
    files = {str(path.relative_to(source)): path.read_bytes() for path in sorted((source / "gpulua").rglob("*.py"))}
    for name in libraries:
        path = pathlib.Path(build) / "bin" / name
        if path.exists():  # a build may lack one of the plugins
            files[f"gpulua/lib/{name}"] = stripped(path)
    for path in sorted((pathlib.Path(build) / "bin").glob("*.kernels")):  # where `make kernels` has made them
        files[f"gpulua/lib/{path.name}"] = path.read_bytes()
    for needed in ({libraries[0]}, {"libgpulua-cuda.so", "libgpulua-cpu.so"}):
        if not any(f"gpulua/lib/{name}" in files for name in needed):
            sys.exit(f"build_wheel.py: expected {' or '.join(sorted(needed))} in {pathlib.Path(build) / 'bin'}, got none: build first")
    files[f"{folder}/LICENSE"] = (source.parent / "LICENSE").read_bytes()
    files[f"{folder}/METADATA"] = metadata.format(version=version).encode()
    files[f"{folder}/WHEEL"] = wheel.encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    files[f"{folder}/RECORD"] = (record + f"{folder}/RECORD,,\n").encode()

    path = pathlib.Path(output) / f"gpulua-{version}-py3-none-linux_x86_64.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # without the time of day: equal builds give equal files
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, data)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
