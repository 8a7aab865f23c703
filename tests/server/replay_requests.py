#!/usr/bin/env python3
"""What a replay sends is what the run sent: unmask run, then unmask replay of its logs, against one server.

    replay_requests.py UNMASK_BINARY DATA DOMAIN[,DOMAIN...] [TASKS]

DATA is a tau2-bench data folder; "-" for the pocket worlds. The server answers by a fixed rule from what it is sent: words, good
and invented calls, several at once, text beside calls, empty text beside calls, unreadable arguments, thoughts, leaked markup.
Checked, for every domain, in the tau2 form and in our own, with and without repair:
  - `messages` and `tools` of the replay's requests are those of the run's, byte for byte, as often as they were sent;
  - a replay killed (-9) again and again and resumed is the same file as one that was not;
  - Ctrl-C ends it with status 3.
77: the data are not there (skipped).
"""
import collections
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

SEND_REASONING = "send_reasoning = true"


class Failed(Exception):
    pass


def check(condition, sentence):
    if not condition:
        raise Failed(sentence)


def call(name, arguments, number):
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def sliced(body, key):
    """The bytes of a member's value."""
    at = body.find(f'"{key}": ')
    if at < 0:
        return ""
    at += len(key) + 4
    return body[at:json.JSONDecoder().raw_decode(body, at)[1]]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests = collections.defaultdict(list)  # (messages, tools) by model
        self.lock = threading.Lock()
        self.delay = 0.0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # a replay that was killed reads no reply

    def taken(self, prefix):
        with self.lock:
            found = [pair for model, pairs in self.requests.items() if model.startswith(prefix) for pair in pairs]
            return collections.Counter(found)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        request = json.loads(body)
        messages = sliced(body, "messages")
        with self.server.lock:
            self.server.requests[request["model"]].append((messages, sliced(body, "tools")))
        time.sleep(self.server.delay)
        draw = int(hashlib.sha256((messages + str(request.get("seed", 0) if "drawn" in request["model"] else 0)).encode()).hexdigest(), 16)
        names = [tool["function"]["name"] for tool in request.get("tools") or []]
        answer = self.user(request, names, draw) if request["model"] == "user" else self.agent(names, draw)
        reply = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **answer}}],
                 "usage": {"prompt_tokens": len(messages), "completion_tokens": 7}}
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def user(self, request, names, draw):
        said = sum(m["role"] == "assistant" for m in request["messages"])
        if said > 6:
            return {"content": "Thank you. ###STOP###"}
        if names and draw % 3 == 0:
            return {"content": "Looking." if draw % 2 else None, "tool_calls": [call(names[draw % len(names)], "{}", draw % 1000)]}
        return {"content": f"Please help – number {draw % 1000}, \"quoted\" é 🛒."}

    def agent(self, names, draw):
        name = names[draw % len(names)]
        number = draw % 100000
        return [
            {"content": f"Could you tell me more ({number})?"},
            {"content": None, "tool_calls": [call(name, "{}", number)]},
            {"content": "", "tool_calls": [call(name, '{ "user_id":"a\\u00e9é", "n": 1.0, "n2": 1e3 }', number)]},
            {"content": "I look it up.\n", "tool_calls": [call(name, "{}", number), call(names[0], '{"x": [1, {"y": null}]}', number + 1)]},
            {"content": None, "tool_calls": [call("lookup_" + name, '{"a": 1}', number)]},
            {"content": None, "tool_calls": [call(name, '{"a": ', number)]},
            {"content": None, "tool_calls": [call(name, "[1, 2]", number), call(name, "", number + 1)]},
            {"content": "Let me think – done.", "reasoning_content": f"They want {number}.\n\nSo I ask."},
            {"content": None, "reasoning_content": "A call, then.", "tool_calls": [call(name, "{}", number)]},
            {"content": f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>'},
            {"content": "  spaced\ttext  "},
        ][draw // 7 % 11]


def plan_text(name, domain, out, url, arms, tasks, user):
    lines = [f'name = "{name}"', f'out = "{out}"', f'domains = ["{domain}"]', "trials = 2", "seed = 5", "max_steps = 40",
             "max_errors = 6"]
    if tasks:
        lines.append("tasks = " + json.dumps(tasks))
    lines += ["[user]", f'model = "{user}"']
    lines += [] if user.startswith("scripted") else [url]
    lines += ["[defaults]", 'family = "f"', SEND_REASONING, "max_concurrency = 4", "temperature = 0.7", url]
    for label, model, more in arms:
        lines += ["[[arm]]", f'label = "{label}"', f'precision = "{label}"', f'model = "{model}"', more]
    return "\n".join(lines) + "\n"


def ran(command, status=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    check(done.returncode == status, f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr[-800:]}")
    return done


def difference(run, replay):
    lost, added = run - replay, replay - run
    text = f"{sum(run.values())} requests of the run, {sum(replay.values())} of the replay; {sum(lost.values())} were not sent " \
           f"again, {sum(added.values())} are new"
    for name, some in (("run", lost), ("replay", added)):
        for messages, tools in list(some)[:1]:
            text += f"\n{name}: ...{messages[-700:]}\n  tools {tools[:150]}..."
    return text


def first_tasks(binary, domain, data, count):
    listed = ran([binary, "tasks", domain, *data, "--json"]).stdout
    tasks = json.loads(listed)
    tasks = tasks["tasks"] if isinstance(tasks, dict) else tasks
    step = max(1, len(tasks) // count)
    return [task["id"] if isinstance(task, dict) else task for task in tasks[::step]][:count]


def check_domain(binary, folder, server, domain, data, count):
    url = f'base_url = "http://127.0.0.1:{server.server_address[1]}/v1"'
    user = "scripted:pocket" if domain.startswith("pocket") else "user"
    tasks = first_tasks(binary, domain, data, count)
    out = folder / f"run_{domain}"
    plan = folder / f"{domain}.toml"
    repair = 'repair = { channels = ["tool_name", "malformed", "schema"], attempts = 2 }'
    plan.write_text(plan_text("run", domain, out, url, [("plain", "agent:plain", "baseline = true"), ("repair", "agent:repair", repair)], tasks, user))
    again = folder / f"{domain}_replay.toml"
    again.write_text(plan_text("replay", domain, folder / "unused", url, [("A", "replay:a", "baseline = true"), ("B", "replay:b", "")],
                               tasks, user))
    server.requests.clear()
    ran([binary, "run", plan, *data, "--quiet"])
    for arm in ("plain", "repair"):
        sent = server.taken(f"agent:{arm}")
        logs = {"tau2": out / "results" / f"{arm}_{domain}.json", "native": out / "episodes" / arm / domain / "all.jsonl"}
        files = {}
        for form, log in logs.items():
            server.requests = collections.defaultdict(list, {m: r for m, r in server.requests.items() if not m.startswith("replay:")})
            files[form] = folder / f"{domain}_{arm}_{form}.jsonl"
            ran([binary, "replay", log, "--plan", again, *data, "--out", files[form], "--quiet"])
            for model in ("replay:a", "replay:b"):
                replayed = server.taken(model)
                check(replayed == sent, f"{domain}, {arm}, {form}, {model}: {difference(sent, replayed)}")
        print(f"{domain}, {arm}: {sum(sent.values())} requests, the same in both forms of the log")
        check(sum(sent.values()) >= 6 * len(tasks), f"{domain}: only {sum(sent.values())} requests in {2 * len(tasks)} episodes")
    return again, logs["tau2"], files["tau2"]


def killed_and_resumed(binary, folder, server, data, plan, log, expected):
    server.delay = 0.02
    out = folder / "killed.jsonl"
    command = [str(c) for c in (binary, "replay", log, "--plan", plan, *data, "--out", out, "--quiet")]
    kills = 0
    for instant in (0.15, 0.3, 0.2, 0.45, 0.25, 0.6, 0.35):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(instant)
        kills += process.poll() is None
        process.kill()
        process.wait()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    check(process.returncode in (0, 3), f"an interrupted replay ended with {process.returncode}: {said}")
    check(process.returncode == 0 or "the same command goes on" in said, f"it said: {said}")
    server.delay = 0.0
    ran(command)
    same = [line for line in out.read_text().splitlines()[1:]] == [line for line in expected.read_text().splitlines()[1:]]
    check(same, f"{out.name} differs from {expected.name}")
    print(f"killed {kills} times and interrupted once (status {process.returncode}): the same lines")


def main():
    binary, source, domains = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 6
    if source != "-" and not pathlib.Path(source).is_dir():
        print(f"skipped: {source} is not there")
        return 77
    server = Server()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        data = []
        if source != "-":
            data = ["--tau2", folder / "tau2"]
            shutil.copytree(source, folder / "tau2", symlinks=False)
            for path in [folder / "tau2", *(folder / "tau2").rglob("*")]:
                path.chmod(0o755 if path.is_dir() else 0o644)
            root = next(p for p in (folder / "tau2" / "data" / "tau2", folder / "tau2" / "tau2", folder / "tau2") if (p / "domains").is_dir())
            for name in ("simulation_guidelines.md", "simulation_guidelines_tools.md"):
                if not (root / "user_simulator" / name).exists():
                    (root / "user_simulator").mkdir(exist_ok=True)
                    (root / "user_simulator" / name).write_text("You are the customer of the scenario. <PERSONA_GUIDELINES>\n")
        try:
            for domain in domains:
                plan, log, file = check_domain(binary, folder, server, domain, data, count)
            killed_and_resumed(binary, folder, server, data, plan, log, file)
        except Failed as problem:
            print(f"FAILED: {problem}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
