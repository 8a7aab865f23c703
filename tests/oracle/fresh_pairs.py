#!/usr/bin/env python3
"""Plants pairs of logs, audits them with unmask, and compares with audit_oracle.py.

usage: fresh_pairs.py UNMASK
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy  # noqa: F401
    import scipy  # noqa: F401
except ImportError:
    print("skipped: numpy and scipy are not installed")
    sys.exit(77)

PAIRS = {
    "the paper's cell": ["--preset", "damaged", "--exact"],
    "clean": ["--preset", "clean", "--seed", "5"],
    "everything at once": """--tasks 25 --trials 3 --tool-name-rate 0.08,0.16 --schema-rate 0.05 --entity-rate 0.04
        --rejected-rate 0.04 --malformed-rate 0.05 --leaked-markup-share 0.4 --parallel-share 0.3
        --user-calls-per-episode 2 --user-failure-rate 0.2 --max-errors 6 --success 0.5 --infrastructure-rate 0.1
        --novel-share 0,0.2 --seed 11""".split(),
    "nothing fails": ["--tasks", "6", "--trials", "2", "--success", "0.5"],
}


def main():
    unmask = sys.argv[1]
    oracle = pathlib.Path(__file__).with_name("audit_oracle.py")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, options in PAIRS.items():
            logs = [f"{folder}/baseline.json", f"{folder}/candidate.json"]
            report = f"{folder}/audit.json"
            subprocess.run([unmask, "plant", "-q", "--out", folder + "/"] + options, check=True, stdout=subprocess.DEVNULL)
            subprocess.run([unmask, "audit", "-q", "--bootstrap", "200", "--json", report] + logs, check=True,
                           stdout=subprocess.DEVNULL)
            compared = subprocess.run([sys.executable, oracle, "--compare", report] + logs, text=True, capture_output=True)
            print(f"{name}: {compared.stdout}{compared.stderr}", end="")
            failed |= compared.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
