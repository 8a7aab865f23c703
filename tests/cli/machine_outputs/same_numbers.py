"""JSON, JUnit, CSV and HTML of one audit say the same."""
import csv
import json
import pathlib
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "html"))
from html_test import Document, shown  # noqa: E402


def rows(name):
    with open(f"tables/{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def same(text, value):
    """A field of a table and a value of the JSON."""
    if value is None:
        return text == ""
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    return text == value if isinstance(value, str) else float(text) == value


def check(condition, what):
    if not condition:
        raise SystemExit(f"differs: {what}")


with open("audit.json", encoding="utf-8") as file:
    report = json.load(file)
cell = report["cells"][0]

# Channels.
compared = 0
for row in rows("comparisons"):
    found = cell["argument"] if row["channel"] == "argument" else cell["channels"][row["channel"]]
    for key in ("baseline", "candidate", "amplification", "volume", "difference", "p", "p_holm", "amplified", "new"):
        check(same(row[key], found[key]), (row["channel"], key))
        compared += 1
for row in rows("channels"):
    arm = cell[row["role"]]
    if row["channel"] in arm["channels"]:
        found = arm["channels"][row["channel"]]
        check(same(row["count"], found["count"]) and same(row["per_call"], found["per_call"]), row)
    check(row["label"] in (arm["arm"]["label"], "'" + arm["arm"]["label"]), row["label"])
# Curves, gaps, names, the cell.
for row in rows("curves"):
    arm = cell[row["role"]]["budget"]
    curve = arm["curve"] if row["rule"] == "at_most" else arm["curve_live"]
    found = [point for point in curve if point["k"] == int(row["k"])]
    check(len(found) == 1 and same(row["success"], found[0]["success"]), row)
for row, point in zip(rows("gaps"), cell["budget"]["gap"], strict=True):
    check(int(row["k"]) == point["k"] and same(row["gap"], point["gap"]), row)
only = rows("cells")[0]
check(same(only["delta"], cell["outcome"]["delta"]) and same(only["verdict"], cell["verdict"]), "cells.csv")
check(same(only["unmasked_gap"], cell["budget"]["unmasked_gap"]["value"]), "unmasked gap")
check(only["gate"] == report["gate"]["status"] == report["gate"]["cells"][0]["status"], "gate")

# Episodes and calls add up to the arms' counts.
labels = {"1": "baseline", "2": "candidate"}
for number, role in labels.items():
    arm = cell[role]
    episodes = [row for row in rows("episodes") if row["arm"] == number]
    calls = [row for row in rows("calls") if row["arm"] == number and row["side"] == "agent"]
    check(len(episodes) == arm["episodes"]["total"], "episodes")
    for channel, found in arm["channels"].items():
        check(sum(int(row[channel]) for row in episodes) == found["count"], (role, channel, "episodes"))
        check(sum(row["channel"] == channel for row in calls) == found["count"], (role, channel, "calls"))
    check(sum(int(row["agent_calls"]) for row in episodes) == arm["calls"]["agent"], "agent calls")

# JUnit: its structure, and the gate's result.
root = xml.etree.ElementTree.parse("audit.xml").getroot()
check(root.tag == "testsuites" and [suite.tag for suite in root] == ["testsuite"], "suites")
suite = root[0]
check([child.tag for child in suite] == ["properties"] + ["testcase"] * 8, "cases")
for holder in (root, suite):
    cases = list(suite.iter("testcase"))
    check(int(holder.get("tests")) == len(cases), "tests")
    check(int(holder.get("failures")) == sum(case.find("failure") is not None for case in cases), "failures")
    check(int(holder.get("skipped")) == sum(case.find("skipped") is not None for case in cases), "skipped")
    check(holder.get("errors") == "0", "errors")
for case in suite.iter("testcase"):
    check(case.get("classname") == "unmask." + cell["cell"] and case.get("name"), "case")
    check(set(child.tag for child in case) <= {"failure", "skipped", "system-out"}, "children of a case")
failing = {case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None}
check("channel tool_name" in failing and (len(failing) > 0) == (report["gate"]["status"] == "fail"), failing)
ratio = cell["channels"]["tool_name"]["amplification"]
text = next(case for case in suite.iter("testcase") if case.get("name") == "channel tool_name").find("failure").text
check(f"is {ratio:.2f}, at most 1.50 asked" in text, text)
finding = next(f for f in report["gate"]["cells"][0]["findings"] if f["channel"] == "tool_name")
check(finding["value"] == ratio and abs(finding["excess"] - (ratio - 1.5)) < 1e-12, finding)
# HTML: what the page shows is the tables' number, rounded as the page rounds.
with open("page.html", encoding="utf-8") as file:
    page = Document(file.read())
fields = {pointer: (unit, text) for pointer, unit, text in page.fields}
on_page = 0


def as_on_page(pointer, text):
    global on_page
    if pointer not in fields:
        return
    unit, found = fields[pointer]
    check(shown(float(text) if text else None, unit) == found.strip(), (pointer, text, found))
    on_page += 1


for row in rows("comparisons"):
    place = "/cells/0/argument" if row["channel"] == "argument" else "/cells/0/channels/" + row["channel"]
    for key in ("baseline", "candidate", "amplification", "volume", "difference", "p_holm"):
        as_on_page(f"{place}/{key}", row[key])
for i, row in enumerate(rows("gaps")):
    as_on_page(f"/cells/0/budget/gap/{i}/gap", row["gap"])
for row in rows("curves"):
    if row["rule"] == "at_most":
        as_on_page(f"/cells/0/{row['role']}/budget/curve/{row['k']}/success", row["success"])
as_on_page("/cells/0/outcome/delta", only["delta"])
as_on_page("/cells/0/budget/unmasked_gap/value", only["unmasked_gap"])
check(on_page >= 50, f"only {on_page} numbers of the tables are on the page")
with open("card.md", encoding="utf-8") as file:
    card = file.read()
check(f"{ratio:.2f} [" in card, "model card")
print(f"JSON, JUnit, CSV, HTML and model card agree in {compared} numbers of channels and all others checked")
