"""Pages that the tests of the HTML report look at, made by the program itself in a folder."""
import json
import pathlib
import subprocess
import sys

ATTACKS = [
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=2>",
    "\" onmouseover=\"window.pwned=3\" x=\"",
    "<!--<script>",
    "javascript:window.pwned=4",
    "\u2028\u2029\u202e;window.pwned=5",
    "${window.pwned=6} {{constructor.constructor('window.pwned=7')()}} datum.x",
    "</style></title></textarea><svg onload=window.pwned=8>",
]
SECRETS = ["Bearer abcdef0123456789", "sk-proj-ABCDEF0123456789", "api_key=verysecretvalue"]


def run(program, *arguments, status=0):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: status {done.returncode}: {done.stderr}"
    return done


def plant(program, folder, name, *arguments):
    """The two logs of a planted cell."""
    run(program, "plant", "-q", "-o", folder / name, *arguments)
    return folder / f"{name}_baseline.json", folder / f"{name}_candidate.json"


def audit(program, folder, name, *arguments, status=0):
    """(page, JSON report) of an audit."""
    page, report = folder / f"{name}.html", folder / f"{name}.audit.json"
    run(program, "audit", "-q", *arguments, "--html", page, "--json", report, status=status)
    return page, json.loads(report.read_text())


def gate_criteria(folder):
    """Criteria of every kind, in a file whose name is an attack; some hold and some fail, whatever the log."""
    path = folder / "<img src=x onerror=window.pwned=9>.toml"
    path.write_text("min_success_tight_percent = 99\nrequire_equivalence = true\nmin_tasks = 5\nmin_trials = 90\n"
                    "[max_amplification]\ntool_name = 1.05\n[max_increase_points]\ntool_name = 0.5\nschema = 50\n")
    return path


def inspect(program, folder, name, *arguments):
    page, report = folder / f"{name}.html", folder / f"{name}.inspect.json"
    run(program, "inspect", "-q", *arguments, "--html", page, "--json", report)
    return page, json.loads(report.read_text())


def margins(program, folder, name, *replays):
    """(page, JSON report) of an analysis of replays."""
    page, report = folder / f"{name}.html", folder / f"{name}.margins.json"
    run(program, "margins", "-q", *replays, "--bootstrap", 300, "--noise", 0.8, "--html", page, "--json", report)
    return page, json.loads(report.read_text())


def replay(program, folder, name, *arguments):
    """A planted replay of decisions."""
    path = folder / f"{name}.jsonl"
    run(program, "plant", "-q", "--replay", "--out", path, *arguments)
    return path


def poisoned_replay(path, to):
    """A replay whose labels, models, tasks and names are attacks."""
    attack = lambda text, i: f"{text} {ATTACKS[i % len(ATTACKS)]}"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    labels = {arm["label"]: attack(arm["label"], i) for i, arm in enumerate(lines[0]["arms"])}
    lines[0]["log"] = lines[0]["domain"] = ATTACKS[0]
    for arm in lines[0]["arms"]:
        arm.update(label=labels[arm["label"]], model=ATTACKS[1], precision=ATTACKS[2])
        if arm.get("repeats"):
            arm["repeats"] = labels[arm["repeats"]]
    for line in lines[1:]:
        if line["kind"] == "context":
            line["task"] = attack(line["task"], len(line["task"]))
        if line["kind"] == "reply":
            line["arm"] = labels[line["arm"]]
            for call in line.get("calls", []):
                if line.get("channel"):
                    call["name"] = attack(call["name"], 0)
                    line.get("decision", {}).get("name", {}).update(name=call["name"])
    to.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return to


