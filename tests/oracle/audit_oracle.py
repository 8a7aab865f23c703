#!/usr/bin/env python3
"""An independent audit of two planted tau2-bench logs, to hold unmask's numbers against.

usage: audit_oracle.py BASELINE CANDIDATE              the numbers, as JSON
       audit_oracle.py --compare AUDIT BASELINE CANDIDATE   exit 1 where `unmask audit --json` differs

Shares no code with unmask: the standard library, numpy and scipy, and rules of its own that know the
texts of planted telecom logs. Keys are JSON pointers into one cell of an unmask.audit/1 report.
"""
import collections
import gzip
import json
import math
import sys

import numpy as np
from scipy import stats

CHANNELS = ("malformed", "tool_name", "schema", "entity", "rejected")
AGENT_TOOLS = """get_customer_by_phone get_customer_by_id get_customer_by_name get_details_by_id suspend_line
resume_line get_bills_for_customer send_payment_request get_data_usage enable_roaming disable_roaming
transfer_to_human_agents refuel_data""".split()
USER_TOOLS = """check_status_bar check_network_status check_network_mode_preference
set_network_mode_preference run_speed_test toggle_airplane_mode check_sim_status reseat_sim_card toggle_data
toggle_roaming check_data_restriction_status toggle_data_saver_mode check_apn_settings set_apn_settings
reset_apn_settings check_wifi_status toggle_wifi check_wifi_calling_status toggle_wifi_calling check_vpn_status
connect_vpn disconnect_vpn check_installed_apps check_app_status check_app_permissions grant_app_permission
can_send_mms reboot_device check_payment_request make_payment""".split()
K_TIGHT = 2
MARGIN = 0.075
BINS = (("1-5", 5), ("6-10", 10), ("11-20", 20), ("21+", math.inf))


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def edits(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(diagonal + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def kind_of_name(name):
    if name in USER_TOOLS:
        return "other_side"
    fold = lambda s: "".join(c for c in s.split(".")[-1].lower() if c.isalnum())
    for tool in AGENT_TOOLS:
        if fold(name) == fold(tool) or edits(name, tool) / max(len(name), len(tool)) <= 0.25:
            return "near_miss"
    return "invented"


def channel_of(call, reply):
    """Channel and sub-kind of one answered call."""
    if not isinstance(call["arguments"], dict):
        return "malformed", "bad_json"
    if not reply["error"]:
        return "ok", None
    text = reply["content"]
    if text == f"Error: Tool '{call['name']}' not found.":
        return "tool_name", kind_of_name(call["name"])
    if "required positional argument" in text:
        return "schema", "missing"
    if "unexpected keyword argument" in text:
        return "schema", "unexpected"
    if text.endswith("not found") or "not found for customer" in text:
        return "entity", None
    return "rejected", None


class Episode:
    """One simulation, counted."""

    def __init__(self, simulation):
        self.task = simulation["task_id"]
        self.trial = simulation["trial"]
        self.ran = simulation["termination_reason"] != "infrastructure_error"
        self.cut = simulation["termination_reason"] == "too_many_errors"
        reward = (simulation["reward_info"] or {}).get("reward")
        self.success = None if reward is None else abs(reward - 1) <= 1e-6
        self.calls = []  # the agent's: (message index, channel, kind, name)
        self.user_calls = 0
        self.errors = {"all": 0, "agent": 0}
        self.count(simulation["messages"])

    def count(self, messages):
        replies = {m["id"]: m for m in messages if m["role"] == "tool"}
        for reply in replies.values():
            self.errors["all"] += reply["error"]
            self.errors["agent"] += reply["error"] and reply["requestor"] == "assistant"
        for index, message in enumerate(messages):
            if message["role"] == "tool":
                continue
            made = message["tool_calls"] or []
            if message["role"] == "user":
                self.user_calls += len(made)
                continue
            if not made and "<tool_call>" in message["content"]:
                self.calls.append((index, "malformed", "leaked_markup", ""))
            for call in made:
                channel, kind = channel_of(call, replies[call["id"]])
                self.calls.append((index, channel, kind, call["name"]))

    def reactions(self):
        """How each failed call of the agent went on: recovered, not or censored."""
        for message, channel, _, _ in self.calls:
            if channel == "ok":
                continue
            later = [c for c in self.calls if c[0] > message]
            if later:
                yield "recovered" if later[0][1] == "ok" else "not"
            else:
                yield "censored" if self.cut else "not"

    def bursts(self):
        run = 0
        for call in self.calls + [(None, "ok", None, "")]:
            if call[1] != "ok":
                run += 1
            elif run:
                yield run
                run = 0


class Arm:
    def __init__(self, path):
        log = read(path)
        self.k0 = log["info"]["max_errors"]
        self.episodes = [Episode(s) for s in log["simulations"]]
        self.ran = [e for e in self.episodes if e.ran]
        self.evaluated = [e for e in self.ran if e.success is not None]

    def tasks(self):
        return sorted({e.task for e in self.evaluated})

    def task_means(self, value):
        by_task = collections.defaultdict(list)
        for episode in self.evaluated:
            by_task[episode.task].append(float(value(episode)))
        return {task: sum(values) / len(values) for task, values in by_task.items()}

    def mean(self, value):
        return float(np.mean(list(self.task_means(value).values())))

    def mean_of_ran(self, value):
        by_task = collections.defaultdict(list)
        for episode in self.ran:
            by_task[episode.task].append(float(value(episode)))
        return float(np.mean([np.mean(values) for values in by_task.values()]))

    def all_calls(self):
        return [call for episode in self.ran for call in episode.calls]

    def failures(self, channels):
        return sum(call[1] in channels for call in self.all_calls())

    def failing_tasks(self, channels):
        return len({e.task for e in self.ran for c in e.calls if c[1] in channels})

    def names(self):
        return collections.Counter(c[3] for c in self.all_calls() if c[1] == "tool_name")


def within(k, count="all", live=False):
    return lambda e: e.success and (e.errors[count] < k if live else e.errors[count] <= k)


def pass_hat_k(arm):
    by_task = collections.defaultdict(list)
    for episode in arm.evaluated:
        by_task[episode.task].append(episode.success)
    for k in range(1, min(map(len, by_task.values())) + 1):
        yield k, float(np.mean([math.comb(sum(s), k) / math.comb(len(s), k) for s in by_task.values()]))


def channel_numbers(arm, channels):
    count, calls = arm.failures(channels), len(arm.all_calls())
    having = sum(any(c[1] in channels for c in e.calls) for e in arm.ran)
    yield "count", count
    yield "per_call", count / calls
    yield "per_episode", arm.mean_of_ran(lambda e: sum(c[1] in channels for c in e.calls))
    yield "episodes_with", having
    yield "share_with", arm.mean_of_ran(lambda e: any(c[1] in channels for c in e.calls))
    kinds = collections.Counter(c[2] for c in arm.all_calls() if c[1] in channels and c[2])
    for kind, number in kinds.items():
        yield f"kinds/{kind}", number


def arm_numbers(arm):
    yield "episodes/total", len(arm.episodes)
    yield "episodes/evaluated", len(arm.evaluated)
    yield "episodes/excluded_infrastructure", len(arm.episodes) - len(arm.ran)
    yield "episodes/tasks", len({e.task for e in arm.episodes})
    yield "success/rate", arm.mean(lambda e: e.success)
    for k, value in pass_hat_k(arm):
        yield f"success/pass_hat_k/{k}", value
    yield "calls/agent", len(arm.all_calls())
    yield "calls/user", sum(e.user_calls for e in arm.ran)
    yield "calls/failed_agent", arm.failures(CHANNELS)
    yield "calls/failed_user", sum(e.errors["all"] - e.errors["agent"] for e in arm.ran)
    for channel in CHANNELS:
        for key, value in channel_numbers(arm, [channel]):
            yield f"channels/{channel}/{key}", value
    for key, value in channel_numbers(arm, ["schema", "entity"]):
        yield f"argument/{key}", value
    yield "budget/k0", arm.k0
    for k in range(arm.k0 + 1):
        final = k == arm.k0  # the K0 point is the final score
        yield f"budget/curve/{k}/success", arm.mean((lambda e: e.success) if final else within(k))
    for k in range(1, arm.k0 + 1):
        yield f"budget/curve_live/{k - 1}/success", arm.mean(within(k, live=True))
    yield "budget/mean_errors", arm.mean_of_ran(lambda e: e.errors["all"])
    yield "budget/share_near_exhaustion", arm.mean_of_ran(lambda e: e.errors["all"] >= arm.k0 - 2)
    reactions = collections.Counter(r for e in arm.ran for r in e.reactions())
    counted = reactions["recovered"] + reactions["not"]
    yield "recovery/failures", counted
    yield "recovery/recovered", reactions["recovered"]
    yield "recovery/censored", reactions["censored"]
    yield "recovery/rate", reactions["recovered"] / counted if counted else None
    ranked = sorted(arm.names().items(), key=lambda item: (-item[1], item[0]))
    for i, (name, count) in enumerate(ranked):
        yield f"names/{i}/name", name
        yield f"names/{i}/count", count
        yield f"names/{i}/kind", kind_of_name(name)
    for length, count in collections.Counter(b for e in arm.ran for b in e.bursts()).items():
        yield f"bursts/lengths/{length}", count
    yield "length/agent_calls_mean", arm.mean_of_ran(lambda e: len(e.calls))
    low = 0
    for i, (label, high) in enumerate(BINS):
        inside = [c for e in arm.ran for n, c in enumerate(e.calls) if low <= n < high]
        yield f"positions/{i}/calls_of_episode", label
        yield f"positions/{i}/calls", len(inside)
        for channel in CHANNELS:
            yield f"positions/{i}/failures/{channel}", sum(c[1] == channel for c in inside)
        low = high


def paired(baseline, candidate, value):
    before, after = baseline.task_means(value), candidate.task_means(value)
    return np.array([after[t] - before[t] for t in sorted(before.keys() & after.keys())])


def possible(limit):
    """Two proportions differ by at most 1."""
    return min(max(limit, -1.0), 1.0)


def df_of(values):
    others = len(values) - max(collections.Counter(round(float(v), 9) for v in values).values())
    few = others < len(values) / 2 and others < 20
    return (others if few else len(values) - 1), few


def t_numbers(values):
    n = len(values)
    mean, se = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(n)
    yield "mean", mean
    yield "se", se
    if se > 0:  # where it is 0 unmask has a rule of its own, tested elsewhere
        # Where few tasks differ from a majority of equal ones, their number is what the interval rests on.
        df, few = df_of(values)
        half = se * stats.t.ppf(0.975, df)
        if few:  # and never narrower than where no task differs: a share of tasks may have gone unseen
            half = max(half, 1 - 0.025 ** (1 / n))
        p = float(2 * stats.t.sf(abs(mean) / se, n - 1))
        low, high = possible(mean - half), possible(mean + half)
        yield "p", p
        yield "ci95/0", max(low, 0.0) if p < 0.05 and mean > 0 else low
        yield "ci95/1", min(high, 0.0) if p < 0.05 and mean < 0 else high


def outcome_numbers(baseline, candidate):
    values = paired(baseline, candidate, lambda e: e.success)
    numbers = dict(t_numbers(values))
    yield "delta", numbers.pop("mean")
    yield from numbers.items()
    se, (df, few) = numbers["se"], df_of(values)
    if se > 0:
        mean = float(values.mean())
        p = max(stats.t.sf((mean + MARGIN) / se, df), stats.t.cdf((mean - MARGIN) / se, df))
        half = se * stats.t.ppf(0.95, df)
        if few:
            p = max(p, (1 - max(MARGIN - abs(mean), 0.0)) ** len(values))
            half = max(half, 1 - 0.05 ** (1 / len(values)))
        yield "tost/margin", MARGIN
        yield "tost/p", float(p)
        yield "tost/equivalent", bool(-MARGIN < mean - half and mean + half < MARGIN)
        yield "tost/ci90/0", possible(mean - half)
        yield "tost/ci90/1", possible(mean + half)


def unmasked_gap(baseline, candidate, count):
    return paired(baseline, candidate, lambda e: e.success and e.errors[count] > K_TIGHT)


def budget_numbers(baseline, candidate):
    k0 = min(baseline.k0, candidate.k0)
    for k in range(k0 + 1):
        value = (lambda e: e.success) if k == k0 else within(k)
        yield f"gap/{k}/k", k
        yield f"gap/{k}/gap", baseline.mean(value) - candidate.mean(value)
    yield "gap_tight", baseline.mean(within(K_TIGHT)) - candidate.mean(within(K_TIGHT))
    numbers = dict(t_numbers(unmasked_gap(baseline, candidate, "all")))
    numbers["value"] = numbers.pop("mean")
    numbers.pop("se")
    for key, value in numbers.items():
        yield f"unmasked_gap/{key}", value
    agent = unmasked_gap(baseline, candidate, "agent")
    yield "unmasked_gap/agent_only/value", float(agent.mean())
    final = baseline.mean(lambda e: e.success) - candidate.mean(lambda e: e.success)
    tight = baseline.mean(within(K_TIGHT)) - candidate.mean(within(K_TIGHT))
    if abs(final) >= 0.01:
        yield "masking_factor", tight / final


def channel_comparison(baseline, candidate, channels):
    b, c = baseline.failures(channels), candidate.failures(channels)
    calls_b, calls_c = len(baseline.all_calls()), len(candidate.all_calls())
    yield "baseline", b / calls_b
    yield "candidate", c / calls_c
    yield "baseline_count", b
    yield "candidate_count", c
    yield "difference", c / calls_c - b / calls_b
    sparser = min(baseline.failing_tasks(channels), candidate.failing_tasks(channels))
    if b < 5 or sparser < 8:
        yield "amplification", None
        return
    yield "amplification", (c / calls_c) / (b / calls_b)
    per_episode = [arm.mean_of_ran(lambda e: sum(x[1] in channels for x in e.calls)) for arm in (baseline, candidate)]
    yield "volume", per_episode[1] / per_episode[0]
    yield "per_other_call", (c / (calls_c - c)) / (b / (calls_b - b))


def name_numbers(before, after):
    union = sorted(before.keys() | after.keys())
    total = sum(after.values())
    novel = sum(n for name, n in after.items() if name not in before)
    yield "novel_calls", novel
    yield "candidate_calls", total
    yield "novel_share", novel / total if total else None
    if len(union) < 5:
        yield "spearman", None
        return
    x, y = [before[n] for n in union], [after[n] for n in union]
    yield "spearman", float(stats.spearmanr(x, y)[0])
    yield "kendall_tau_b", float(stats.kendalltau(x, y)[0])
    yield "jaccard", len(before.keys() & after.keys()) / len(union)


def audit(baseline, candidate):
    numbers = {}

    def add(prefix, pairs):
        for key, value in pairs:
            numbers[f"{prefix}/{key}"] = value

    add("/baseline", arm_numbers(baseline))
    add("/candidate", arm_numbers(candidate))
    add("/paired", [("tasks", len(set(baseline.tasks()) & set(candidate.tasks()))),
                    ("episodes_baseline", len(baseline.evaluated)),
                    ("episodes_candidate", len(candidate.evaluated))])
    add("/outcome", outcome_numbers(baseline, candidate))
    add("/budget", budget_numbers(baseline, candidate))
    for channel in CHANNELS:
        add(f"/channels/{channel}", channel_comparison(baseline, candidate, [channel]))
    add("/argument", channel_comparison(baseline, candidate, ["schema", "entity"]))
    rates = [dict(arm_numbers(arm))["recovery/rate"] for arm in (baseline, candidate)]
    difference = rates[1] - rates[0] if None not in rates else None
    add("/recovery", [("baseline", rates[0]), ("candidate", rates[1]), ("difference", difference)])
    add("/names", name_numbers(baseline.names(), candidate.names()))
    return numbers


def at(document, pointer):
    for key in pointer.split("/")[1:]:
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def same(a, b):
    number = lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)
    if number(a) and number(b):
        return abs(a - b) <= 1e-9 * max(1, abs(a))
    return a == b


def main():
    arguments = sys.argv[1:]
    compared = arguments[1] if arguments[:1] == ["--compare"] else None
    if compared:
        arguments = arguments[2:]
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    numbers = audit(Arm(arguments[0]), Arm(arguments[1]))
    if not compared:
        print(json.dumps(numbers, indent=0))
        return 0
    cell = read(compared)["cells"][0]
    wrong = 0
    for pointer, expected in numbers.items():
        try:
            found = at(cell, pointer)
        except (KeyError, IndexError):
            found = "absent"
        if not same(expected, found):
            wrong += 1
            print(f"{pointer}: the oracle has {expected}, unmask {found}")
    print(f"{len(numbers)} numbers compared, {wrong} differ")
    return 1 if wrong or not numbers else 0


if __name__ == "__main__":
    sys.exit(main())
