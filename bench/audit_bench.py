#!/usr/bin/env python3
"""How much faster than plain Python is an audit of a large log, end to end, and how much memory does it take?

usage: audit_bench.py UNMASK_BINARY INGEST_BENCH_BINARY [--megabytes 1024] [--folder DIR] [--rounds 3]

Plants one tau2 file of the asked size and a small baseline, then runs in turn, in one session on one machine:
  ours    unmask audit BASELINE BIG --json ...   (reads, classifies, all intervals at 10,000 resamples)
  theirs  bench/peers/audit_peer.py BASELINE BIG (json.load and plain loops, counts only)
  walk    ingest_bench --file BIG                (a bare simdjson walk of the same simulations, cut beforehand)
and prints the ratios of the wall times, round by round, after checking that the first two count the same. Memory is the peak
of the process's anonymous pages (RssAnon), which is what it holds beside the mapped file.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time


def timed(command):
    """Runs a command; returns (seconds, peak RssAnon in MB, standard output)."""
    peak = 0
    with tempfile.TemporaryFile("w+") as out:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            try:
                with open(f"/proc/{process.pid}/status") as status:
                    for line in status:
                        if line.startswith("RssAnon:"):
                            peak = max(peak, int(line.split()[1]))
            except OSError:
                pass
            time.sleep(0.005)
        seconds = time.monotonic() - start
        if process.returncode != 0:
            sys.exit(f"{command[0]} ended with status {process.returncode}")
        out.seek(0)
        return seconds, peak / 1024, out.read()


def check_same(ours, theirs):
    """Both must have counted the same things, or the ratio means nothing."""
    arm = ours["cells"][0]["candidate"]
    pairs = [(arm["episodes"]["evaluated"], theirs["episodes"]), (arm["calls"]["agent"], theirs["agent_calls"])]
    pairs += [(arm["channels"][c]["count"], theirs["channels"].get(c, 0)) for c in arm["channels"] if c in
              ("malformed", "tool_name", "schema", "entity", "rejected")]
    pairs += [(arm["recovery"]["failures"], theirs["failures"]), (arm["recovery"]["recovered"], theirs["recovered"])]
    pairs += [(round(p["success"], 12), round(theirs["curve"][p["k"]], 12)) for p in arm["budget"]["curve"] if p["k"] < 10]
    for a, b in pairs:
        if a != b:
            sys.exit(f"the two disagree: {a} against {b}")
    return len(pairs)


def walk_seconds(ingest_bench, big):
    """Wall time of the bare walk, the best of a few in one process."""
    output = subprocess.run([ingest_bench, "--file", str(big), "--rounds", "3"], check=True, capture_output=True, text=True)
    return float(re.search(r"^walk +wall +([0-9.]+) s", output.stdout, re.MULTILINE).group(1))


def raw_data(message, filler):
    """The server's parsed response as real logs keep it beside each message of a model."""
    calls = [{"id": call["id"], "type": "function",
              "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])}}
             for call in message.get("tool_calls") or []]
    return {"id": "chatcmpl-" + "x" * 29, "object": "chat.completion", "model": "planted",
            "choices": [{"index": 0, "finish_reason": "tool_calls" if calls else "stop",
                         "message": {"role": message["role"], "content": message["content"], "tool_calls": calls or None}}],
            "usage": {"prompt_tokens": 6000, "completion_tokens": 40}, "reasoning": filler}


def write_big(planted, big, size):
    """Repeats the planted episodes as further trials, each grown to the size real ones have: a policy of 20 kB and a raw
    response beside each message."""
    log = json.loads(planted.read_text())
    words = ("the customer asks, the agent looks up line L1001, \"quotes\" and \\n escapes included; " * 250)
    bodies = []
    for simulation in log["simulations"]:
        for message in simulation["messages"]:
            if message["role"] in ("assistant", "user"):
                message["raw_data"] = raw_data(message, words[:1500])
        simulation["policy"] = words[:20000]
        bodies.append(simulation)
    trials = log["info"]["num_trials"]
    temporary = big.with_suffix(".tmp")
    with open(temporary, "w") as out:
        head = {key: value for key, value in log.items() if key != "simulations"}
        out.write(json.dumps(head, indent=2)[:-2] + ',\n"simulations": [')
        repeat = 0
        while out.tell() < size:
            for n, simulation in enumerate(bodies):
                trial = simulation["trial"] % trials + trials * repeat
                text = json.dumps({**simulation, "trial": trial, "id": f"{repeat}-{n}"}, indent=2)
                out.write((",\n" if repeat or n else "\n") + text)
            repeat += 1
        out.write("]}\n")
    temporary.rename(big)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("unmask")
    parser.add_argument("ingest_bench")
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--folder", default="build/bench-data")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    folder = pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    big = folder / f"planted_{arguments.megabytes}.json"
    baseline = folder / "small" / "baseline.json"
    here = pathlib.Path(__file__).parent
    if not baseline.exists():
        subprocess.run([arguments.unmask, "plant", "--preset", "damaged", "--out", f"{baseline.parent}/", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
    if not big.exists():
        write_big(baseline.parent / "candidate.json", big, arguments.megabytes * 2**20)
    print(f"file {big.stat().st_size / 2**20:.0f} MB")
    ratios, walks = [], []
    for i in range(arguments.rounds):
        ours, memory, text = timed([arguments.unmask, "audit", str(baseline), str(big), "--json", "-", "--quiet"])
        theirs, peer_memory, peer = timed(["/usr/bin/python3", str(here / "peers" / "audit_peer.py"), str(baseline), str(big)])
        walk = walk_seconds(arguments.ingest_bench, big)
        checked = check_same(json.loads(text), json.loads(peer.splitlines()[1]))
        ratios.append(theirs / ours)
        walks.append(ours / walk)
        print(f"round {i + 1}: unmask {ours:.2f} s, {memory:.0f} MB anonymous; Python {theirs:.2f} s, {peer_memory:.0f} MB; "
              f"ratio {theirs / ours:.1f} ({checked} counts equal); bare walk {walk:.2f} s, the audit takes {ours / walk:.2f} times that")
    print(f"audit of {arguments.megabytes} MB: {statistics.median(ratios):.1f} times faster than Python and "
          f"{statistics.median(walks):.2f} times the bare walk (medians)")


if __name__ == "__main__":
    main()