def poisoned(log, to):
    """A log whose every text is an attack: tool names, arguments, ids, messages, the model's name."""
    data = json.loads(log.read_text())
    attack = lambda i: ATTACKS[i % len(ATTACKS)]
    names = {task["id"]: f"{task['id']} {attack(i)}" for i, task in enumerate(data["tasks"])}
    for task in data["tasks"]:
        task["id"] = names[task["id"]]
    data["info"]["agent_info"]["llm"] += " " + attack(0)
    data["info"]["git_commit"] = attack(1)
    for s, simulation in enumerate(data["simulations"]):
        simulation["task_id"] = names[simulation["task_id"]]
        for m, message in enumerate(simulation["messages"]):
            if message.get("content"):
                message["content"] += " " + attack(s + m) + " " + SECRETS[m % len(SECRETS)]
            for call in message.get("tool_calls") or []:
                call["arguments"]["x"] = attack(m)
                if call["name"].startswith(("check_", "toggle_", "functions.", "enable-")):
                    call["name"] += attack(s % 4)
    to.write_text(json.dumps(data))
    return to


def grid(program, folder, tasks=40):
    """A 2×2×2 grid: one family damaged where it is not clean, the other with one cell whose score fell."""
    place = folder / "grid"
    place.mkdir()
    for f, family in enumerate(["gemma-4", "qwen-3.6"]):
        for a, architecture in enumerate(["dense", "moe"]):
            for d, domain in enumerate(["telecom", "retail"]):
                preset = "damaged" if f == 0 and a == d else "clean"
                more = [] if preset == "damaged" else ["--tasks", tasks]
                if (f, a, d) == (1, 1, 1):
                    more += ["--success", "0.66,0.48"]
                logs = plant(program, folder, "cell", "--preset", preset, "--domain", domain, *more,
                             "--seed", 7 + 4 * f + 2 * a + d)
                for log, precision in zip(logs, ["bf16", "int4"]):
                    log.rename(place / f"{family}-{architecture}_{domain}_{precision}.json")
    return place


def with_decisions(folder):
    """Two logs whose decisions carry log-probabilities."""
    place = folder / "with_decisions"
    place.mkdir()
    script = pathlib.Path(__file__).parent.parent / "data" / "decision_logs.py"
    subprocess.run([sys.executable, script, place, "60"], check=True)
    return place / "bf16.json", place / "int4.json"


def all_pages(program, folder):
    """name -> (page, JSON report)."""
    folder = pathlib.Path(folder)
    damaged = plant(program, folder, "damaged", "--preset", "damaged", "--exact")
    clean = plant(program, folder, "clean", "--preset", "clean")
    hostile = [poisoned(log, folder / f"hostile{i}.json")
               for i, log in enumerate(plant(program, folder, "small", "--preset", "damaged", "--tasks", 24))]
    grid_place = grid(program, folder)
    return {
        "damaged": audit(program, folder, "damaged", *damaged),
        "gate": audit(program, folder, "gate", *damaged, "--gate", gate_criteria(folder), status=1),
        "grid_gate": audit(program, folder, "grid_gate", "--grid", grid_place, "--gate", "--bootstrap", 500, status=1),
        "clean": audit(program, folder, "clean", *clean),
        "grid": audit(program, folder, "grid", "--grid", grid_place, "--bootstrap", 500),
        "decisions": audit(program, folder, "decisions", *with_decisions(folder), "--bootstrap", 500),
        "inspect": inspect(program, folder, "inspect", damaged[1]),
        "margins": margins(program, folder, "margins", replay(program, folder, "replay", "--noise", 1.2, "--shrink", 0.8),
                           replay(program, folder, "greedy", "--tasks", 12, "--decisions", 5)),
        "hostile_margins": margins(program, folder, "hostile_margins",
                                   poisoned_replay(replay(program, folder, "small", "--noise", 2, "--tasks", 20),
                                                   folder / "hostile.jsonl")),
        "hostile": audit(program, folder, "hostile", *hostile, "--label", ATTACKS[0], "--label", ATTACKS[2],
                         "--gate", gate_criteria(folder), status=1),
        "hostile_inspect": inspect(program, folder, "hostile_inspect", hostile[1]),
    }
