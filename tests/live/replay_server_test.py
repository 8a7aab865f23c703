#!/usr/bin/env python3
"""A replay against llama.cpp's own server sends what the run sent it.

    replay_server_test.py UNMASK_BINARY LLAMA_SERVER MODEL.gguf

The pocket agent plays a few tasks of its world behind the server; the log is then replayed against it. Something in between keeps the
requests: `messages` and `tools` must be the same, byte for byte. How many replies repeat what the log has is printed, not checked: the
run drew its words, the replay does not. 77: the server is not there (tests/live/build_llama_server.sh builds it).
"""
import collections
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "server"))

import replay_requests  # noqa: E402
from llama_server_test import free_port, wait_until_ready  # noqa: E402


class Between(replay_requests.Handler):
    """Hands a request on as it is, and keeps what the tests compare."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        text = body.decode()
        with self.server.lock:
            self.server.requests[json.loads(text)["model"]].append(
                (replay_requests.sliced(text, "messages"), replay_requests.sliced(text, "tools")))
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.behind, timeout=300)
        upstream.request("POST", self.path, body, {"Content-Type": "application/json"})
        answer = upstream.getresponse()
        data = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def plan_text(url, out):
    return "\n".join([
        'name = "live"', f'out = "{out}"', 'domains = ["pocket_telecom"]', 'tasks = ["t0", "t3", "t7", "t11"]', "max_steps = 40",
        "[user]", 'model = "scripted:pocket"', "[[arm]]", 'label = "one"', 'precision = "BF16"', 'model = "run"', url, "max_tokens = 64",
        "temperature = 1.0", "max_concurrency = 2", 'repair = { channels = ["tool_name", "malformed"], attempts = 2 }', ""])


def compare(binary, folder, port):
    server = replay_requests.Server()
    server.RequestHandlerClass = Between
    server.behind = port
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    plan = folder / "plan.toml"
    plan.write_text(plan_text(f'base_url = "{url}"', folder / "out"))
    replay_requests.ran([binary, "run", plan, "--quiet"])
    log = folder / "out" / "results" / "one_pocket_telecom.json"
    out = folder / "replay.jsonl"
    shown = replay_requests.ran([binary, "replay", log, "--model", f"A=replay@{url}", "--max-tokens", "64", "--parallel", "2",
                                 "--repeat-baseline", "--out", out, "--quiet"]).stdout
    print(shown)
    sent, replayed = server.taken("run"), server.taken("replay")
    twice = collections.Counter({pair: 2 * times for pair, times in sent.items()})
    if twice != replayed:
        print(f"FAILED: {replay_requests.difference(twice, replayed)}")
        return 1
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    recorded = {line["id"]: line["recorded"].get("calls", []) for line in lines if line["kind"] == "context"}
    replies = [line for line in lines if line["kind"] == "reply" and line["arm"] == "A"]
    same = sum(line.get("calls", []) == recorded[line["context"]] for line in replies)
    named = sum("name" in line.get("decision", {}) for line in replies)
    print(f"{sum(sent.values())} requests of the run, the same in the replay; {same} of {len(replies)} replies have the calls of the log; "
          f"{named} have the log-probabilities of a name")
    return 0 if replies and named else 1


def main():
    binary, llama, gguf = (os.path.abspath(a) for a in sys.argv[1:4])
    for path in (llama, gguf):
        if not os.path.exists(path):
            print(f"skipped: {path} is not there")
            return 77
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        port = free_port()
        log = open(folder / "server.log", "w")
        process = subprocess.Popen([llama, "-m", gguf, "--port", str(port), "--host", "127.0.0.1", "--jinja", "-np", "2", "-c", "16384"],
                                   stdout=log, stderr=log, cwd=os.path.dirname(llama))
        try:
            wait_until_ready(port, process)
            return compare(binary, folder, port)
        except replay_requests.Failed as problem:
            print(f"FAILED: {problem}")
            return 1
        finally:
            process.terminate()
            process.wait(timeout=20)


if __name__ == "__main__":
    sys.exit(main())
