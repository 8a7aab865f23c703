#!/usr/bin/env python3
"""Keeps the outputs shown in README.md and docs/first-steps.md true.

usage: readme.py UNMASK_BINARY [--update]

A block that follows a line `<!-- output: COMMAND -->` holds what COMMAND prints (standard output; `unmask` is the given binary; `&&`
and `| head -N` are understood). `<!-- output 1: COMMAND -->` expects exit status 1. The commands of a page run in one folder, in which
`tests` and `docs` are those of the checkout. Without --update the blocks are compared and a difference is an error.
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
PAGES = ("README.md", "docs/first-steps.md")
BLOCK = re.compile(r"(<!-- output(?: (\d))?: (.+?) -->\n```[a-z]*\n)(.*?)(```\n)", re.S)


def run(command, binary, folder, status=0):
    *before, command = command.split(" && ")
    for earlier in before:
        run(earlier, binary, folder)
    command, *pipes = command.split(" | ")
    words = shlex.split(command)
    assert words[0] == "unmask", command
    result = subprocess.run([binary, *words[1:]], cwd=folder, capture_output=True, text=True,
                            env={**os.environ, "NO_COLOR": "1"})
    if result.returncode != status:
        sys.exit(f"{command}: status {result.returncode}: {result.stderr}")
    lines = result.stdout.splitlines(keepends=True)
    for pipe in pipes:
        lines = lines[:int(re.fullmatch(r"head -(\d+)", pipe.strip()).group(1))]
    return "".join(lines)


def check(page, binary, update):
    text = page.read_text()
    shown = BLOCK.findall(text)
    name = page.relative_to(ROOT)
    if not shown:
        sys.exit(f"{name} shows no output")
    with tempfile.TemporaryDirectory() as folder:
        for part in ("tests", "docs"):
            os.symlink(ROOT / part, os.path.join(folder, part))

        def printed(match):
            return match.group(1) + run(match.group(3), binary, folder, int(match.group(2) or 0)) + match.group(5)
        new = BLOCK.sub(printed, text)
    if update:
        page.write_text(new)
    elif new != text:
        sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), new.splitlines(True), str(name), "now"))
        sys.exit(f"{name} shows other output than the program gives; tools/readme.py BINARY --update")
    print(f"{len(shown)} outputs in {name} are what the program prints")


def main():
    for page in PAGES:
        check(ROOT / page, os.path.abspath(sys.argv[1]), "--update" in sys.argv)


if __name__ == "__main__":
    main()
