#!/usr/bin/env python3
"""The HTML report in a browser: charts true to the JSON report, no request, nothing injected, keyboard and dark.

usage: browser_test.py UNMASK        (needs chromium, chromedriver and Selenium; status 77 where they are missing)
"""
import json
import math
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "html"))
import pages  # noqa: E402

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

CHANNELS = ["malformed", "tool_name", "schema", "entity", "rejected"]


def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1100,1400"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def is_drawn(driver):
    return driver.execute_script("return document.documentElement.dataset.charts") == "drawn"


def visit(driver, page):
    driver.get(page.as_uri())
    for _ in range(300):
        if is_drawn(driver):
            return
        time.sleep(0.1)
    raise AssertionError(f"{page.name}: the charts are not drawn after 30 s")


def check_quiet(name, driver):
    """No console error, and no request but the page's own."""
    errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert not errors, f"{name}: {errors[:3]}"
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            assert url.startswith(("file:", "data:", "chrome")) and not url.startswith("file:///x"), f"{name}: asks for {url}"


def rows(driver, chart, data):
    script = "const view = window.unmaskCharts[arguments[0]]; return view && view.data(arguments[1])"
    found = driver.execute_script(script, chart, data)
    assert found is not None, f"chart {chart} is not there"
    return found


def same(a, b):
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12)


def check_rows(chart, found, expected):
    """`expected`: dictionaries whose every member the chart's row must have; same order."""
    assert len(found) == len(expected), f"{chart}: {len(found)} rows, not {len(expected)}"
    for row, wanted in zip(found, expected):
        for key, value in wanted.items():
            equal = row.get(key) == value if isinstance(value, (str, bool)) else same(row.get(key), value)
            assert equal, f"{chart}: {key} is {row.get(key)!r}, not {value!r}"


def ends(interval):
    return {"lo": interval[0] if interval else None, "hi": interval[1] if interval else None}


def arm_rows(cell, member, row):
    return [{"arm": arm, **row(each)} for arm in ["baseline", "candidate"] for each in member(cell[arm]) ]


def expected_charts(cell, place):
    """chart id, data name -> its rows, from the JSON report."""
    outcome, names = cell["outcome"], cell["names"]["counts"][:12]
    lead = "tool_name"
    charts = {
        ("outcome-chart", "outcome"): [{"delta": outcome["delta"], **ends(outcome["ci95"]),
                                        "lo90": outcome["tost"]["ci90"][0], "hi90": outcome["tost"]["ci90"][1]}],
        ("budget-chart", "curves"): arm_rows(cell, lambda arm: arm["budget"]["curve"],
                                             lambda p: {"k": p["k"], "success": p["success"], **ends(p["ci95"])}),
        ("budget-chart", "gap"): [{"k": p["k"], "gap": p["gap"], **ends(p["band95"])} for p in cell["budget"]["gap"]],
        ("forest-chart", "forest"): [
            {"channel": n, "difference": c["difference"], "ratio": c["amplification"], **ends(c["difference_ci95"]),
             "finding": "amplified" if c["amplified"] else "not amplified",
             "ratio_lo": ends(c["amplification_ci95"])["lo"], "ratio_hi": ends(c["amplification_ci95"])["hi"]}
            for n in CHANNELS for c in [cell["channels"][n]]
            if c["difference"] is not None and c["baseline_count"] + c["candidate_count"] > 0],
        ("names-chart", "names"): [{"name": n["name"], "arm": arm, "count": n[arm], "kind": n["kind"]}
                                   for n in names for arm in ["baseline", "candidate"]],
        ("position-chart", "positions"): [
            {"position": p["calls_of_episode"], "arm": arm, "rate": p["channels"][lead][arm]}
            for p in cell["positions"] for arm in ["baseline", "candidate"] if p["channels"][lead][arm] is not None],
        ("task-chart", "tasks"): [
            {"task": b["task"], "baseline": b["tool_name"] / b["calls"], "candidate": c["tool_name"] / c["calls"]}
            for b, c in zip(cell["baseline"]["by_task"], cell["candidate"]["by_task"]) if b["calls"] and c["calls"]],
    }
    return {(f"{place}-{chart}", data): wanted for (chart, data), wanted in charts.items()}


