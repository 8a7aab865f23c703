#!/usr/bin/env python3
"""unmask run against a server that alone knows how often its agents fail, and what the audit makes of the logs.

    end_to_end.py UNMASK_BINARY DATA DOMAIN[,DOMAIN...] TRIALS [--rates]

DATA is a tau2-bench data folder. The server plays the user and five agents: three precisions of one agent, the last of them
with repair, and with constrained names. Always checked: every episode is played and graded, repair takes invented names out of
the budget, constraint moves the failures to other channels and the audit says so. With --rates the planted rates must also
lie in the audit's intervals: needs enough tasks. 77: the data are not there (skipped).
"""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {"lookup_record": 5.0, "fetch_customer": 3.0, "update_account": 2.0, "check_policy": 1.0, "open_case": 1.0,
         "get_history": 1.0}
# Seeds differ, or the arms would fail at the same places.
RATES = {"agent:bf16": {"hallucination": 0.20, "recovery": 0.60, "repair": 0.80, "seed": 11, "names": NAMES},
         "agent:fp8": {"hallucination": 0.24, "recovery": 0.60, "repair": 0.80, "seed": 12, "names": NAMES},
         "agent:int4": {"hallucination": 0.45, "recovery": 0.60, "repair": 0.80, "seed": 13, "names": NAMES}}
ARMS = [("BF16", "agent:bf16", ""), ("FP8", "agent:fp8", ""), ("INT4", "agent:int4", ""),
        ("INT4-repair", "agent:int4", "repair = { attempts = 3 }"),
        ("INT4-names", "agent:int4", 'constrain = "names"')]


class Failed(Exception):
    pass


def check(condition, sentence):
    if not condition:
        raise Failed(sentence)


def linked_data(source, folder, domains):
    """The data with "case <id>" in every scenario: links to the source but for the tasks."""
    domain_folders = {d.split("-")[0] for d in domains}
    root = next(p for p in (source / "tau2", source) if (p / "domains").is_dir())
    for path in root.rglob("*"):
        target = folder / path.relative_to(root)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif path.name == "tasks.json" and path.parent.name in domain_folders:
            target.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, HERE / "chat_server.py", "--tasks", path, "--mark", target], check=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path.resolve())
    for name in ("simulation_guidelines.md", "simulation_guidelines_tools.md"):
        rules = folder / "user_simulator" / name
        if not rules.exists():  # a small world has none
            rules.parent.mkdir(exist_ok=True)
            rules.write_text("You are the customer of the scenario. <PERSONA_GUIDELINES>\n")


@contextlib.contextmanager
def server(tasks, rates):
    command = [sys.executable, HERE / "chat_server.py", "--end-with-stdin", "--tasks", tasks, "--rates", rates]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield int(process.stdout.readline().split()[-1])
    finally:
        process.stdin.close()
        process.wait(timeout=10)


def plan_text(domain, trials, port, out):
    url = f'base_url = "http://127.0.0.1:{port}/v1"'
    lines = ['name = "end-to-end"', f'out = "{out}"', f'domains = ["{domain}"]', f"trials = {trials}", "seed = 7",
             "[user]", 'model = "user"', url, "max_concurrency = 16", "[judge]", 'model = "judge"', url, "[defaults]", 'family = "planted"', "max_concurrency = 16",
             "temperature = 0.7"]
    if domain in ("retail", "telecom"):
        lines.insert(0, 'split = "base"' if domain == "telecom" else "")
    for label, model, more in ARMS:
        lines += ["[[arm]]", f'label = "{label}"', f'precision = "{label}"', f'model = "{model}"', url, more]
        if label == "BF16":
            lines.append("baseline = true")
    return "\n".join(lines) + "\n"


def run(binary, folder, data, domain, trials, port):
    plan = folder / f"{domain}.toml"
    out = folder / f"out_{domain}"
    plan.write_text(plan_text(domain, trials, port, out))
    audit = folder / f"{domain}.json"
    done = subprocess.run([binary, "run", plan, "--tau2", data, "--json", audit, "--quiet"], capture_output=True, text=True)
    check(done.returncode == 0, f"{domain}: unmask run ended with {done.returncode}: {done.stderr[-600:]}")
    return json.loads(audit.read_text())


def inside(interval, value):
    return interval is not None and interval[0] <= value <= interval[1]


def summed(arm, channels):
    return sum(arm["channels"][c]["count"] for c in channels if c in arm["channels"])


