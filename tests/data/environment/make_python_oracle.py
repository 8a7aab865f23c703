#!/usr/bin/env python3.12
"""Write python_oracle.jsonl beside this file: what CPython 3.12 answers, for environment_test.

Each line is {"op", "args", "result"} or {"op", "args", "error"}; args and results are JSON values.
usage: python3.12 make_python_oracle.py
"""
import json
import math
import operator
import pathlib
import random
import re
import warnings

warnings.simplefilter("ignore")
rng = random.Random(20260731)

VALUES = [None, True, False, 0, 1, -1, 5, 2**53 + 1, 2**63, -(2**63), 10**30, -(10**40), 0.0, -0.0, 1.0, 1.5, -2.25, 1e16,
          1e15, 1e-4, 1e-5, 123456789.125, 1e300, 5e-324, 1e22, 9007199254740993.0, float("inf"), float("-inf"), "", "a",
          "abc", "it's", 'say "x"', "both ' and \"", "tab\there", "line\nend", "back\\slash", "\u00dcber", "\u4e2d\u6587", "\U0001f600",
          "\u0000\u001f\u007f\u0080\u00a0\u00ad", "\u200b\u2028\ue000", "\ud800", [], [1, "a", None], [[], {}], {}, {"a": 1, "b": [2.0]},
          {"\u00e9": {"x": None}}]
NUMBERS = [v for v in VALUES if isinstance(v, (int, float))]
TEXTS = ["", "ABC", "\u00c0\u00c9\u00de", "\u0130stanbul", "\u03a3\u03a3", "\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3", "A\u03a3B", "A\u03a3.", "a\u0300\u03a3", "\u1e9e", "\u0490\u0531", "\U00010400",
         "\u2160\u24b6", "\uff21", "\u01c5\u01c8", "\u10a0\u13a0", "\u03a3", " \u03a3", "1\u03a3"]


def calculate(expression):
    if not all(char in "0123456789+-*/(). " for char in expression):
        raise ValueError("Invalid characters in expression")
    return str(round(float(eval(expression, {"__builtins__": None}, {})), 2))


def fixed(v, digits):
    return f"{v:.{digits}f}"


OPS = {
    "repr": repr, "str": str, "lower": lambda v: v.lower(), "len": len, "sorted": lambda v: sorted(v),
    "truthy": bool, "eq": operator.eq, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg, "abs": abs, "round": round,
    "fixed": fixed, "in": lambda container, item: item in container, "item": lambda container, key: container[key],
    "count": lambda sequence, item: sequence.count(item), "list": lambda v: list(v),
    "dumps": lambda v: json.dumps(v), "dumps_sorted": lambda v: json.dumps(v, sort_keys=True),
    "dumps_indented": lambda v: json.dumps(v, indent=2), "loads": json.loads, "calculate": calculate,
}


def floats():
    for _ in range(120):
        yield rng.choice([rng.uniform(-1000, 1000), rng.random() * 10 ** rng.randint(-12, 22),
                          round(rng.uniform(0, 5000), 2), math.ldexp(rng.random(), rng.randint(-300, 300))])


def expression(depth):
    roll = rng.random()
    if depth <= 0 or roll < .3:
        return rng.choice(["0", "1", "2", "3", "5", "10", "7.25", "0.5", "2.", "()", "...", "12345678901234567890", "0.1"])
    if roll < .75:
        return expression(depth - 1) + rng.choice(["+", "-", "*", "/", "//", " + ", " - "]) + expression(depth - 1)
    if roll < .80:
        return expression(depth - 1) + "**" + rng.choice(["2", "3", "0", "-1", "0.5", "(-2)", "1.5"])
    if roll < .92:
        return "(" + expression(depth - 1) + ")"
    if roll < .97:
        return rng.choice("+-") + expression(depth - 1)
    return expression(depth - 1) + "(" + rng.choice(["", "*", "**"]) + expression(depth - 2) + ")"