def check_marks(name, driver):
    """Every chart has marks of its own, inside its frame, and none stands empty."""
    empty = driver.execute_script(
        "return [...document.querySelectorAll('[data-chart]')].filter(p => p.querySelectorAll('svg .mark-symbol path,"
        " svg .mark-rect path, svg .mark-line path').length === 0).map(p => p.id)")
    assert not empty, f"{name}: nothing is drawn in {empty}"


def check_audit_charts(driver, made):
    page, report = made["damaged"]
    visit(driver, page)
    for (chart, data), wanted in expected_charts(report["cells"][0], "c0").items():
        check_rows(f"{chart} {data}", rows(driver, chart, data), wanted)
    check_marks("damaged", driver)
    page, report = made["decisions"]
    visit(driver, page)
    bins = report["cells"][0]["mechanism"]["candidates"][0]["flips"]["which_tool"]["bins"]
    check_rows("flips", rows(driver, "c0-flips-chart", "flips"),
               [{"decisions": b["decisions"], "flips": b["flips"], "share": b["share"], **ends(b["ci95"])}
                for b in bins if b["decisions"]])
    check_marks("decisions", driver)
    visit(driver, made["grid"][0])
    for i, cell in enumerate(made["grid"][1]["cells"]):
        wanted = [{"k": p["k"], "gap": p["gap"]} for p in cell["budget"]["gap"]]
        check_rows(f"c{i}", rows(driver, f"c{i}-budget-chart", "gap"), wanted)
    check_marks("grid", driver)


def check_inspect_charts(driver, made):
    page, report = made["inspect"]
    visit(driver, page)
    check_rows("curve", rows(driver, "arm-curve-chart", "curve"),
               [{"k": p["k"], "success": p["success"], **ends(p["ci95"])} for p in report["budget"]["curve"]])
    check_rows("rates", rows(driver, "arm-rates-chart", "rates"),
               [{"channel": n, "rate": report["channels"][n]["per_call"], "screen": report["screen"][n],
                 **ends(report["channels"][n]["ci95"])} for n in CHANNELS])
    check_rows("names", rows(driver, "arm-names-chart", "names"), report["names"][:12])
    check_rows("positions", rows(driver, "arm-position-chart", "positions"),
               [{"position": p["calls_of_episode"], "series": series, "rate": failed / p["calls"]}
                for p in report["positions"] if p["calls"]
                for series, failed in [("all channels", sum(p["failures"].values())), ("tool_name", p["failures"]["tool_name"])]])
    check_marks("inspect", driver)


def check_margins_charts(driver, made):
    page, report = made["margins"]
    visit(driver, page)
    replay = report["replays"][0]
    wanted = []
    for arm in replay["arms"]:
        for d in arm["margins"]:
            if d["channel"] == "all" and not arm["repeats"] and d["quantiles"]["p50"] is not None:
                wanted.append({"decisions": d["decisions"], **d["quantiles"]})
    check_rows("margins", rows(driver, "r0-margins-chart", "margins"), wanted)
    for kind in ["whether_to_call", "which_tool"]:
        bins = replay["candidates"][0]["flips"][kind]["bins"]
        check_rows(kind, rows(driver, f"r0c0-{kind}-flips-chart", "flips"),
                   [{"decisions": b["decisions"], "flips": b["flips"], "share": b["share"], **ends(b["ci95"])}
                    for b in bins if b["decisions"]])
    check_marks("margins", driver)


