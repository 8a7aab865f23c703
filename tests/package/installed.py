#!/usr/bin/env python3
"""Installs the program, moves the prefix, and runs it there.

usage: installed.py CMAKE BUILD
"""
import os
import pathlib
import subprocess
import sys
import tempfile

cmake, build = sys.argv[1:3]


def program_works(root):
    """Runs what is under root/bin; used for the package too."""
    unmask = root / "bin" / "unmask"
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    version = subprocess.run([unmask, "--version"], env=env, capture_output=True, text=True, check=True).stdout
    assert version.startswith("unmask ") and "compiler" in version, version
    help_text = subprocess.run([unmask, "demo", "--help"], env=env, capture_output=True, text=True, check=True).stdout
    assert "usage: unmask demo" in help_text, help_text
    assert (root / "share/man/man1/unmask.1").read_text().startswith(".TH UNMASK 1")
    for name in ("share/bash-completion/completions/unmask", "share/zsh/vendor-completions/_unmask",
                 "share/fish/vendor_completions.d/unmask.fish", "share/doc/unmask/docs/gate.md", "share/doc/unmask/copyright"):
        assert (root / name).stat().st_size > 0, name
    if "llama.cpp  off" in version:
        return version
    # llama.cpp comes from the prefix, and finds its code for this processor there.
    trace = subprocess.run([unmask, "--version"], env={**env, "LD_DEBUG": "libs"}, capture_output=True, text=True).stderr
    loaded = [line.split("calling init: ")[1] for line in trace.splitlines() if "calling init: " in line]
    llama = [os.path.realpath(path) for path in loaded if "libllama" in path or "libggml" in path]
    assert llama and all(path.startswith(str(root / "lib" / "unmask")) for path in llama), llama
    assert list((root / "lib" / "unmask").glob("libggml-cpu*.so")) or list((root / "lib" / "unmask").glob("libggml-base*"))
    return version


def quantizes(root, folder):
    """A model of the demo, rounded: llama.cpp's libraries do it."""
    model = pathlib.Path(__file__).resolve().parents[2] / "pocket" / "pocket-dense.gguf"
    done = subprocess.run([root / "bin" / "unmask", "quantize", model, "-r", "q8_0", "-o", folder / "arms", "-q"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list((folder / "arms").glob("*.gguf")), done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="unmask-prefix-") as temporary:
        temporary = pathlib.Path(os.path.realpath(temporary))
        done = subprocess.run([cmake, "--install", build, "--component", "program", "--prefix", temporary / "first"],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        (temporary / "first").rename(temporary / "moved")
        version = program_works(temporary / "moved")
        if "llama.cpp  off" not in version:
            quantizes(temporary / "moved", temporary)
        print("installed, moved, and it works:\n" + version)
