#!/usr/bin/env python3
"""The HTML report as a document: well formed, self-contained, inert, and with the JSON report's numbers.

usage: html_test.py UNMASK [--no-charts]
"""
import base64
import hashlib
import math
import pathlib
import re
import sys
import tempfile
from html.parser import HTMLParser

import pages

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Document(HTMLParser):
    """Checks nesting, and collects ids, links, scripts and the fields that name a place in the JSON."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.problems, self.ids, self.links, self.scripts, self.fields = [], [], [], [], [], []
        self.policy, self.field, self.headings, self.text = "", None, [], []
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"not closed: {self.open}")

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        for name in attributes:
            if name.startswith("on") or name in ("src", "srcset", "action", "formaction", "style"):
                self.problems.append(f"<{tag} {name}>")
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "script":
            self.scripts.append([attributes, ""])
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if attributes.get("data-json"):
            self.field = [len(self.open), attributes["data-json"], attributes["data-unit"], ""]

    def handle_endtag(self, tag):
        if self.field and len(self.open) == self.field[0]:
            self.fields.append(self.field[1:])
            self.field = None
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.open[-3:]} at {self.getpos()}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += data
        else:
            self.text.append(data)
        if self.field:
            self.field[3] += data

    def handle_comment(self, data):
        self.problems.append(f"comment: {data[:60]}")


def fixed(value, digits, sign=False):
    scaled = math.floor(abs(value) * 10**digits + 0.5) / 10**digits
    text = f"{scaled:.{digits}f}"
    if not text.strip("0."):
        return text
    return ("−" if value < 0 else "+" if sign else "") + text


def shown(value, unit):
    """How the page writes a number of the JSON report."""
    if value is None:
        return "–"
    if isinstance(value, list):
        return "[" + ", ".join(">999" if v is None else shown(v, unit) for v in value) + "]"
    if unit == "word":
        return value
    if unit == "percent":
        return "<0.1%" if 0 < value * 100 < 0.05 else fixed(value * 100, 1) + "%"
    if unit == "points":
        return fixed(value * 100, 1, sign=True)
    if unit == "ratio":
        return ">999" if value > 999 else fixed(value, 2)
    if unit == "p":
        return "<0.001" if value < 0.001 else f"{value:.3g}"
    if unit == "count":
        return f"{math.floor(value + 0.5):,}"
    if unit.startswith("decimal"):
        return fixed(value, int(unit[7:]))
    raise AssertionError(f"unknown unit {unit}")


def at(report, pointer):
    value = report
    for step in pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


# What a cell's part of the page must not leave out, below /cells/N.
REQUIRED = ["/outcome/delta", "/outcome/ci95", "/outcome/tost/ci90", "/budget/gap/2/gap", "/budget/gap/2/band95",
            "/budget/gap_tight", "/baseline/budget/curve/2/success", "/candidate/budget/curve/10/success",
            "/channels/tool_name/amplification", "/channels/tool_name/amplification_ci95",
            "/channels/schema/difference", "/channels/rejected/p_holm", "/names/counts/0/candidate",
            "/positions/0/channels/tool_name/candidate", "/baseline/by_task/0/tool_name", "/recovery/candidate",
            "/candidate/length/steps_mean", "/baseline/success/rate"]


def check_gate(name, document, report):
    """Every number of the gate in the page is the JSON report's (check_numbers); here, that none is left out."""
    gate = report.get("gate")
    assert ("gate" in document.ids) == bool(gate), f"{name}: the section Gate"
    if not gate:
        return
    have = {pointer for pointer, _, _ in document.fields}
    text = " ".join("".join(document.text).split())
    assert "/gate/status" in have and gate["criteria"]["name"] in text, f"{name}: the gate's result"
    results = [text.count(word) for word in ("✓held", "✗failed", "?not settled")]
    findings = [(i, j, f) for i, cell in enumerate(gate["cells"]) for j, f in enumerate(cell["findings"])]
    expected = [sum(f["status"] == status for _, _, f in findings) for status in ("pass", "fail", "inconclusive")]
    assert results == expected, f"{name}: {results} results, JSON has {expected}"
    for i, j, finding in findings:
        numbers = {"value": finding["value"], "limit": finding["limit"], "excess": finding["excess"]}
        if finding["criterion"] == "require_equivalence":
            del numbers["limit"]  # the page writes ± before it
        for key, number in numbers.items():
            if number is not None and (key != "excess" or number > 0):
                assert f"/gate/cells/{i}/findings/{j}/{key}" in have, f"{name}: {finding['criterion']} has no {key}"