def check_inert(driver, made):
    for name in ["hostile", "hostile_inspect", "hostile_margins"]:
        visit(driver, made[name][0])
        driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        # Tooltips write texts of the log into the page too.
        driver.execute_script(
            "document.querySelectorAll('svg .mark-rect path, svg .mark-symbol path').forEach(p => {"
            "for (const t of ['pointerover', 'pointermove', 'mousemove', 'click']) p.dispatchEvent(new PointerEvent(t, {bubbles: true}))})")
        time.sleep(0.3)
        found = driver.execute_script(
            "return [window.pwned, document.querySelectorAll('main script:not([type=\"application/json\"])').length,"
            " document.querySelectorAll('main img, iframe, object, embed, [onerror], [onload], [onmouseover]').length,"
            " document.querySelectorAll('a:not([href^=\"#\"])').length]")
        assert found == [None, 0, 0, 0], f"{name}: {found}"
        assert driver.execute_script("return document.body.innerText.includes('window.pwned=1')"), name
        check_marks(name, driver)
        check_quiet(name, driver)


def check_gate(driver, made):
    """The gate's table is in sight, says what the JSON report says, and leaves the grid's matrix alone."""
    page, report = made["gate"]
    visit(driver, page)
    shown = driver.execute_script(
        "return [...document.getElementById('gate').closest('section').querySelectorAll('tbody tr')].filter(r => r.offsetHeight > 0).map(r => r.innerText)")
    findings = report["gate"]["cells"][0]["findings"]
    assert len(shown) == len(findings), shown
    words = {"pass": "held", "fail": "failed", "inconclusive": "not settled"}
    for finding in findings:
        name = " ".join(filter(None, [finding["criterion"], finding["channel"]]))
        row = [text for text in shown if text.split("\t")[0].strip() == name]
        assert len(row) == 1 and words[finding["status"]] in row[0], f"{name}: {row}"
    assert driver.execute_script("return document.querySelector('nav a').getAttribute('href')") == "#gate"
    matrices = []
    for name in ["grid", "grid_gate"]:
        visit(driver, made[name][0])
        matrices.append(driver.execute_script("return document.querySelector('.matrix').innerText"))
    assert matrices[0] == matrices[1], "the gate changes the matrix"


def check_policy(driver, made):
    """The page's own policy stops a script even where one were injected."""
    visit(driver, made["clean"][0])
    driver.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.injected = 1'; document.body.append(s);"
        "setTimeout('window.evaluated = 1', 0)")
    time.sleep(0.3)
    stopped = driver.execute_script("return [window.injected, window.evaluated]")
    refused = [entry for entry in driver.get_log("browser") if "Content Security Policy" in entry["message"]]
    assert stopped == [None, None] and len(refused) == 2, (stopped, refused)


def check_keyboard(driver, made):
    visit(driver, made["damaged"][0])
    controls = driver.execute_script(
        "return [...document.querySelectorAll('a[href], summary')].filter(e => e.getClientRects().length > 0).length")
    reached = set()
    body = driver.switch_to.active_element
    for _ in range(controls + 20):
        body.send_keys(Keys.TAB)
        body = driver.switch_to.active_element
        where = driver.execute_script(
            "const e = document.activeElement; if (!e.matches('a[href], summary')) return null;"
            "const s = getComputedStyle(e); if (s.outlineStyle === 'none' || parseFloat(s.outlineWidth) < 2) return 'unseen';"
            "return [...document.querySelectorAll('a[href], summary')].indexOf(e)")
        assert where != "unseen", "a control in focus does not show it"
        if where is not None:
            reached.add(where)
    assert len(reached) == controls, f"Tab reaches {len(reached)} of {controls} controls"
    driver.find_element("css selector", "summary").send_keys(Keys.ENTER)
    assert driver.execute_script("return document.querySelector('summary').parentNode.open"), "Enter opens no details"