def check_cell(cell, episodes, notes):
    baseline, candidate = cell["baseline"], cell["candidate"]
    label = candidate["arm"]["label"]
    for arm in (baseline, candidate):
        check(arm["episodes"]["total"] == episodes, f"{label}: {arm['episodes']['total']} episodes of {episodes}")
        check(arm["episodes"]["evaluated"] == episodes, f"{label}: {arm['episodes']} were not all graded")
    names = candidate["channels"]["tool_name"]["count"]
    if "repair" in label:
        repair = candidate["repair"]
        check(repair["refused"] > 0 and repair["repaired"] >= 0.9 * repair["refused"],
              f"{label}: {repair} were repaired, planted are 99.2 %")
        left, before = candidate["budget"]["mean_errors"], baseline["budget"]["mean_errors"]
        check(left < 0.25 * before or left < 0.1, f"{label}: {left} errors an episode, {before} in the baseline")
        notes.append(f"{label}: {repair['refused']} refused, {repair['repaired']} repaired")
    elif "names" in label:
        moved = summed(candidate, ("schema", "entity", "rejected"))
        check(names == 0, f"{label}: {names} invented names in spite of the constraint")
        check(moved > summed(baseline, ("schema", "entity", "rejected")), f"{label}: nothing moved to other channels")
        notes.append(f"{label}: {moved} failures moved to other channels")
    else:
        check("repair" not in candidate, f"{label}: repaired something without being asked")


def planted_recovery(arm, rates):
    """Of invented names the next call is right at the planted rate; of golden calls that the world itself refuses, when it is
    not an invented name. Right calls succeed but where the world refuses them as well."""
    invented = arm["channels"]["tool_name"]["count"]
    refused = summed(arm, ("schema", "entity", "rejected"))
    fails = refused / (arm["calls"]["agent"] - invented)
    right = invented * rates["recovery"] + refused * (1 - rates["hallucination"])
    return right / (invented + refused) * (1 - fails)


def rate_checks(cell, models):
    """(what, planted, interval) of the arms without help; shares of calls are h / (h + r) with h a golden call's."""
    out = []
    for side in ("baseline", "candidate"):
        arm = cell[side]
        rates = RATES[models[arm["arm"]["label"]]]
        share = rates["hallucination"] / (rates["hallucination"] + rates["recovery"])
        out.append((f"{arm['arm']['label']} tool_name per call", share, arm["channels"]["tool_name"]["ci95"]))
        out.append((f"{arm['arm']['label']} recovery", planted_recovery(arm, rates), arm["recovery"]["ci95"]))
    shares = [planted for what, planted, _ in out if "per call" in what]
    amplification = cell["channels"]["tool_name"]["amplification_ci95"]
    out.append((f"{cell['candidate']['arm']['label']} amplification", shares[1] / shares[0], amplification))
    return out


def main():
    binary, data, domains, trials = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3].split(","), int(sys.argv[4])
    if not data.is_dir():
        print(f"skipped: {data} is not there")
        return 77
    models = {label: model for label, model, _ in ARMS}
    checks, notes = {}, []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        rates = folder / "rates.json"
        rates.write_text(json.dumps(RATES))
        marked = folder / "tau2"
        linked_data(data, marked, domains)
        for domain in domains:
            tasks = marked / "domains" / domain / "tasks.json"
            with server(tasks, rates) as port:
                audit = run(os.path.abspath(binary), folder, marked, domain, trials, port)
            check(len(audit["cells"]) == len(ARMS) - 1, f"{domain}: {len(audit['cells'])} cells")
            episodes = audit["cells"][0]["baseline"]["episodes"]["total"]
            for cell in audit["cells"]:
                check_cell(cell, episodes, notes)
                if "--rates" in sys.argv and cell["candidate"]["arm"]["label"] in ("FP8", "INT4"):
                    checks.update({f"{domain} {what}": (planted, ci) for what, planted, ci in rate_checks(cell, models)})
            warned = {warning["code"] for warning in audit["warnings"]}
            if "--rates" in sys.argv:
                check("substitution" in warned, f"{domain}: no warning that failures moved; warnings: {sorted(warned)}")
            notes.append(f"{domain}: {episodes} episodes an arm")
    print("\n".join(notes))
    if "--rates" not in sys.argv:
        return 0
    missed = {what: found for what, found in checks.items() if not inside(found[1], found[0])}
    for what, (planted, interval) in checks.items():
        print(f"{'outside' if what in missed else 'inside '}  {what}: planted {planted:.4f}, interval {interval}")
    # Of twenty 95 % intervals one may miss; none by more than half its width.
    check(len(missed) <= max(1, len(checks) // 10), f"{len(missed)} of {len(checks)} planted rates lie outside their intervals")
    for what, (planted, interval) in missed.items():
        half = (interval[1] - interval[0]) / 2
        check(interval[0] - half <= planted <= interval[1] + half, f"{what} is far off: {planted} against {interval}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as problem:
        print(f"FAILED: {problem}")
        sys.exit(1)