def check_numbers(name, document, report, charts):
    for pointer, unit, text in document.fields:
        value = at(report, pointer)
        assert text == shown(value, unit), f"{name}: {pointer} is {value!r}, the page says {text!r}"
    assert len(document.fields) > 60, f"{name}: only {len(document.fields)} numbers have a place in the JSON report"
    if name == "damaged":
        have = {pointer for pointer, _, _ in document.fields}
        missing = [p for p in REQUIRED if f"/cells/0{p}" not in have]
        assert not missing, f"{name}: {missing} are not in the page"
    check_gate(name, document, report)
    if name == "margins":
        have = {pointer for pointer, _, _ in document.fields}
        replay = "/replays/0"
        flips = f"{replay}/candidates/0/flips/which_tool"
        for wanted in [f"{replay}/contexts", f"{replay}/arms/0/replies", f"{replay}/arms/0/margins/0/quantiles/p50",
                       f"{replay}/candidates/0/channels/tool_name/amplification", f"{flips}/pairs", f"{flips}/bins/2/share",
                       f"{flips}/models/multiplicative/lambda/value", f"{flips}/models/multiplicative/lambda/ci95",
                       f"{flips}/models/additive/held_out/expected_calibration_error",
                       f"{replay}/candidates/0/predictions/additive/predicted_amplification", f"{replay}/screen/predicted/value",
                       f"{replay}/screen/risk", "/replays/1/contexts"]:
            assert wanted in have, f"{name}: {wanted} is not in the page"
        assert ("r0-margins-chart" in document.ids) == charts and ("r0c0-which_tool-flips-chart" in document.ids) == charts
    if name == "decisions":
        places = [pointer for pointer, _, _ in document.fields if "/mechanism/" in pointer]
        flips = "/cells/0/mechanism/candidates/0/flips/which_tool"
        for wanted in ["/pairs", "/flip_share/value", "/flip_share/ci95", "/bins/2/share", "/bins/2/ci95"]:
            assert flips + wanted in places, f"{name}: {wanted} is not in the page"
        assert any(place.startswith("/cells/0/mechanism/arms/1/margins") for place in places), f"{name}: no margins"
        assert "c0-flips-chart-spec" in document.ids or not document.ids.count("c0-budget-chart"), f"{name}: no chart"
    else:
        assert "c0-decisions" not in document.ids, f"{name}: decisions that are not there"


def check_document(name, text, document, charts):
    assert not document.problems, f"{name}: {document.problems[:5]}"
    repeated = {i for i in document.ids if document.ids.count(i) > 1}
    assert not repeated, f"{name}: ids stand twice: {repeated}"
    for link in document.links:
        assert link.startswith("#") and link[1:] in document.ids, f"{name}: a link leads to {link}"
    assert document.headings[0] == 1 and document.headings.count(1) == 1, f"{name}: one h1, first"
    for before, after in zip(document.headings, document.headings[1:]):
        assert after <= before + 1, f"{name}: h{before} is followed by h{after}"
    assert len(text.encode()) <= 3_000_000, f"{name}: {len(text.encode())} bytes"
    run = [body for attributes, body in document.scripts if attributes.get("type") != "application/json"]
    assert len(run) == (1 if charts else 0), f"{name}: {len(run)} scripts"
    if charts:
        digest = base64.b64encode(hashlib.sha256(run[0].encode()).digest()).decode()
        assert f"script-src 'sha256-{digest}';" in document.policy, f"{name}: {document.policy}"
    else:
        assert "script-src 'none';" in document.policy
    assert document.policy.startswith("default-src 'none';") and "unsafe-eval" not in document.policy
    for part in ["Skip to the report", "Method", "Version", "Command"]:
        assert part in text, f"{name}: no {part}"


def without_provenance(text):
    return re.sub(r"<dt>Command</dt>.*", "", text)


def check_same_bytes(program, folder):
    """At any number of threads, and from pieces in any order of arrival."""
    logs = pages.plant(program, folder, "threads", "--preset", "damaged", "--tasks", 30)
    texts = []
    for threads in ["1", "2", "4"]:
        page = folder / f"threads{threads}.html"
        pages.run(program, "audit", "-q", *logs, "--html", page, "--threads", threads, "--bootstrap", 500)
        texts.append(without_provenance(page.read_text()))
    assert texts[0] == texts[1] == texts[2], "the page depends on the number of threads"
    assert texts[0].count('class="talk"') == 2 * 3 * 4, texts[0].count('class="talk"')
    page = folder / "none.html"
    pages.run(program, "audit", "-q", *logs, "--html", page, "--excerpts", 0, "--bootstrap", 500)
    assert 'class="talk"' not in page.read_text(), "--excerpts 0 shows conversations"


def check_mistakes(program, folder):
    log = folder / "damaged_baseline.json"
    for arguments, sentence in [(["--html", "-"], "--html writes a file, not standard output"),
                                (["--html", "x", "--json", "x"], "name the same file"),
                                (["--html", "/nonexistent/x.html"], "/nonexistent/x.html"),
                                (["--excerpts", "-1"], "--excerpts")]:
        done = pages.run(program, "inspect", "-q", log, *arguments, status=2)
        assert sentence in done.stderr, f"{arguments}: {done.stderr}"


def main():
    program = sys.argv[1]
    charts = "--no-charts" not in sys.argv
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = pages.all_pages(program, folder)
        for page_name, (page, report) in made.items():
            text = page.read_text()
            document = Document(text)
            check_document(page_name, text, document, charts)
            check_numbers(page_name, document, report, charts)
            print(f"{page_name}: {len(text.encode()) / 1e6:.2f} MB, {len(document.fields)} numbers as in the JSON report")
        for page_name in ["hostile", "hostile_inspect"]:
            text = made[page_name][0].read_text()
            for secret in ["abcdef0123456789", "ABCDEF0123456789", "verysecretvalue"]:
                assert secret not in text, f"{page_name} shows {secret}"
            assert "[removed]" in text and "window.pwned=1" in text, f"{page_name}: the attacks are shown as text"
        text = made["hostile_margins"][0].read_text()
        assert text.count("window.pwned=1") > 3, "hostile_margins: the attacks are shown as text"
        check_same_bytes(program, folder)
        check_mistakes(program, folder)
    print("the pages are well formed, self-contained and true to the JSON report")


if __name__ == "__main__":
    main()
