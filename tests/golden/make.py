#!/usr/bin/env python3
"""Runs generators of golden data: python3 make.py [GENERATOR...], all of them without an argument.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt && venv/bin/python make.py arrays/sorting.py

Beside what a generator GENERATOR.py or GENERATOR.cpp writes, GENERATOR.sums records the versions that it ran with, and the SHA-256
of its inputs and of its outputs, as `sha256sum --check` reads them. The test `golden` checks the sums: data that is missing, and
data whose generator has changed since, fails. curand/make.cpp needs g++ and the CUDA toolkit in CUDA_HOME or /usr/local/cuda.
"""
import hashlib
import importlib.metadata
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
requirements = here / "requirements.txt"
modules = ["cases.py", "rows.py"]  # what generators share


def requirements_of(generator):
    """The packages' pins: the generator's own file, where it has one."""
    own = generator.with_suffix(".requirements")
    return own if own.exists() else requirements


def installed_versions(requirements):
    """The pinned packages with their versions; exits where another version is installed."""
    pinned = [line.strip() for line in requirements.read_text().splitlines() if "==" in line]
    for line in pinned:
        package, version = line.split("==")
        try:
            installed = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            installed = "none"
        if installed != version:
            sys.exit(f"make.py: expected {line} (pip install -r {requirements}), got {installed}")
    return f"Python {platform.python_version()}, " + ", ".join(pinned)


def run_python(generator):
    versions = installed_versions(requirements_of(generator))
    subprocess.run([sys.executable, generator.name], cwd=generator.parent, check=True)
    return versions


def run_curand(generator):
    cuda = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "make"
        subprocess.run(["g++", "-O1", "-std=c++17", "-mfma", "-ffp-contract=fast", f"-I{cuda}/include", f"-I{cuda}/include/cccl",
                        generator, "-o", program, f"-L{cuda}/lib64", f"-Wl,-rpath,{cuda}/lib64", "-lcurand"], check=True)
        numbers = subprocess.run([program], check=True, capture_output=True).stdout
    (generator.parent / "numbers.lua").write_bytes(numbers)
    compiler = subprocess.run(["g++", "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()
    return numbers.decode().split("\n")[0].removeprefix("-- Written by make.cpp with ").rstrip(".") + f", g++ {compiler}"


def inputs_of(generator):
    """The generator, what it includes from its folder, and its packages' pins."""
    text = generator.read_text()
    inputs = [generator]
    if generator.suffix == ".cpp":
        return inputs + [generator.with_name("numbers.h")]
    inputs += [generator.with_name(module) for module in modules if f"from {module[:-3]} import" in text]
    return inputs + [requirements_of(generator)]


def outputs_of(generator):
    if generator.parent.name == "arrays":
        return [path for path in (generator.with_suffix(".lua"), generator.with_suffix(".npz")) if path.exists()]
    if generator.suffix == ".cpp":
        return [generator.with_name("numbers.lua")]
    return sorted(path for path in generator.parent.iterdir() if path.suffix in (".npy", ".npz", ".png", ".lua"))


def make(generator):
    versions = run_curand(generator) if generator.suffix == ".cpp" else run_python(generator)
    lines = [f"# Written by make.py {generator.relative_to(here)} with {versions}."]
    for path in inputs_of(generator) + outputs_of(generator):
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(here)}")
    generator.with_suffix(".sums").write_text("\n".join(lines) + "\n")


def main():
    everything = sorted(path for path in (here / "arrays").glob("*.py") if path.name not in modules)
    everything += [here / "files/make.py", here / "curand/make.cpp"]
    chosen = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or everything
    for generator in chosen:
        if generator not in everything:
            sys.exit(f"make.py: expected generators among {[str(path.relative_to(here)) for path in everything]}, got {generator}")
        print(generator.relative_to(here))
        make(generator)


main()
