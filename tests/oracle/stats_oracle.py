#!/usr/bin/env python3
"""Writes tests/data/stats_oracle.json: what scipy, statsmodels and numpy say.

The C++ tests of src/stats compare with this file; it is committed, so that they need no Python.
Run again after adding a case:  python3 tests/oracle/stats_oracle.py
(Debian: python3-scipy, python3-statsmodels.)
"""
import json
import pathlib

import numpy as np
import scipy
import statsmodels
import statsmodels.api as sm
from scipy import integrate, stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

rng = np.random.default_rng(20260731)


def floats(values):
    return [float(v) for v in values]


def t_ppf(p, df):
    """scipy 1.10's t.ppf has about 9 digits; Newton steps on its cdf give the rest."""
    if p > 0.5:
        return -t_ppf(1 - p, df)
    x = stats.t.ppf(p, df)
    for _ in range(4):
        x -= (stats.t.cdf(x, df) - p) / stats.t.pdf(x, df)
    return float(x)


def t_interval(confidence, df, mean, se):
    reach = t_ppf(0.5 + confidence / 2, df) * se
    return [float(mean - reach), float(mean + reach)]


def distributions():
    cases = []
    for p in (1e-12, 1e-6, 0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9999):
        cases.append({"f": "normal_quantile", "args": [p], "value": stats.norm.ppf(p)})
        for df in (1, 2, 3.5, 7, 30, 113, 5000):
            cases.append({"f": "t_quantile", "args": [p, df], "value": t_ppf(p, df)})
    for x in (-40.0, -8.3, -1.96, -0.1, 0.0, 0.7, 3.2, 9.0):
        cases.append({"f": "normal_cdf", "args": [x], "value": stats.norm.cdf(x)})
        for df in (1, 2.5, 9, 113, 4000):
            cases.append({"f": "t_cdf", "args": [x, df], "value": stats.t.cdf(x, df)})
            cases.append({"f": "two_sided_t_p", "args": [x, df], "value": 2 * stats.t.sf(abs(x), df)})
            for nc in (-2.0, 0.5, 3.0):
                if -1 < x < 10:
                    cases.append({"f": "noncentral_t_cdf", "args": [x, df, nc],
                                  "value": stats.nct.cdf(x, df, nc)})
    for p in (0.025, 0.5, 0.95):
        for a, b in ((1, 5), (2, 30), (0.5, 0.5), (40, 3)):
            cases.append({"f": "beta_quantile", "args": [p, a, b], "value": stats.beta.ppf(p, a, b)})
    return [{**c, "value": float(c["value"])} for c in cases]


def mean_tests():
    cases = []
    for n, mean, sd in ((2, 0.1, 1.0), (5, 0.0, 0.3), (20, -0.05, 0.4), (114, 0.02, 0.25), (300, 0.5, 2.0)):
        x = np.round(rng.normal(mean, sd, n), 6)
        test = stats.ttest_1samp(x, 0.0)
        se = stats.sem(x)
        described = DescrStatsW(x)
        case = {"values": floats(x), "mean": x.mean(), "se": se, "p": test.pvalue,
                "ci95": t_interval(0.95, n - 1, x.mean(), se),
                "ci90": t_interval(0.90, n - 1, x.mean(), se),
                "upper95": x.mean() + t_ppf(0.95, n - 1) * se, "tost": []}
        for margin in (0.075, 0.2, 1.0):
            p, _, _ = described.ttost_mean(-margin, margin)
            case["tost"].append({"margin": margin, "p": float(p)})
        cases.append({k: float(v) if isinstance(v, (np.floating, float)) else v for k, v in case.items()})
    return cases


def rank_cases():
    cases = []
    sources = [
        (rng.normal(size=9), rng.normal(size=9)),
        (rng.integers(0, 4, 30), rng.integers(0, 5, 30)),
        (rng.poisson(1.0, 60), rng.poisson(1.5, 60)),
        (np.arange(12), np.arange(12)[::-1] ** 2),
        (rng.zipf(2.0, 80), rng.zipf(1.8, 80)),
    ]
    for x, y in sources:
        cases.append({"x": floats(x), "y": floats(y), "ranks_x": floats(stats.rankdata(x)),
                      "spearman": float(stats.spearmanr(x, y)[0]), "kendall": float(stats.kendalltau(x, y)[0])})
    return cases


