#!/usr/bin/env python3
"""The same bootstrap in vectorised numpy and in stats_bench, in one run; prints the ratio.

  python3 bench/peers/bootstrap_numpy.py build/release/stats_bench

Work: 10,000 resamples of 114 tasks, 80 columns, sums and both 2.5 % percentiles. One thread each,
CPU time (which other work on the machine does not stretch), best of several.
`gather` indexes every column with the drawn tasks, the usual way to write it; `matrix product` counts
the draws first and multiplies with BLAS.
"""
import json
import os
import subprocess
import sys
import time

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
import numpy as np  # noqa: E402  (after the thread limits)

TASKS, RESAMPLES, COLUMNS = 114, 10_000, 80


def percentiles(sums):
    return np.percentile(sums, [2.5, 97.5])


def gather(rng, columns):
    index = rng.integers(0, TASKS, (RESAMPLES, TASKS))
    return [percentiles(column[index].sum(axis=1)) for column in columns]


def matrix_product(rng, columns):
    index = rng.integers(0, TASKS, (RESAMPLES, TASKS))
    flat = index + np.arange(RESAMPLES)[:, None] * TASKS
    counts = np.bincount(flat.ravel(), minlength=RESAMPLES * TASKS).reshape(RESAMPLES, TASKS)
    sums = counts.astype(float) @ np.asarray(columns).T
    return [percentiles(column) for column in sums.T]


def best_ms(work, repeats):
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best * 1000


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rng = np.random.default_rng(1)
    columns = list(rng.integers(0, 30, (COLUMNS, TASKS)).astype(float))
    run = subprocess.run([sys.argv[1], "--benchmark_filter=AllIntervals/1/", "--benchmark_format=json",
                          "--benchmark_repetitions=5"], check=True, capture_output=True, text=True)
    ours = min(b["cpu_time"] for b in json.loads(run.stdout)["benchmarks"] if b["run_type"] == "iteration")
    peers = {"gather": best_ms(lambda: gather(rng, columns), 3),
             "matrix product": best_ms(lambda: matrix_product(rng, columns), 3)}
    print(f"{RESAMPLES} resamples, {TASKS} tasks, {COLUMNS} columns, one thread, CPU time, best of several")
    print(f"  unmask                {ours:9.1f} ms")
    for name, time_ms in peers.items():
        print(f"  numpy {np.__version__} {name:14} {time_ms:7.1f} ms   {time_ms / ours:6.1f} x")


if __name__ == "__main__":
    main()
