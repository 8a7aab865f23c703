#!/usr/bin/env python3
"""Installs the library into an empty prefix, builds examples/find_package against it and runs that on planted logs.

usage: find_package.py CMAKE BUILD SOURCE UNMASK COMPILER [SANITIZERS]
"""
import pathlib
import subprocess
import sys
import tempfile

cmake, build, source, unmask, compiler = sys.argv[1:6]
sanitizers = sys.argv[6] if len(sys.argv) > 6 else ""


def run(*command, cwd=None):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


with tempfile.TemporaryDirectory(prefix="unmask-prefix-") as temporary:
    folder = pathlib.Path(temporary)
    prefix, example = folder / "prefix", folder / "example"
    run(cmake, "--install", build, "--component", "library", "--prefix", str(prefix))
    for name in ("include/unmask/audit.h", "include/unmask/verdict/gate.h", "lib/libunmask_audit.a",
                 "lib/cmake/unmask/unmask-config.cmake"):
        assert (prefix / name).exists(), f"{name} was not installed"
    for file in prefix.rglob("*.cmake"):
        assert source not in file.read_text() and "/usr/lib" not in file.read_text(), f"{file.name} has a path of the build"
    # The installed library must not lean on the checkout.
    copy = folder / "two_logs"
    copy.mkdir()
    for file in (pathlib.Path(source) / "examples/find_package").iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    flags = [f"-DCMAKE_CXX_FLAGS=-fsanitize={sanitizers}"] if sanitizers else []
    run(cmake, "-S", str(copy), "-B", str(example), f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}", *flags)
    run(cmake, "--build", str(example))
    for preset, verdict, status in (("damaged", "masked", 1), ("clean", "clean", 0)):
        run(unmask, "plant", "-q", "--preset", preset, "--exact", "--out", f"{folder}/{preset}/")
        done = subprocess.run([str(example / "two_logs"), "baseline.json", "candidate.json"], cwd=folder / preset,
                              capture_output=True, text=True)
        assert done.returncode == status, f"{preset}: status {done.returncode}: {done.stdout}{done.stderr}"
        assert done.stdout.startswith(f"verdict: {verdict}\n"), done.stdout
        print(f"{preset}: {done.stdout.strip()}")
