#!/usr/bin/env python3
"""Are episodes played faster with the model in this process than with llama.cpp's own server?

    llama_server_bench.py UNMASK LLAMA_SERVER [TASKS [LOGPROBS]]

The same model, the same runner, the same tasks of pocket_telecom, eight conversations at once, in turn in one run: the embedded
engine, then llama-server -np 8, three times over. Prints episodes a minute, their ratio, and the most memory each held.
tests/live/build_llama_server.sh builds the server.
"""
import json
import os
import pathlib
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODEL = ROOT / "pocket" / "pocket-dense.gguf"
AT_ONCE = 8


def plan_text(out, tasks, logprobs, agent):
    ids = ", ".join(f'"t{n}"' for n in range(tasks))
    return "\n".join(['name = "bench"', f'out = "{out}"', 'domains = ["pocket_telecom"]', f"tasks = [{ids}]", "trials = 1", "[user]",
                      'model = "scripted:pocket"', "[[arm]]", 'precision = "BF16"', "temperature = 1.0", f"logprobs = {logprobs}", *agent, ""])


def play(unmask, folder, name, tasks, logprobs, agent):
    plan = folder / f"{name}.toml"
    plan.write_text(plan_text(folder / name, tasks, logprobs, agent))
    started = time.monotonic()
    done = subprocess.run([unmask, "run", plan, "--quiet"], capture_output=True, text=True)
    seconds = time.monotonic() - started
    if done.returncode != 0:
        sys.exit(f"unmask run ended with {done.returncode}: {done.stderr[-2000:]}")
    turns = calls = episodes = 0
    for file in (folder / name / "results").glob("*.json"):
        for simulation in json.loads(file.read_text())["simulations"]:
            episodes += 1
            for message in simulation["messages"]:
                turns += message["role"] == "assistant"
                calls += len(message.get("tool_calls") or []) if message["role"] == "assistant" else 0
    return {"episodes": episodes, "turns": turns, "calls": calls, "seconds": seconds}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def peak_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return None


class Server:
    def __init__(self, llama, threads, folder):
        self.port = free_port()
        self.log = open(folder / "server.log", "a")
        self.process = subprocess.Popen(
            [llama, "-m", MODEL, "--host", "127.0.0.1", "--port", str(self.port), "--jinja", "-np", str(AT_ONCE), "-c", str(8192 * AT_ONCE),
             "-t", str(threads)], stdout=self.log, stderr=self.log, cwd=os.path.dirname(os.path.abspath(llama)))

    def __enter__(self):
        for _ in range(600):
            if self.process.poll() is not None:
                sys.exit(f"llama-server ended with {self.process.returncode}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=1) as answer:
                    if answer.status == 200:
                        return self
            except OSError:
                time.sleep(0.1)
        sys.exit("llama-server is not ready after a minute")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)


def main():
    unmask, llama = (os.path.abspath(a) for a in sys.argv[1:3])
    tasks = int(sys.argv[3]) if len(sys.argv) > 3 else 57
    logprobs = int(sys.argv[4]) if len(sys.argv) > 4 else 20
    file = [f'model = "{MODEL}"', f"parallel = {AT_ONCE}"]
    rates = {"embedded": [], "llama-server -t 1": [], "llama-server -t 2": []}
    peaks = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for turn in range(3):
            for name in rates:
                if name == "embedded":
                    found = play(unmask, folder, f"embedded-{turn}", tasks, logprobs, file)
                    # The largest child so far, which is this one before any server was waited for.
                    if turn == 0:
                        peaks[name] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
                else:
                    threads = int(name[-1])
                    with Server(llama, threads, folder) as server:
                        agent = ['model = "pocket"', f'base_url = "http://127.0.0.1:{server.port}/v1"', f"max_concurrency = {AT_ONCE}"]
                        found = play(unmask, folder, f"server-{threads}-{turn}", tasks, logprobs, agent)
                        peaks[name] = peak_mb(server.process.pid)
                rates[name].append(60 * found["episodes"] / found["seconds"])
                print(f"{name}: {found['episodes']} episodes, {found['turns']} messages of the agent, {found['calls']} calls, "
                      f"{found['seconds']:.1f} s, {rates[name][-1]:.0f} episodes a minute", flush=True)
    best = max(statistics.median(rates[name]) for name in rates if name != "embedded")
    for name, values in rates.items():
        print(f"{name}: median {statistics.median(values):.0f} episodes a minute ({min(values):.0f} to {max(values):.0f}), "
              f"at most {peaks[name]:.0f} MB")
    print(f"ratio {statistics.median(rates['embedded']) / best:.2f}, against the faster of the servers")


if __name__ == "__main__":
    main()
