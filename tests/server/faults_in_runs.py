#!/usr/bin/env python3
"""unmask run against a server that misbehaves: what becomes of a plan's episodes.

    faults_in_runs.py UNMASK_BINARY DATA

DATA is a tau2-bench data folder with the domain mock. An agent whose output the server cannot read fails by itself, and its
episodes go on; Ctrl-C while names are probed at a server that hangs ends with status 3 at once, having saved nothing.
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

PLAN = """name = "faults"
out = "out"
domains = ["mock"]
trials = 1
[user]
model = "scripted:reference"
[[arm]]
precision = "BF16"
model = "fault:{fault}"
base_url = "http://127.0.0.1:{port}/v1"
{more}
"""


def check(condition, sentence):
    if not condition:
        raise SystemExit(f"FAILED: {sentence}")


@contextlib.contextmanager
def server():
    command = [sys.executable, HERE / "chat_server.py", "--end-with-stdin"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline().split()[-1])
    finally:
        process.stdin.close()
        process.wait(timeout=10)


def start(binary, folder, data, port, fault, more=""):
    folder.mkdir()
    (folder / "plan.toml").write_text(PLAN.format(fault=fault, port=port, more=more))
    return subprocess.Popen([binary, "run", folder / "plan.toml", "--tau2", data, "--json", folder / "report.json", "--quiet"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def output_not_read(binary, folder, data, port):
    """The first two outputs cannot be read; then the agent calls the first tool until the budget is spent."""
    process = start(binary, folder, data, port, "unread_llamacpp:2", "max_concurrency = 1")
    _, said = process.communicate(timeout=60)
    check(process.returncode == 0, f"exit status {process.returncode}: {said}")
    lines = (folder / "out/episodes/BF16/mock/all.jsonl").read_text().splitlines()[1:]
    ends = [json.loads(line)["termination"] for line in lines]
    check(ends and "infrastructure_error" not in ends, f"episodes ended in {ends}")
    report = json.loads((folder / "report.json").read_text())
    malformed = report["channels"]["malformed"]["count"]
    check(malformed == 2, f"{malformed} calls are malformed, the server could not read 2")
    check(report["episodes"]["excluded_infrastructure"] == 0, "an episode counts as lost to the server")
    print(f"{len(ends)} episodes, {malformed} outputs not read")


def interrupted_probe(binary, folder, data, port):
    process = start(binary, folder, data, port, "hang", 'constrain = "names"')
    time.sleep(1)
    check(process.poll() is None, "the probe did not wait for the server")
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    check(process.returncode == 3, f"exit status {process.returncode} after Ctrl-C in the probe: {said}")
    check(time.monotonic() - begun < 5, "the interrupt waits for the server")
    check("0 episodes were saved" in said, f"it said: {said}")
    print("interrupt in the probe")


def main():
    binary, data = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="unmask-faults-") as folder, server() as port:
        output_not_read(binary, pathlib.Path(folder) / "unread", data, port)
        interrupted_probe(binary, pathlib.Path(folder) / "probe", data, port)


if __name__ == "__main__":
    main()
