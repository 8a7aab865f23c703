#!/usr/bin/env python3
"""The planted agent and user, talking to each other without a server or an environment.

    planted_parties_test.py [tasks.json ...]        without files: three small tasks
"""
import json
import pathlib
import sys

import planted_parties as planted

SMALL = [
    {"id": "one", "user_scenario": {"instructions": "Buy one teapot."}, "evaluation_criteria": {"actions": [
        {"name": "find", "arguments": {"what": "teapot"}}, {"name": "buy", "arguments": {"what": "teapot", "n": 1}}],
        "communicate_info": ["12.50"]}},
    {"id": "[two]x", "user_scenario": {"instructions": {"domain": "d", "known_info": "You are  Ann.\nZip 1."}},
     "evaluation_criteria": {"actions": [{"name": "reboot", "arguments": {}, "requestor": "user"},
                                         {"name": "find", "arguments": {"what": "phone"}}]}},
    {"id": "none", "user_scenario": {"instructions": "Only chat."}, "evaluation_criteria": None},
]
WRONG = {"lookup_record": 3.0, "fetch_it": 1.0}


def tools(names, **more):
    return [{"type": "function", "function": {"name": name, "parameters": {}, **more}} for name in names]


def prompt(task):
    instructions = task["user_scenario"]["instructions"]
    parts = [instructions] if isinstance(instructions, str) else [v for v in instructions.values() if v]
    return "You are a customer.\n\t" + "\n\t".join(p.replace("\n", "\n\t") for p in parts)


def converse(task, cases, rates, seed, names, **more):
    """The agent's calls in order; a call succeeds where the side has the tool and the arguments have no flaw."""
    agent, user = planted.Agent(cases, rates), planted.User(cases)
    to_user = [{"role": "system", "content": prompt(task)}, {"role": "user", "content": "How can I help?"}]
    to_agent = [{"role": "system", "content": "policy"}, {"role": "assistant", "content": "How can I help?"}]
    calls = []
    for _ in range(400):
        words = user.reply({"messages": to_user, "seed": seed})
        to_user.append(words)
        if words.get("tool_calls"):
            to_user.append({"role": "tool", "tool_call_id": words["tool_calls"][0]["id"], "content": "ok"})
            continue
        if words["content"] == "###STOP###":
            return calls, to_agent[-1]["content"]
        to_agent.append({"role": "user", "content": words["content"]})
        while True:
            answer = agent.reply({"messages": to_agent, "seed": seed, "tools": tools(names, **more)})
            to_agent.append(answer)
            if not answer.get("tool_calls"):
                break
            calls.append(next(planted.calls_of(answer)))
            to_agent.append({"role": "tool", "tool_call_id": answer["tool_calls"][0]["id"], "content": "result"})
        to_user.append({"role": "user", "content": answer["content"]})
    raise AssertionError(f"{task['id']}: the conversation does not end")


def golden_of(cases, task):
    return [(name, arguments) for side, name, arguments in cases.actions[str(task["id"])] if side == "assistant"]


def check_file(tasks):
    tasks = planted.mark(json.loads(json.dumps(tasks)))
    cases = planted.Cases(tasks)
    names = sorted({name for task in tasks for name, _ in golden_of(cases, task)} | {"find"})
    rates = {"hallucination": 0.2, "recovery": 0.6, "seed": 5, "names": WRONG}
    steps = strays = after = after_strays = total = wrong = 0
    for task in tasks:
        golden = golden_of(cases, task)
        calls, last = converse(task, cases, {}, 1, names)
        assert calls == golden, task["id"]
        assert all(text in last for text in cases.communicated[str(task["id"])])
        for seed in range(8):
            calls, _ = converse(task, cases, rates, seed, names)
            assert [c for c in calls if c[0] not in WRONG] == golden
            failed = False
            for name, _ in calls:
                after, steps = after + failed, steps + (not failed)
                after_strays += failed and name in WRONG
                strays += (not failed) and name in WRONG
                failed = name in WRONG
                total, wrong = total + 1, wrong + failed
    near(strays, steps, 0.2)
    near(after_strays, after, 0.4)
    near(wrong, total, 0.2 / 0.8, 1.3)
    print(f"{len(tasks)} tasks: {strays}/{steps} stray, {after_strays}/{after} again, {wrong}/{total} of all calls")


def near(count, of, rate, spread=1.0):
    sigma = spread * (rate * (1 - rate) / max(of, 1)) ** 0.5
    assert of == 0 or abs(count / of - rate) < 4 * sigma, (count, of, rate)


def check_constraint():
    cases = planted.Cases(SMALL)
    rates = {"hallucination": 0.5, "recovery": 0.5, "seed": 1}
    seen = set()
    for seed in range(200):
        calls, _ = converse(SMALL[0], cases, rates, seed, ["find", "buy", "sell"], strict=True)
        assert all(name in ("find", "buy", "sell") for name, _ in calls)
        golden = golden_of(cases, SMALL[0])
        seen |= {("tool" if "not_a_parameter" in a else "argument") for n, a in calls if (n, a) not in golden}
    assert seen == {"tool", "argument"}, seen


def check_repair():
    cases = planted.Cases(SMALL)
    names = ["find", "buy", "sell", "look"]
    again = 0
    for seed in range(2000):
        agent = planted.Agent(cases, {"hallucination": 1.0, "recovery": 0.0, "repair": 0.75, "names": WRONG})
        messages = [{"role": "user", "content": "This is about case <one>."}]
        request = {"messages": messages, "seed": seed, "tools": tools(names)}
        first = agent.reply(request)
        assert first["tool_calls"][0]["function"]["name"] in WRONG
        messages += [first, {"role": "tool", "content": "No such tool. Valid: find, buy, sell, look."}]
        again += agent.reply(request)["tool_calls"][0]["function"]["name"] in WRONG
    near(again, 2000, 0.25)


def check_case_lookup():
    cases = planted.Cases(SMALL)
    for task in SMALL:
        assert cases.of_scenario(prompt(task)) == task["id"]
    try:
        planted.Cases(SMALL + [{**SMALL[0], "id": "twin"}]).of_scenario(prompt(SMALL[0]))
    except planted.CannotTell:
        return
    raise AssertionError("two tasks with one scenario were told apart")


def main():
    check_case_lookup()
    check_constraint()
    check_repair()
    check_file(SMALL)
    for path in sys.argv[1:]:
        if pathlib.Path(path).exists():
            check_file(json.loads(pathlib.Path(path).read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
