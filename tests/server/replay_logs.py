#!/usr/bin/env python3
"""Replays logs of others, and compares what is sent with the messages tau2-bench itself would have sent.

    replay_logs.py UNMASK_BINARY SHARED

SHARED/logs has the logs, SHARED/tau2 the data. Upstream's agent sends its prompt, then the messages it has seen: the user's words,
its own messages with arguments as json.dumps writes them, the results of its own calls. That is written down here once more, from
the log's JSON alone, and must be what arrives, message for message; the prompt must hold the log's policy, and the tools be those of
the domain. 77: the logs are not there (skipped).
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

from replay_requests import Failed, Server, check

SEEN_ROLES = ("assistant", "user", "tool")


def visible(message):
    if message["role"] == "tool":
        return message.get("requestor", "assistant") == "assistant"
    return message["role"] == "assistant" or not message.get("tool_calls")


def sent(message):
    if message["role"] == "tool":
        return {"role": "tool", "content": message["content"], "tool_call_id": message["id"]}
    out = {"role": message["role"], "content": message["content"]}
    if message.get("tool_calls"):
        out["tool_calls"] = [{"id": c["id"], "type": "function",
                              "function": {"name": c["name"], "arguments": json.dumps(c["arguments"])}} for c in message["tool_calls"]]
    return out


def flat(messages):
    for message in messages:
        yield from message.get("tool_messages") or [message]


def decisions(log):
    """For every message that the agent's model wrote: what it had been sent, without the prompt."""
    tasks = {task["id"]: task for task in log["tasks"]}
    for simulation in log["simulations"]:
        history = (tasks[simulation["task_id"]].get("initial_state") or {}).get("message_history") or []
        messages = list(flat(simulation["messages"]))
        begin = len(list(flat(history))) or 1  # else the greeting, which nobody generates
        for i, message in enumerate(messages):
            if message["role"] == "assistant" and i >= begin:
                yield [sent(m) for m in messages[:i] if m["role"] in SEEN_ROLES and visible(m)]


def text(value):
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def check_log(binary, folder, server, path, tau2):
    log = json.loads(path.read_text())
    domain = log["info"]["environment_info"]["domain_name"]
    expected = collections.Counter(text(messages) for messages in decisions(log))
    server.requests.clear()
    out = folder / (path.stem + ".jsonl")
    url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    done = subprocess.run([binary, "replay", path, "--tau2", tau2, "--model", f"replay:a@{url}", "--out", out], capture_output=True, text=True)
    check(done.returncode == 0, f"{path.name}: status {done.returncode}: {done.stderr[-600:]}")
    requests = server.taken("replay:a")
    arrived, prompts, tools = collections.Counter(), set(), set()
    for (messages, offered), times in requests.items():
        parsed = json.loads(messages)
        prompts.add(parsed[0]["content"])
        tools.add(offered)
        arrived[text(parsed[1:])] += times
    check(arrived == expected, f"{path.name}: {sum((expected - arrived).values())} of {sum(expected.values())} are not as upstream sends "
                               f"them\n  upstream {list(expected - arrived)[:1]}\n  arrived  {list(arrived - expected)[:1]}")
    policy = log["info"]["environment_info"]["policy"]
    same_policy = all(policy in prompt for prompt in prompts)
    warned = "another policy" in done.stderr
    check(len(prompts) == 1 and same_policy != warned, f"{path.name}: the prompt has the log's policy: {same_policy}; warned: {warned}")
    surface = json.loads((tau2 / "surface" / f"{domain}.json").read_text())["assistant"]
    check(len(tools) == 1 and [t["function"] for t in json.loads(list(tools)[0])] == [t["function"] for t in surface],
          f"{path.name}: other tools than those of the surface")
    print(f"{path.name}: {sum(expected.values())} decisions of {len(log['simulations'])} episodes; the log's policy: {same_policy}")
    return sum(expected.values())


def main():
    binary, shared = sys.argv[1], pathlib.Path(sys.argv[2])
    logs = sorted((shared / "logs").glob("tau2_*.json"))
    if not logs or not (shared / "tau2").is_dir():
        print(f"skipped: {shared / 'logs'} has no logs")
        return 77
    server = Server()
    with tempfile.TemporaryDirectory() as temporary:
        try:
            count = sum(check_log(binary, pathlib.Path(temporary), server, path, shared / "tau2") for path in logs)
        except Failed as problem:
            print(f"FAILED: {problem}")
            return 1
    print(f"{count} decisions in {len(logs)} logs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