def expressions():
    pieces = ["0", "1", "7", "012", "00", "1.5", ".5", "2.", "...", "()", "(", ")", "(", ")", "+", "-", "*", "/", "**", "//", " ",
              ".", " + ", "(*", "(**", "(1)"]
    made = 0
    while made < 700:
        text = ("".join(rng.choice(pieces) for _ in range(rng.randint(1, 9))) if rng.random() < .5
                else expression(rng.randint(0, 4)))
        if rng.random() < .3 and text:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(["(", ")", " ", "*", "", "-", "1", "."]) + text[at + rng.choice([0, 1]):]
        plain = re.sub(r"[ ()+-]", "", text)
        if re.search(r"\*\*\d{3,}", plain) or plain.count("**") > 1:
            continue  # no towers
        made += 1
        yield text
    yield from ["", "   ", "1+" * 2994 + "1", "1+" * 2996 + "1", "-" * 2995 + "1", "-" * 2996 + "1", "(" * 201 + "1" + ")" * 201,
                "9" * 4301, "1a", "10**400/3", "10**400/10**399", "10**309*1.0", "1" * 400 + ".0", "0**-1", "2**-1075", "-8**0.5"]


def cases():
    for v in VALUES:
        for op in ("repr", "str", "truthy", "len", "list", "neg", "abs", "dumps", "dumps_sorted", "dumps_indented", "lower"):
            yield op, [v]
    for v in floats():
        yield "repr", [v]
        yield "round", [v, rng.choice([0, 1, 2, 3])]
        yield "fixed", [v, rng.choice([0, 1, 2])]
    for v in (2.675, 0.125, 2.5, 3.5, -0.5, 1e17, 1005.005, True, 7, "x", None, [1]):
        yield "round", [v, 2]
        yield "fixed", [v, 2]
    for text in TEXTS:
        yield "lower", [text]
    for op in ("eq", "lt", "le", "gt", "ge", "add", "sub", "mul"):
        for _ in range(60):
            a, b = rng.choice(NUMBERS + VALUES), rng.choice(NUMBERS + VALUES)
            if op == "mul" and (abs(a) > 100 if isinstance(a, int) else abs(b) > 100 if isinstance(b, int) else False):
                continue
            yield op, [a, b]
    for a, b in ((2**53 + 1, 9007199254740992.0), (10**30, 1e30), (2**63, 9.223372036854775807e18), (0, -0.0), (1, True), ([1, 2], [1, 3]),
                 ([1, "a"], [1, 2]), ([], [0]), ("a", "b"), ("\uffff", "\U00010000"), ({"a": 1, "b": 2}, {"b": 2, "a": 1})):
        for op in ("eq", "lt", "ge"):
            yield op, [a, b]
    for _ in range(80):
        yield "sorted", [[rng.choice([1, 2, 3.5, "a", "b", "10", None, True, [1]]) for _ in range(rng.randint(0, 5))]]
        yield "in", [rng.choice(VALUES[26:]), rng.choice(VALUES)]
        yield "item", [rng.choice(VALUES), rng.choice([0, 1, -1, 5, "a", "x", None, 1.0, [], {}])]
        yield "count", [rng.choice(["aaa", "", "abcabc", [1, 1.0, True, "1"], ["a", "a"], 5, {"a": 1}]), rng.choice(["a", "", 1, "abc", None])]
    for text in ("[1, 1.0, -0, -0.0, 1e5, 1E400, 12345678901234567890123]", '{"a": 1, "b": 2, "a": 3}', '"\\ud83d\\ude00\\ud800x"',
                 "[NaN, -Infinity]", " [ ] ", '"\\u00e9\\/"', "1.", "01", "[1,]", '{"a" 1}', "", "nul", '"a', '"\\x"'):
        yield "loads", [text]
    for text in expressions():
        yield "calculate", [text]


def main():
    path = pathlib.Path(__file__).with_name("python_oracle.jsonl")
    lines = []
    for op, args in cases():
        line = {"op": op, "args": args}
        try:
            line["result"] = OPS[op](*args)
        except Exception as error:  # noqa: BLE001 - every exception is an answer
            line["error"] = str(error)
        lines.append(json.dumps(line))
    path.write_text("\n".join(dict.fromkeys(lines)) + "\n")
    print(f"{path}: {len(set(lines))} cases")


if __name__ == "__main__":
    main()
