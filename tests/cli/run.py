#!/usr/bin/env python3
"""Runs the program as a user would and compares what it prints, byte for byte.

usage: run.py UNMASK_BINARY [--update] [SCENARIO...]

A scenario is a folder: `cmd` is a bash script, `status` its exit status (0 where absent), `stdout` and
`stderr` what it prints (stderr is not compared where the file is absent). The script runs in an empty
folder with `unmask` on the PATH and `data` pointing to tests/data; files beside `cmd` are in `here/`.
A line `# needs: MODULE` in `cmd` skips the scenario where that Python module is missing. The program's
version is printed as VERSION, so that a release changes no scenario.
"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
STREAMS = ("stdout", "stderr")


def run(scenario, binary):
    with tempfile.TemporaryDirectory(prefix="unmask-cli-") as folder:
        work = pathlib.Path(folder)
        (work / "bin").mkdir()
        (work / "bin" / "unmask").symlink_to(binary)
        cwd = work / "work"
        cwd.mkdir()
        (cwd / "data").symlink_to(HERE.parent / "data")
        (cwd / "here").symlink_to(scenario)
        (cwd / "docs").symlink_to(HERE.parent.parent / "docs")
        (cwd / "tools").symlink_to(HERE)
        env = {"PATH": f"{work / 'bin'}:{os.environ.get('PATH', '')}", "LC_ALL": "C.UTF-8", "TERM": "xterm"}
        done = subprocess.run(["bash", str(scenario / "cmd")], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120)
        seen = {"stdout": done.stdout, "stderr": done.stderr, "status": done.returncode}
    for stream in STREAMS:
        text = seen[stream].replace(str(cwd).encode(), b"WORK")
        seen[stream] = re.sub(rb"unmask \d+\.\d+\.\d+(?!\d)", b"unmask VERSION", text)
        seen[stream] = re.sub(rb'("version": )"\d+\.\d+\.\d+"', rb'\1"VERSION"', seen[stream])
    return seen


def first_difference(expected, seen):
    old, new = expected.split(b"\n"), seen.split(b"\n")
    for number, (a, b) in enumerate(zip(old, new), 1):
        if a != b:
            return f"line {number}\n    expected {a!r}\n    got      {b!r}"
    return f"{len(old)} lines expected, {len(new)} printed; the next is {(old + new)[min(len(old), len(new))]!r}"


def compare(scenario, seen):
    problems = []
    status = scenario / "status"
    expected = int(status.read_text()) if status.exists() else 0
    if seen["status"] != expected:
        problems.append(f"exit status {seen['status']}, expected {expected}; stderr: {seen['stderr'][-400:]!r}")
    for stream in STREAMS:
        file = scenario / stream
        if stream == "stderr" and not file.exists():
            continue
        want = file.read_bytes() if file.exists() else b""
        if want != seen[stream]:
            problems.append(f"{stream}: {first_difference(want, seen[stream])}")
    return problems


def update(scenario, seen):
    """Records what is seen; stderr only where it is compared already or says something on its own."""
    (scenario / "stdout").write_bytes(seen["stdout"])
    if (scenario / "stderr").exists() or seen["status"] != 0:
        (scenario / "stderr").write_bytes(seen["stderr"])
    status = scenario / "status"
    if seen["status"] != 0:
        status.write_text(f"{seen['status']}\n")
    elif status.exists():
        status.unlink()


def missing_module(scenario):
    for name in re.findall(r"^# needs: (\S+)$", (scenario / "cmd").read_text(), re.M):
        if importlib.util.find_spec(name) is None:
            return name
    return None


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    if not arguments:
        print(__doc__)
        return 2
    binary = pathlib.Path(arguments[0]).resolve()
    scenarios = sorted(p.parent for p in HERE.glob("*/cmd"))
    if arguments[1:]:
        scenarios = [HERE / name for name in arguments[1:]]
    failed = skipped = 0
    for scenario in scenarios:
        module = missing_module(scenario)
        if module:
            print(f"skipped {scenario.name}: Python module {module} is not installed")
            skipped += 1
            continue
        seen = run(scenario, binary)
        if "--update" in sys.argv:
            update(scenario, seen)
        problems = compare(scenario, seen)
        failed += bool(problems)
        for problem in problems:
            print(f"FAILED {scenario.name}: {problem}")
    print(f"{len(scenarios) - failed - skipped} of {len(scenarios)} scenarios as recorded, {skipped} skipped")
    return 1 if failed or not scenarios else 0


if __name__ == "__main__":
    sys.exit(main())
