#!/usr/bin/env python3
"""The tables of docs/pocket.md from an audit's JSON:  pocket_table.py pocket-study/audit.json"""
import json
import sys


def number(value, form):
    return "–" if value is None else form.format(value)


def success(arm, k):
    return next((100 * p["success"] for p in arm["budget"]["curve"] if p["k"] == k), None)


def ratio(channel):
    if channel is None or channel.get("amplification") is None:
        return "–"
    low, high = channel["amplification_ci95"]
    ends = "{} to {}".format(number(low, "{:.2f}"), number(high, "{:.2f}"))
    return f"{channel['amplification']:.2f} ({ends})"


def rate(arm, channel):
    found = arm["channels"].get(channel)
    return "–" if found is None else number(found["per_call"] and 100 * found["per_call"], "{:.1f}")


def row(label, arm, cell):
    recovery = number(arm["recovery"]["rate"] and 100 * arm["recovery"]["rate"], "{:.0f}")
    cells = [label] + [number(success(arm, k), "{:.1f}") for k in (10, 5, 2)]
    cells += [rate(arm, "tool_name"), ratio(cell and cell["channels"].get("tool_name")), rate(arm, "entity"),
              ratio(cell and cell["channels"].get("entity")), recovery]
    names = cell["names"] if cell else {}
    cells += [number(names.get("spearman"), "{:.2f}"), number(names.get("novel_share"), "{:.2f}")]
    return "| " + " | ".join(cells + [cell["verdict"] if cell else "baseline"]) + " |"


def main():
    cells = json.load(open(sys.argv[1]))["cells"]
    for domain in dict.fromkeys(c["candidate"]["arm"]["domain"] for c in cells):
        mine = [c for c in cells if c["candidate"]["arm"]["domain"] == domain]
        base = mine[0]["baseline"]
        print(f"\n### {domain}\n")
        print("| arm | S(10) | S(5) | S(2) | tool_name | times as often | entity | times as often | recovered | ρ | novel | verdict |")
        print("|---|---|---|---|---|---|---|---|---|---|---|---|")
        # The domain that tells arms of one label apart stands in the heading.
        print(row(base["arm"]["label"].removesuffix(f" ({domain})"), base, None))
        for cell in mine:
            print(row(cell["candidate"]["arm"]["label"].removesuffix(f" ({domain})"), cell["candidate"], cell))
        screen = ", ".join(f"{name} {found}" for name, found in base["screen"].items() if found)
        print(f"\nScreen at full precision: {screen}.")


if __name__ == "__main__":
    main()