def holm_cases():
    cases = []
    for p in ([0.01, 0.04, 0.03, 0.005], [0.5], [0.2, 0.2, 0.2], floats(np.round(rng.uniform(0, 0.2, 12), 5)),
              [0.0, 1.0, 0.5], [0.9, 0.8, 0.01]):
        cases.append({"p": p, "holm": floats(multipletests(p, method="holm")[1])})
    return cases


def proportion_cases():
    cases = []
    for k, n in ((0, 1), (1, 1), (0, 114), (1, 114), (7, 20), (19, 20), (228, 456), (456, 456)):
        for confidence in (0.90, 0.95, 0.99):
            lo, hi = proportion_confint(k, n, alpha=1 - confidence, method="beta")
            lo = 0.0 if k == 0 else lo
            hi = 1.0 if k == n else hi
            cases.append({"successes": k, "trials": n, "confidence": confidence, "ci": [float(lo), float(hi)]})
    return cases


def power_cases():
    detect = []
    solver = TTestPower()
    for effect in (0.1, 0.2, 0.5, 1.0):
        for n in (5, 20, 114, 400):
            detect.append({"effect": effect, "n": n, "alpha": 0.05,
                           "power": float(solver.power(effect, n, 0.05, alternative="two-sided")),
                           "one_sided": float(solver.power(effect, n, 0.05, alternative="larger"))})
    needed = []
    for effect in (0.1, 0.25, 0.5, 0.8):
        for power in (0.8, 0.9):
            n = solver.solve_power(effect_size=effect, power=power, alpha=0.05, alternative="two-sided")
            one = solver.solve_power(effect_size=effect, power=power, alpha=0.05, alternative="larger")
            needed.append({"effect": effect, "wanted": power, "n": int(np.ceil(n)), "one_sided": int(np.ceil(one))})
    equivalence = []
    for mean, sd, margin, n in ((0.0, 0.3, 0.075, 114), (0.02, 0.3, 0.075, 200), (0.0, 1.0, 0.5, 20), (0.0, 1.0, 2.0, 4)):
        df, root_n = n - 1, np.sqrt(n)
        t = t_ppf(0.95, df)

        def integrand(u):  # u = s / sd
            fits = stats.norm.cdf((margin - mean) / sd * root_n - t * u) - stats.norm.cdf(t * u - (margin + mean) / sd * root_n)
            return max(0.0, fits) * stats.chi.pdf(u * np.sqrt(df), df) * np.sqrt(df)

        widest = margin / sd * root_n / t
        power, _ = integrate.quad(integrand, 0, widest, points=[min(1.0, widest / 2)], epsabs=1e-12, limit=500)
        equivalence.append({"mean": mean, "sd": sd, "margin": margin, "n": n, "alpha": 0.05, "power": float(power)})
    return {"detect": detect, "needed": needed, "equivalence": equivalence}


def quantile_cases():
    cases = []
    for n in (1, 2, 7, 40):
        x = np.round(rng.exponential(size=n), 5)
        for p in (0.0, 0.1, 0.25, 0.5, 0.9, 1.0):
            cases.append({"values": floats(x), "p": p, "value": float(np.quantile(x, p))})
    return cases


def slope_cases():
    cases = []
    for n in (5, 30, 114):
        x = np.round(rng.uniform(0, 1, n), 5)
        y = np.round(0.1 + 0.4 * x + x * rng.normal(0, 0.3, n), 5)
        fit = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC3", use_t=True)
        lo, hi = t_interval(0.95, n - 2, fit.params[1], fit.bse[1])
        cases.append({"x": floats(x), "y": floats(y), "slope": float(fit.params[1]),
                      "intercept": float(fit.params[0]), "se": float(fit.bse[1]), "p": float(fit.pvalues[1]),
                      "ci95": [float(lo), float(hi)]})
    return cases


def main():
    oracle = {
        "versions": {"scipy": scipy.__version__, "statsmodels": statsmodels.__version__,
                     "numpy": np.__version__},
        "distributions": distributions(),
        "mean_tests": mean_tests(),
        "rank": rank_cases(),
        "holm": holm_cases(),
        "proportion": proportion_cases(),
        "power": power_cases(),
        "quantile": quantile_cases(),
        "slope": slope_cases(),
    }
    path = pathlib.Path(__file__).resolve().parent.parent / "data" / "stats_oracle.json"
    path.write_text(json.dumps(oracle, indent=None, separators=(",", ":")) + "\n")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
