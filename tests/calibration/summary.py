#!/usr/bin/env python3
"""Sums up a coverage table of pipeline_calibration: for each interval, the lowest and highest coverage over the configurations.

usage: summary.py results/coverage_114.md

Channels that nothing was planted in (their truth is 0) are left out; a configuration that defines an interval in fewer than a
quarter of its data sets is not judged, but counted.
"""
import collections
import sys

rows = collections.defaultdict(list)
rare = collections.Counter()
largest = 0
for line in open(sys.argv[1]):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(cells) != 6 or cells[3] in ("data sets", "---"):
        continue
    configuration, interval, truth, n, coverage, _ = cells
    largest = max(largest, int(n))
    if interval.split()[-1] in ("malformed", "schema", "rejected"):
        continue
    if int(n) < largest / 4:
        rare[interval] += 1
        continue
    rows[interval].append((float(coverage), configuration))
print("| interval | configurations | lowest % | where | highest % | median % |\n|---|---|---|---|---|---|")
for interval, found in sorted(rows.items()):
    found.sort()
    skipped = f" (+{rare[interval]} rarely defined)" if rare[interval] else ""
    print(f"| {interval} | {len(found)}{skipped} | {found[0][0]} | {found[0][1]} | {found[-1][0]} | {found[len(found) // 2][0]} |")
