#!/usr/bin/env python3
"""decision_logs.py FOLDER [TASKS]: two small logs whose agents' decisions carry log-probabilities.

Both arms meet the same users. A decision has a choice and a competitor with a margin between them; the candidate's
margin is the baseline's with noise, and where it falls below 0 the candidate calls the competitor, so that the
histories part there. Some competitors are hallucinated names. Written as `unmask run` writes its own files.
"""
import json
import math
import pathlib
import random
import sys

OFFERED = ["create_task", "get_users", "update_task_status"]
HALLUCINATED = ["delete_task", "close_task"]
SIGMA, TRIALS, DECISIONS = 0.8, 2, 8


def decision(name, other, margin):
    """Log-probabilities of `name` against `other`, the likelier one first."""
    first = -math.log1p(math.exp(-margin)) - 1e-4
    pair = sorted([[name, round(first, 6)], [other, round(first - margin, 6)]], key=lambda each: -each[1])
    name_logprob = dict(map(tuple, pair))[name]
    return {"first": {"token": "<call>", "logprob": -0.02, "top": [["<call>", -0.02], ["I", -4.0]]},
            "name": {"name": name, "tokens": [{"token": name, "logprob": name_logprob,
                                               "top": pair + [["zzz", -12.5]]}]}}


def call_message(name, step, decided):
    return {"role": "assistant", "content": None,
            "tool_calls": [{"id": f"c{step}", "name": name, "arguments": {"step": step}, "requestor": "assistant"}],
            "raw_data": {"unmask": {"decision": decided}}}


def result_message(name, step):
    failed = name in HALLUCINATED
    return {"id": f"c{step}", "role": "tool", "requestor": "assistant", "error": failed,
            "content": f"Error: Tool '{name}' not found." if failed else f"done {step}"}


def episode(task, trial, baseline):
    plan = random.Random(1000 * task + trial)   # the baseline's margins, the same for both arms
    noise = random.Random(7_000_000 + 1000 * task + trial)
    messages = [{"role": "user", "content": f"please do {task}"}]
    failures = 0
    for step in range(DECISIONS):
        choice, other = plan.sample(OFFERED, 2)
        hallucinated, kind, margin = plan.choice(HALLUCINATED), plan.random(), plan.expovariate(0.6)
        if kind < 0.15:
            choice = hallucinated
        elif kind < 0.55:
            other = hallucinated
        shaken = margin + SIGMA * noise.gauss(0, 1)
        if not baseline:
            margin = shaken
        if margin < 0:
            choice, other, margin = other, choice, -margin
        failures += choice in HALLUCINATED
        messages += [call_message(choice, step, decision(choice, other, margin)), result_message(choice, step)]
    messages.append({"role": "user", "content": "###STOP###"})
    return {"id": f"{task}_{trial}", "task_id": str(task), "trial": trial, "seed": trial, "termination_reason": "user_stop",
            "reward_info": {"reward": 1.0 if failures < 5 else 0.0}, "messages": messages}


def log(baseline, tasks):
    return {"info": {"git_commit": "", "num_trials": TRIALS, "max_steps": 100, "max_errors": 10,
                     "user_info": {"implementation": "user_simulator", "llm": "scripted", "llm_args": {}},
                     "agent_info": {"implementation": "llm_agent", "llm": "bf16" if baseline else "int4",
                                    "llm_args": {"temperature": 0}},
                     "environment_info": {"domain_name": "mock", "policy": "", "tool_defs": None}, "seed": 1},
            "tasks": [{"id": str(task)} for task in range(tasks)],
            "simulations": [episode(task, trial, baseline) for task in range(tasks) for trial in range(TRIALS)]}


def main():
    folder = pathlib.Path(sys.argv[1])
    tasks = int(sys.argv[2]) if len(sys.argv) > 2 else 24
    for name, baseline in [("bf16", True), ("int4", False)]:
        (folder / f"{name}.json").write_text(json.dumps(log(baseline, tasks)))


if __name__ == "__main__":
    main()
