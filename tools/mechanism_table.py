#!/usr/bin/env python3
"""The tables of docs/mechanism.md: what replays, margins and whole episodes say of the same arms.

    mechanism_table.py AUDIT.json GREEDY_MARGINS.json DRAWN_MARGINS.json DOMAIN

The audit is of whole episodes; the margins are of replays of its baseline's log, greedy and drawn at the run's temperature.
"""
import json
import math
import sys


def number(value, digits=2, unit=""):
    """Halves away from zero, as report/numbers.cc.

    >>> number(1.125), number(-0.005), number(-0.001), number(97.25, 1, " %")
    ('1.13', '-0.01', '0.00', '97.3 %')
    """
    if value is None:
        return "–"
    rounded = math.floor(abs(value) * 10**digits + 0.5) / 10**digits
    return f"{-rounded if value < 0 and rounded else rounded:.{digits}f}{unit}"


def ratio(value, ends):
    if value is None:
        return "–"
    if ends is None:
        return number(value)
    return f"{number(value)} ({number(ends[0])} to {number(ends[1])})"


def width(ends):
    """Of the interval of log A."""
    if not ends or ends[0] is None or ends[1] is None or ends[0] <= 0:
        return None
    return math.log(ends[1]) - math.log(ends[0])


def estimate(parameter):
    return "–" if parameter is None else number(parameter["value"])


def p_value(p):
    return "–" if p is None else "<0.001" if p < 0.001 else number(p, 3)


def foretold_flips(models):
    """Of the model that the test of lambda = 1 chooses, on tasks held out."""
    chosen = models.get("multiplicative" if models.get("p_lambda", 1) < 0.05 else "additive") or {}
    held_out = chosen.get("held_out")
    if not held_out:
        return "–"
    low, high = held_out["flips_ci95"]
    return f"{number(held_out['flips_predicted'], 1)} ({number(low, 1)} to {number(high, 1)})"


def by_label(margins):
    replay = margins["replays"][0]
    return replay, {c["label"]: c for c in replay["candidates"]}


def row(cells):
    print("| " + " | ".join(cells) + " |")


def main():
    audit_file, greedy_file, drawn_file, domain = sys.argv[1:5]
    cells = [c for c in json.load(open(audit_file))["cells"] if c["candidate"]["arm"]["domain"] == domain]
    episodes = {c["candidate"]["arm"]["label"].removesuffix(f" ({domain})"): c for c in cells}
    _, greedy = by_label(json.load(open(greedy_file)))
    replay, drawn = by_label(json.load(open(drawn_file)))
    names = list(drawn)

    print("Calls to tools that do not exist, times as often as the baseline (95 %):\n")
    row(["arm", "whole episodes", "replay, drawn", "replay, greedy", "at margins, greedy", "foretold, additive", "foretold, multiplicative"])
    print("|---|---|---|---|---|---|---|")
    for name in names:
        cell = episodes.get(name)
        whole = cell and cell["channels"]["tool_name"]
        there = drawn[name]["channels"]["tool_name"]
        most = greedy[name]["channels"]["tool_name"]
        foretold = greedy[name].get("predictions") or {}
        additive, multiplicative = foretold.get("additive") or {}, foretold.get("multiplicative") or {}
        row([name, ratio(whole["amplification"], whole["amplification_ci95"]) if whole else "not played",
             ratio(there["amplification"], there["amplification_ci95"]),
             ratio(most["amplification"], most["amplification_ci95"]),
             ratio(additive.get("observed_amplification"), additive.get("observed_amplification_ci95")),
             ratio(additive.get("predicted_amplification"), additive.get("predicted_amplification_ci95")),
             ratio(multiplicative.get("predicted_amplification"), multiplicative.get("predicted_amplification_ci95"))])

    print("\nNoise on the margin of which tool (greedy replay), and flips:\n")
    row(["arm", "α", "λ", "σ, multiplicative", "σ, additive", "p of λ = 1", "flips", "foretold (observed allow)",
         "margins foretell", "other text", "same action, drawn"])
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in names:
        flips = greedy[name]["flips"]["which_tool"]
        models = flips["models"] or {}
        additive, multiplicative = models.get("additive") or {}, models.get("multiplicative") or {}
        outcomes = drawn[name]["outcomes"]
        row([name, estimate(multiplicative.get("alpha")), estimate(multiplicative.get("lambda")), estimate(multiplicative.get("sigma")),
             estimate(additive.get("sigma")), p_value(models.get("p_lambda")), f"{flips['flips']} of {flips['pairs']}",
             foretold_flips(models), {True: "yes", False: "no", None: "–"}[flips["margins_foretell"]], str(flips["other_text"]),
             number(100 * outcomes["same"] / outcomes["replies"], 1, " %")])

    print("\nModel calls, both arms together, and the width of the interval of log A:\n")
    row(["arm", "whole episodes: calls", "width", "drawn replay: calls", "width", "replay calls for the episodes' width"])
    print("|---|---|---|---|---|---|")
    for name in names:
        cell = episodes.get(name)
        if not cell:
            continue
        calls = sum(cell[side]["episodes"]["evaluated"] * cell[side]["length"]["agent_turns_mean"] for side in ("baseline", "candidate"))
        wide = width(cell["channels"]["tool_name"]["amplification_ci95"])
        asked = 2 * drawn[name]["contexts"]
        narrow = width(drawn[name]["channels"]["tool_name"]["amplification_ci95"])
        same = None if wide is None or narrow is None or wide == 0 else asked * (narrow / wide) ** 2
        row([name, number(calls, 0), number(wide), str(asked), number(narrow), number(same, 0)])


if __name__ == "__main__":
    main()
