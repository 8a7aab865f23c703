#!/usr/bin/env python3
"""Counts what a log holds, with plain loops over Python's json: an oracle for the readers.

usage: count_log.py LOG...

One line a log, tab separated:
name, episodes, graded, successes, messages, calls of the agent, calls of the user, failed results of
the agent's calls, failed results of the user's calls, distinct tasks, characters of message texts.

Understands tau2-bench results (one file, or a folder with simulations/) and tau-bench v1 lists.
"""
import json
import pathlib
import sys


def simulations_of(path):
    """The simulations of tau2 results in either form, or None where `path` is something else."""
    if path.is_dir():
        return [json.loads(f.read_text()) for f in sorted((path / "simulations").glob("*.json"))]
    log = json.loads(path.read_text())
    return log["simulations"] if isinstance(log, dict) else None


def tau2_messages(simulation):
    for message in simulation["messages"] or []:
        if message["role"] == "tool" and "tool_messages" in message:
            yield from message["tool_messages"]
        else:
            yield message


def count_tau2(simulations):
    c = dict(episodes=0, graded=0, successes=0, messages=0, agent_calls=0, user_calls=0,
             agent_failed=0, user_failed=0, characters=0)
    tasks = set()
    for simulation in simulations:
        c["episodes"] += 1
        tasks.add(str(simulation["task_id"]))
        reward = (simulation.get("reward_info") or {}).get("reward")
        if reward is not None:
            c["graded"] += 1
            c["successes"] += abs(reward - 1.0) <= 1e-6
        for message in tau2_messages(simulation):
            c["messages"] += 1
            c["characters"] += len(message.get("content") or "")
            for call in message.get("tool_calls") or []:
                c["user_calls" if call.get("requestor") == "user" else "agent_calls"] += 1
            if message["role"] == "tool" and message.get("error"):
                c["user_failed" if message.get("requestor") == "user" else "agent_failed"] += 1
    return c, tasks


def count_tau1(trajectories):
    c = dict(episodes=0, graded=0, successes=0, messages=0, agent_calls=0, user_calls=0,
             agent_failed=0, user_failed=0, characters=0)
    tasks = set()
    for trajectory in trajectories:
        c["episodes"] += 1
        tasks.add(str(trajectory["task_id"]))
        if trajectory["reward"] is not None:
            c["graded"] += 1
            c["successes"] += abs(trajectory["reward"] - 1.0) <= 1e-6
        for message in trajectory["traj"]:
            c["messages"] += 1
            text = message.get("content") or ""
            c["characters"] += len(text)
            c["agent_calls"] += len(message.get("tool_calls") or [])
            if message["role"] == "tool" and text.startswith(("Error", "Unknown action")):
                c["agent_failed"] += 1
    return c, tasks


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        simulations = simulations_of(path)
        if simulations is not None:
            c, tasks = count_tau2(simulations)
        else:
            c, tasks = count_tau1(json.loads(path.read_text()))
        print(path.name, c["episodes"], c["graded"], c["successes"], c["messages"], c["agent_calls"],
              c["user_calls"], c["agent_failed"], c["user_failed"], len(tasks), c["characters"],
              sep="\t")


if __name__ == "__main__":
    main()
