#!/usr/bin/env python3
"""Writes tests/data/margins_oracle.json: censored lines, logistic lines, McNemar's test, reliability tables and
survival curves as scipy's general-purpose optimizers and naive definitions give them.

The C++ tests of src/stats compare with this file; it is committed, so that they need no Python.
Run again after adding a case:  /usr/bin/python3 tests/oracle/margins_oracle.py   (Debian: python3-scipy)
"""
import json
import pathlib

import numpy as np
import scipy
from scipy import optimize, stats

rng = np.random.default_rng(20260731)


def floats(values):
    return [float(v) for v in values]


def jacobian(f, at, step=1e-5):
    """Central differences of a vector function, one column a parameter."""
    columns = []
    for j in range(len(at)):
        h = np.zeros(len(at))
        h[j] = step * max(1, abs(at[j]))
        columns.append((f(at + h) - f(at - h)) / (2 * h[j]))
    return np.array(columns).T


def fitted(row_ll, start, cluster):
    """Maximum of sum(row_ll), and both covariances by finite differences."""
    best = optimize.minimize(lambda p: -row_ll(p).sum(), start, method="Nelder-Mead",
                             options={"xatol": 1e-11, "fatol": 1e-13, "maxiter": 200000, "maxfev": 200000})
    for _ in range(3):
        best = optimize.minimize(lambda p: -row_ll(p).sum(), best.x, method="Nelder-Mead",
                                 options={"xatol": 1e-12, "fatol": 1e-14, "maxiter": 200000, "maxfev": 200000})
    at = best.x
    scores = jacobian(row_ll, at)
    information = -jacobian(lambda p: jacobian(row_ll, p, 1e-4).sum(axis=0), at, 1e-4)
    inverse = np.linalg.inv(information)
    labels = np.unique(cluster)
    sums = np.array([scores[cluster == g].sum(axis=0) for g in labels])
    n, k, g = len(cluster), len(at), len(labels)
    sandwich = inverse @ (sums.T @ sums) @ inverse * g / (g - 1) * (n - 1) / (n - k)
    return {"at": floats(at), "se_information": floats(np.sqrt(np.diag(inverse))),
            "se_clustered": floats(np.sqrt(np.diag(sandwich))), "log_likelihood": float(row_ll(at).sum())}


def tobit_cases():
    cases = []
    for n, groups, level in ((40, 8, False), (150, 20, False), (60, 10, True)):
        x = np.round(rng.exponential(3, n), 4)
        cluster = rng.integers(0, groups, n)
        y = 0.4 + (1 if level else 0.8) * x + rng.normal(0, 1.1, n) + rng.normal(0, 0.4, groups)[cluster]
        known = np.where(y > 5, 1, np.where(y < -0.8, -1, 0))  # 1: at least, -1: at most
        y = np.round(np.clip(y, -0.8, 5), 4)
        if level:
            y = np.round(y - x, 4)

        def row_ll(p):
            mean = p[0] + (0 if level else p[1] * x)
            z = (y - mean) / p[-1]
            if p[-1] <= 0:
                return np.full(n, -1e9)
            return np.where(known == 0, stats.norm.logpdf(z) - np.log(p[-1]),
                            np.where(known == 1, stats.norm.logsf(z), stats.norm.logcdf(z)))

        fit = fitted(row_ll, np.array([0.0, 1.0] if level else [0.0, 1.0, 1.0]), cluster)
        cases.append({"x": floats(x), "y": floats(y), "known": [int(v) for v in known],
                      "cluster": [int(c) for c in cluster], "level": level, **fit})
    return cases


def logistic_cases():
    cases = []
    for n, groups in ((50, 9), (300, 30)):
        x = np.round(rng.exponential(2, n), 4)
        cluster = rng.integers(0, groups, n)
        event = (rng.uniform(size=n) < 1 / (1 + np.exp(-(0.5 - 0.9 * x)))).astype(int)

        def row_ll(p):
            eta = p[0] + p[1] * x
            return event * eta - np.logaddexp(0, eta)

        fit = fitted(row_ll, np.array([0.0, 0.0]), cluster)
        t = fit["at"][1] / fit["se_clustered"][1]
        cases.append({"x": floats(x), "event": [int(e) for e in event], "cluster": [int(c) for c in cluster],
                      "p": float(2 * stats.t.sf(abs(t), len(np.unique(cluster)) - 1)), **fit})
    return cases


def mcnemar_cases():
    cases = []
    for b, c in ((0, 1), (1, 7), (5, 5), (12, 30), (0, 9), (200, 260), (3, 2)):
        exact = stats.binomtest(min(b, c), b + c, 0.5).pvalue
        mid = 2 * (stats.binom.cdf(min(b, c), b + c, 0.5) - 0.5 * stats.binom.pmf(min(b, c), b + c, 0.5))
        cases.append({"b": b, "c": c, "exact": float(exact), "mid": float(min(1, mid))})
    return cases


def reliability_cases():
    """Bins by numpy's array_split of the sorted predictions, which have no ties here."""
    cases = []
    for n, bins in ((100, 10), (37, 5), (8, 10)):
        predicted = np.sort(rng.uniform(size=n))
        event = (rng.uniform(size=n) < predicted**1.3).astype(int)
        order = rng.permutation(n)
        edges = sorted({max(k, 0) for k in (i * n // bins for i in range(1, bins + 1))} - {0})
        begin, ece = 0, 0.0
        for end in edges:
            ece += (end - begin) / n * abs(predicted[begin:end].mean() - event[begin:end].mean())
            begin = end
        cases.append({"predicted": floats(predicted[order]), "event": [int(e) for e in event[order]], "bins": bins,
                      "ece": float(ece), "brier": float(np.mean((predicted - event) ** 2))})
    return cases


def main():
    oracle = {"versions": {"scipy": scipy.__version__, "numpy": np.__version__}, "tobit": tobit_cases(),
              "logistic": logistic_cases(), "mcnemar": mcnemar_cases(), "reliability": reliability_cases(),
              "log_normal_cdf": [[float(x), float(stats.norm.logcdf(x)),
                                  float(np.exp(stats.norm.logpdf(x) - stats.norm.logcdf(x)))]
                                 for x in (-200, -45.5, -30.0, -29.9, -10, -1, 0, 1, 5, 9)]}
    path = pathlib.Path(__file__).resolve().parent.parent / "data" / "margins_oracle.json"
    path.write_text(json.dumps(oracle, indent=None, separators=(",", ":")) + "\n")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
