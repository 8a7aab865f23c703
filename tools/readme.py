#!/usr/bin/env python3
"""Keeps the outputs shown in README.md true.

usage: readme.py UNMASK_BINARY [--update]

A block of README.md that follows a line `<!-- output: COMMAND -->` holds what COMMAND prints (standard output; `unmask` is the
given binary; `&&` and `| head -N` are understood). Without --update the blocks are compared and a difference is an error.
"""
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- output: (.+?) -->\n```[a-z]*\n)(.*?)(```\n)", re.S)


def run(command, binary, folder):
    *before, command = command.split(" && ")
    for earlier in before:
        run(earlier, binary, folder)
    command, *pipes = command.split(" | ")
    words = shlex.split(command)
    assert words[0] == "unmask", command
    result = subprocess.run([binary, *words[1:]], cwd=folder, capture_output=True, text=True,
                            env={**os.environ, "NO_COLOR": "1"})
    if result.returncode != 0:
        sys.exit(f"{command}: status {result.returncode}: {result.stderr}")
    lines = result.stdout.splitlines(keepends=True)
    for pipe in pipes:
        lines = lines[:int(re.fullmatch(r"head -(\d+)", pipe.strip()).group(1))]
    return "".join(lines)


def main():
    binary = os.path.abspath(sys.argv[1])
    readme = ROOT / "README.md"
    text = readme.read_text()
    shown = BLOCK.findall(text)
    if not shown:
        sys.exit("README.md shows no output")
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "tests", os.path.join(folder, "tests"))
        new = BLOCK.sub(lambda match: match.group(1) + run(match.group(2), binary, folder) + match.group(4), text)
    if "--update" in sys.argv:
        readme.write_text(new)
    elif new != text:
        sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), new.splitlines(True), "README.md", "now"))
        sys.exit("README.md shows other output than the program gives; tools/readme.py BINARY --update")
    print(f"{len(shown)} outputs in README.md are what the program prints")


if __name__ == "__main__":
    main()