def luminance(color):
    parts = [int(float(p)) / 255 for p in color[color.index("(") + 1:-1].split(",")[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def colors(driver):
    return driver.execute_script(
        "const css = (e, p) => getComputedStyle(e)[p];"
        "const mark = document.querySelector('#c0-budget-chart .mark-symbol path');"
        "const label = document.querySelector('#c0-budget-chart .role-axis-label text');"
        "return {background: css(document.body, 'backgroundColor'), text: css(document.body, 'color'),"
        " link: css(document.querySelector('nav a'), 'color'), dim: css(document.querySelector('figcaption'), 'color'),"
        " label: css(label, 'fill'), mark: css(mark, 'fill')}")


def check_colors(driver, made):
    """Light and dark differ, charts included, and every text can be read in both."""
    seen = {}
    for scheme in ["light", "dark"]:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        visit(driver, made["damaged"][0])
        seen[scheme] = colors(driver)
        for part in ["text", "link", "dim", "label"]:
            ratio = contrast(seen[scheme][part], seen[scheme]["background"])
            assert ratio >= 4.5, f"{scheme}: {part} has a contrast of {ratio:.1f}"
        assert contrast(seen[scheme]["mark"], seen[scheme]["background"]) >= 3, f"{scheme}: marks"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    for part in seen["light"]:
        assert seen["light"][part] != seen["dark"][part], f"{part} is the same in the dark"


def check_without_javascript(driver, made):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get(made["damaged"][0].as_uri())
    found = driver.execute_cdp_cmd("DOM.getDocument", {"depth": -1, "pierce": False})["root"]["nodeId"]
    count = lambda css: len(driver.execute_cdp_cmd("DOM.querySelectorAll", {"nodeId": found, "selector": css})["nodeIds"])
    assert count("table") >= 9 and count("table td") > 500, "tables are missing without JavaScript"
    assert count("svg") == 0 and count("noscript") == 1
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def check_matrix(driver, made):
    """A field of the matrix leads into its cell and unfolds it."""
    visit(driver, made["grid"][0])
    driver.find_element("css selector", ".matrix a[href='#c3']").click()
    open_cells = driver.execute_script("return [...document.querySelectorAll('details.cell')].map(d => d.open)")
    assert open_cells == [i == 3 for i in range(8)], open_cells


def check_narrow(driver, made):
    """On a telephone the page itself does not scroll sideways."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})
    for name in ["damaged", "grid", "inspect", "margins", "hostile"]:
        visit(driver, made[name][0])
        width = driver.execute_script("return document.documentElement.scrollWidth")
        assert width <= 390, f"{name}: {width} px wide on a screen of 390"
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def check_print(driver, made):
    """On paper everything is unfolded, and no table is wider than the page; afterwards it is as it was."""
    visit(driver, made["damaged"][0])
    closed = "return document.querySelectorAll('details:not([open])').length"
    before = driver.execute_script(closed)
    assert before > 5, before
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 740, "height": 980, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert driver.execute_script(closed) == 0
    tables = driver.execute_script(
        "return [...document.querySelectorAll('main table')].map(t => {const r = t.getBoundingClientRect();"
        "return [t.caption ? t.caption.innerText : '', r.right, r.height]})")
    assert len(tables) >= 9, tables
    for caption, right, height in tables:
        assert height > 0 and right <= 740, f"{caption}: {height} px high, to {right} of 740 px"
    driver.execute_script("dispatchEvent(new Event('afterprint'))")
    assert driver.execute_script(closed) == before
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def main():
    if webdriver is None or not shutil.which("chromedriver") or not (shutil.which("chromium") or shutil.which("google-chrome")):
        print("skipped: needs chromium, chromium-driver and python3-selenium (make browser installs them)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        made = pages.all_pages(sys.argv[1], folder)
        driver = browser()
        try:
            for name, (page, _) in made.items():
                visit(driver, page)
                check_quiet(name, driver)
            for check in [check_audit_charts, check_inspect_charts, check_margins_charts, check_inert, check_gate, check_policy,
                          check_keyboard, check_colors, check_matrix, check_narrow, check_print,
                          check_without_javascript]:
                check(driver, made)
                print(f"{check.__name__[6:].replace('_', ' ')}: fine", flush=True)
        finally:
            driver.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
