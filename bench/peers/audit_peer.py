#!/usr/bin/env python3
"""The comparator of the audit benchmark: the same counts of one or more tau2 result files by json.load and plain loops.

usage: audit_peer.py RESULTS.json [RESULTS.json ...]

Prints one JSON object a file. Kept in the plainest Python a person would write for the job; it computes counts only,
no intervals.
"""
import json
import re
import sys
from collections import Counter, defaultdict

ENTITY = re.compile(r"not found")
SCHEMA = re.compile(r"required positional argument|unexpected keyword argument|multiple values|validation error")
BUDGETS = range(11)


def channel_of(call, result):
    if not isinstance(call["arguments"], dict):
        return "malformed"
    if not result["error"]:
        return "ok"
    text = result["content"] or ""
    if re.match(r"Error: Tool '.*' not found\.", text, re.S):
        return "tool_name"
    if SCHEMA.search(text):
        return "schema"
    if ENTITY.search(text):
        return "entity"
    return "rejected"


def count(path):
    with open(path) as file:
        log = json.load(file)
    channels = Counter()
    names = Counter()
    with_failure = Counter()
    recovered = failures = censored = agent_calls = user_calls = 0
    success_by_task = defaultdict(list)
    curve_by_task = defaultdict(list)
    errors_of = []
    for simulation in log["simulations"]:
        if simulation["termination_reason"] == "infrastructure_error":
            continue
        messages = simulation["messages"]
        outcomes = []  # (message index, channel) of the agent's calls
        errors = 0
        for i, message in enumerate(messages):
            if message["role"] == "tool":
                errors += bool(message["error"])
            for j, call in enumerate(message.get("tool_calls") or []):
                result = next((m for m in messages[i + 1:] if m["role"] == "tool" and m["id"] == call["id"]), None)
                if result is None:
                    continue
                if call["requestor"] == "user":
                    user_calls += 1
                    continue
                channel = channel_of(call, result)
                agent_calls += 1
                channels[channel] += 1
                if channel == "tool_name":
                    names[call["name"]] += 1
                outcomes.append((i, channel))
        for n, (i, channel) in enumerate(outcomes):
            if channel == "ok":
                continue
            later = next((c for k, c in outcomes[n + 1:] if k > i), None)
            if later is None and simulation["termination_reason"] == "too_many_errors":
                censored += 1
                continue
            failures += 1
            recovered += later == "ok"
        for channel in {c for _, c in outcomes if c != "ok"}:
            with_failure[channel] += 1
        passed = abs(simulation["reward_info"]["reward"] - 1) <= 1e-6
        success_by_task[simulation["task_id"]].append(passed)
        curve_by_task[simulation["task_id"]].append([passed and errors <= k for k in BUDGETS])
        errors_of.append(errors)
    tasks = len(success_by_task)
    curve = [sum(sum(row[k] for row in rows) / len(rows) for rows in curve_by_task.values()) / tasks for k in BUDGETS]
    return {"episodes": len(errors_of), "tasks": tasks, "agent_calls": agent_calls, "user_calls": user_calls,
            "channels": dict(sorted(channels.items())), "episodes_with": dict(sorted(with_failure.items())),
            "names": len(names), "failures": failures, "recovered": recovered, "censored": censored,
            "success": sum(sum(v) / len(v) for v in success_by_task.values()) / tasks, "curve": curve,
            "mean_errors": sum(errors_of) / len(errors_of)}


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(json.dumps(count(path)))
