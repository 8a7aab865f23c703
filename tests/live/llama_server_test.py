#!/usr/bin/env python3
"""A whole small run against llama.cpp's own server.

    llama_server_test.py UNMASK_BINARY LLAMA_SERVER DATA

The model is UNMASK_TEST_GGUF, else ../shared/pocket-study/pocket_R-BF16.gguf; without either, or without the server
(tests/live/build_llama_server.sh builds it), it is skipped (77). The model may be any: what is checked is that every episode
is played to an end that says why, that nothing is lost, and that the audit reads the logs. What the server returned is printed.
"""
import collections
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
POCKET = HERE.parents[1] / ".." / "shared" / "pocket-study" / "pocket_R-BF16.gguf"

# The pocket model says it was made for short contexts; what it writes makes no sense either way.
CONTEXT = [] if os.environ.get("UNMASK_TEST_GGUF") else ["--override-kv", "llama.context_length=int:16384"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_ready(port, process):
    for _ in range(600):
        if process.poll() is not None:
            sys.exit(f"FAILED: llama-server ended with {process.returncode}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    sys.exit("FAILED: llama-server is not ready after a minute")


def plan_text(port, out):
    url = f'base_url = "http://127.0.0.1:{port}/v1"'
    return "\n".join([
        'name = "live"', f'out = "{out}"', 'domains = ["mock"]', "trials = 2", "max_steps = 12", "max_errors = 3",
        "[user]", 'model = "local"', url, "max_tokens = 32", "temperature = 0.8", "max_concurrency = 2",
        "[defaults]", 'family = "local"', "max_tokens = 48", "temperature = 0.8", "max_concurrency = 2",
        "[[arm]]", 'label = "one"', 'precision = "BF16"', "baseline = true", 'model = "local"', url,
        "[[arm]]", 'label = "two"', 'precision = "again"', 'model = "local"', url, ""])


def describe(results):
    """What the server returned, as counts."""
    ends, warnings, calls, texts, decisions = collections.Counter(), collections.Counter(), 0, 0, 0
    for file in results:
        for simulation in json.loads(file.read_text())["simulations"]:
            ends[simulation["termination_reason"]] += 1
            for message in simulation["messages"]:
                if message["role"] != "assistant" or not message.get("raw_data"):
                    continue
                calls += len(message.get("tool_calls") or [])
                texts += bool(message.get("content"))
                decisions += "decision" in (message["raw_data"].get("unmask") or {})
    print(f"endings {dict(ends)}; agent's messages with text {texts}, calls {calls}, decisions with log-probabilities {decisions}")
    return sum(ends.values())


def main():
    binary, llama, data = (os.path.abspath(a) for a in sys.argv[1:4])
    gguf = pathlib.Path(os.environ.get("UNMASK_TEST_GGUF") or POCKET)
    for path in (llama, gguf, data):
        if not os.path.exists(path):
            print(f"skipped: {path} is not there")
            return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        port = free_port()
        log = open(folder / "server.log", "w")
        server = subprocess.Popen([llama, "-m", str(gguf), "--port", str(port), "--host", "127.0.0.1", "--jinja", "-np", "2", "-c",
                                   "32768", *CONTEXT], stdout=log, stderr=log, cwd=os.path.dirname(llama))
        try:
            wait_until_ready(port, server)
            plan = folder / "plan.toml"
            plan.write_text(plan_text(port, folder / "out"))
            done = subprocess.run([binary, "run", plan, "--tau2", data, "--json", folder / "audit.json", "--quiet"],
                                  capture_output=True, text=True, timeout=900)
            print(done.stderr[-2000:])
            if done.returncode != 0:
                print(f"FAILED: unmask run ended with {done.returncode}")
                return 1
            audit = json.loads((folder / "audit.json").read_text())
            cell = audit["cells"][0]
            played = describe(sorted((folder / "out" / "results").glob("*.json")))
            print(f"{gguf.name}: {played} episodes played, verdict {cell['verdict']}")
            total = sum(cell[side]["episodes"]["total"] for side in ("baseline", "candidate"))
            if played == 0 or played != total:
                print(f"FAILED: {played} episodes are in the logs, {total} in the audit")
                return 1
        finally:
            server.terminate()
            server.wait(timeout=20)
    return 0


if __name__ == "__main__":
    sys.exit(main())
