#!/usr/bin/env python3
"""Kills `unmask run` at random instants, a hundred times, and lets it go on each time.

usage: run_killed.py UNMASK_BINARY [SEED]

What must hold: no episode that was reported done is lost or played again, and in the end there are the same
episodes as in a run that nobody disturbed, each once, with the same messages. Then interrupts: the
first Ctrl-C finishes what has begun, the second gives it up; the exit status is 3 either way. Last, a second run in the same
folder and a plan that has drifted are refused.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "environment" / "tau2"
KILLS = 100
SECONDS = 15  # after which the rest of the kills are left out
ARMS = ("BF16", "INT4")

PLAN = """name = "killed"
out = "{out}"
domains = ["mock"]
trials = {trials}
seed = {seed}
concurrency = 8
[defaults]
model = "scripted:reference{options}"
[[arm]]
precision = "BF16"
[[arm]]
precision = "INT4"
"""


class Run:
    """A plan in a folder of its own."""

    def __init__(self, binary, folder, trials, options="", seed=1):
        self.binary, self.folder = binary, pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.plan = self.folder / "plan.toml"
        self.write(trials, options, seed)
        self.progress = self.folder / "progress"

    def write(self, trials, options="", seed=1):
        self.plan.write_text(PLAN.format(out="out", trials=trials, options=options, seed=seed))

    def start(self, *arguments):
        """Its progress goes to a file: what is in it was reported before the process ended."""
        self.log = open(self.progress, "wb")
        return subprocess.Popen([self.binary, "run", str(self.plan), "--tau2", str(DATA), "--json-progress", *arguments],
                                stdout=subprocess.PIPE, stderr=self.log)

    def reported(self):
        """Episodes told to be done, in order. A torn last line was not told."""
        done = []
        for line in self.progress.read_bytes().split(b"\n")[:-1]:
            if not line.startswith(b"{"):
                continue
            event = json.loads(line)
            if event["event"] == "episode":
                done.append((event["arm"], event["task"], event["trial"]))
        return done

    def stored(self):
        """Every whole line of the store, as (arm, task, trial) -> [episode]."""
        found = {}
        for file in self.folder.glob("out/episodes/*/mock/all.jsonl"):
            arm = file.parent.parent.name
            for line in file.read_bytes().split(b"\n")[:-1][1:]:
                try:
                    episode = json.loads(line)
                except ValueError:
                    continue
                key = (arm, episode["task_id"], episode["trial"])
                found.setdefault(key, []).append(episode)
        return found


def without_times(episode):
    return {key: value for key, value in episode.items() if key != "duration_seconds"}


def check(condition, message):
    if not condition:
        raise SystemExit(f"FAILED: {message}")


def finish(run, *arguments):
    process = run.start(*arguments)
    out = process.communicate(timeout=60)[0]
    check(process.returncode == 0, f"exit status {process.returncode}: {run.progress.read_text()[-600:]}")
    return out


def kill_again_and_again(binary, folder, chance):
    trials = 60
    undisturbed = Run(binary, folder / "undisturbed", trials)
    begun = time.monotonic()
    finish(undisturbed)
    whole = time.monotonic() - begun
    expected = undisturbed.stored()
    check(len(expected) == 2 * len(ARMS) * trials, f"{len(expected)} episodes in the undisturbed run")

    deadline = time.monotonic() + SECONDS
    kills = rounds = midway = 0
    wait = whole / 3  # a busy machine starts later than it did at first: longer after kills that came too early
    while kills < KILLS and time.monotonic() < deadline:
        rounds += 1
        run = Run(binary, folder / f"killed{rounds}", trials)
        reported = set()
        while kills < KILLS and time.monotonic() < deadline:
            process = run.start()
            try:
                process.wait(chance.uniform(0, wait))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            check(process.returncode in (0, -signal.SIGKILL), f"exit status {process.returncode}")
            kills += process.returncode != 0
            new = run.reported()
            midway += bool(new) and process.returncode != 0
            wait = max(whole / 3, wait * 0.9) if new else wait * 1.1
            check(len(new) == len(set(new)), "an episode was reported twice by one run")
            check(not reported & set(new), f"played again: {sorted(reported & set(new))[:3]}")
            reported |= set(new)
            lost = reported - set(run.stored())
            check(not lost, f"reported done and lost: {sorted(lost)[:3]}")
            if process.returncode == 0:
                break
        finish(run)
        check(not reported & set(run.reported()), "the last run played what was done")
        found = run.stored()
        check(set(found) == set(expected), "not the same episodes as in the undisturbed run")
        for key, episodes in found.items():
            check(len(episodes) == 1, f"{key} is there {len(episodes)} times")
            check(without_times(episodes[0]) == without_times(expected[key][0]), f"{key} differs")
    check(midway > 0, "no kill came while episodes were being played")
    print(f"{kills} kills in {rounds} runs, {midway} of them between two episodes")


def wait_for_episodes(run, count):
    deadline = time.monotonic() + 30
    while len(run.reported()) < count:
        check(time.monotonic() < deadline, "the run does not get on")
        time.sleep(0.01)


def wait_for_begun(run):
    deadline = time.monotonic() + 30
    while b'"event": "begin"' not in run.progress.read_bytes():
        check(time.monotonic() < deadline, "the run does not begin")
        time.sleep(0.01)
    time.sleep(0.5)


def interrupt(binary, folder):
    run = Run(binary, folder / "interrupted", 40, "?delay_ms=30")
    process = run.start()
    wait_for_episodes(run, 4)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    check(process.returncode == 3, f"exit status {process.returncode} after an interrupt")
    check(set(run.reported()) == set(run.stored()), "reported is not what is stored")
    check(b'"event": "left"' not in run.progress.read_bytes(), "an episode in flight was given up")

    run.write(40, "?delay_ms=60000")
    process = run.start("--allow-drift")
    wait_for_begun(run)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
    begun = time.monotonic()
    process.communicate(timeout=30)
    check(time.monotonic() - begun < 10, "the second interrupt waits for the episodes")
    check(process.returncode == 3, f"exit status {process.returncode} after two interrupts")
    check(b'"event": "left"' in run.progress.read_bytes(), "nothing was given up")
    print("interrupts")


def refuse(binary, folder):
    run = Run(binary, folder / "shared", 40, "?delay_ms=20")
    first = run.start()
    wait_for_episodes(run, 1)
    second = subprocess.run([binary, "run", str(run.plan), "--tau2", str(DATA), "--quiet"], capture_output=True, timeout=30)
    first.kill()
    first.communicate()
    check(second.returncode == 2 and f"process {first.pid}".encode() in second.stderr, f"second run: {second.stderr}")
    run.write(40, "?delay_ms=20", seed=2)
    drifted = subprocess.run([binary, "run", str(run.plan), "--tau2", str(DATA), "--quiet"], capture_output=True, timeout=30)
    check(drifted.returncode == 2 and b"seed was '1', is '2'" in drifted.stderr, f"drift: {drifted.stderr}")
    print("a second run, drift")


def shard(binary, folder):
    run = Run(binary, folder / "shards", 10)
    processes = []
    for index in (1, 2, 3):
        log = open(run.folder / f"progress{index}", "wb")
        processes.append(subprocess.Popen([binary, "run", str(run.plan), "--tau2", str(DATA), "--json-progress", "--shard",
                                           f"{index}/3"], stdout=subprocess.PIPE, stderr=log))
    for process in processes:
        process.communicate(timeout=30)
        check(process.returncode == 0, f"a shard ended with {process.returncode}")
    finish(run)
    check(run.reported() == [], "the whole run played what the shards had done")
    print("shards")


def main():
    binary = os.path.abspath(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(10**6)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="unmask-killed-") as folder:
        folder = pathlib.Path(folder)
        kill_again_and_again(binary, folder, random.Random(seed))
        interrupt(binary, folder)
        refuse(binary, folder)
        shard(binary, folder)


if __name__ == "__main__":
    main()
