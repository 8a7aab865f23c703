#!/usr/bin/env python3
"""The simulated recipes of `unmask quantize`, bit for bit, against arithmetic written here from docs/quantize.md.

A sum, difference, product or quotient of two float32 numbers, computed in double and rounded to float32, is the correctly
rounded one (53 >= 2 * 24 + 2), so plain Python is an exact reference.

usage: quantize_oracle.py UNMASK
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

F32, F16, BF16 = 0, 1, 30
RECIPES = ["int4_rtn", "int4_rtn_g64", "int3_rtn_channel", "int4_rtn_asym", "int3_rtn_asym_g32", "fp8_e4m3", "fp8_e4m3_channel"]


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def stored(x, kind):
    """The bytes of x in a type, rounded to nearest even."""
    if kind == F32:
        return struct.pack("<f", x)
    if kind == F16:
        return struct.pack("<e", x)
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    upper, rest = bits >> 16, bits & 0xffff
    if rest > 0x8000 or (rest == 0x8000 and upper & 1):
        upper += 1
    return struct.pack("<H", upper)


def loaded(data, kind):
    if kind == BF16:
        return struct.unpack("<f", b"\0\0" + data)[0]
    return struct.unpack("<f" if kind == F32 else "<e", data)[0]


E4M3 = [(m / 8 if e == 0 else 1 + m / 8) * 2.0 ** (max(e, 1) - 7) for e in range(16) for m in range(8)][:127]


def e4m3(x):
    best = min(range(127), key=lambda i: (abs(E4M3[i] - abs(x)), i % 2))
    return -E4M3[best] if x < 0 else E4M3[best]


def symmetric(group, bits):
    most = 2 ** (bits - 1) - 1
    scale = f32(max(abs(w) for w in group) / most)
    if scale == 0:
        return [0.0] * len(group)
    return [f32(min(max(round(f32(w / scale)), -most - 1), most) * scale) for w in group]


def asymmetric(group, bits):
    most = 2 ** bits - 1
    scale = f32(max(f32(max(group) - min(group)), f32(1e-5)) / most)
    zero = min(max(-round(f32(min(group) / scale)), 0), most)
    return [f32((min(max(round(f32(w / scale)) + zero, 0), most) - zero) * scale) for w in group]


def fp8(group):
    scale = f32(max(abs(w) for w in group) / 448)
    if scale == 0:
        return [0.0] * len(group)
    return [f32(e4m3(f32(w / scale)) * scale) for w in group]


def expected(weights, columns, recipe):
    rows = [weights[i:i + columns] for i in range(0, len(weights), columns)]
    if recipe == "fp8_e4m3":
        return fp8(weights)
    if recipe == "fp8_e4m3_channel":
        return [w for row in rows for w in fp8(row)]
    width = columns if recipe.endswith("_channel") else int(recipe.split("_g")[1]) if "_g" in recipe else 128
    rounding = asymmetric if "_asym" in recipe else symmetric
    return [w for row in rows for i in range(0, columns, width) for w in rounding(row[i:i + width], int(recipe[3]))]


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def write_model(path, tensors):
    """tensors: [(name, shape, kind, bytes)], fastest extent first."""
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), 1) + text("general.architecture") + struct.pack("<I", 8) + text("llama")
    data = b""
    for name, shape, kind, content in tensors:
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(data))
        data += content + bytes(-len(content) % 32)
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32) + data)
    return len(data)


def main():
    unmask = sys.argv[1]
    chance = random.Random(20260731)
    checked = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for kind, kind_name in ((F32, "f32"), (F16, "f16"), (BF16, "bf16")):
            shapes = {"blk.0.attn_q.weight": [300, 5], "blk.0.ffn_down.weight": [64, 4], "blk.1.ffn_up_exps.weight": [130, 3, 2],
                      "token_embd.weight": [16, 4]}
            tensors, offsets, size = [], {}, 0
            for name, shape in shapes.items():
                count = shape[0] * shape[1] * (shape[2] if len(shape) > 2 else 1)
                content = b"".join(stored(f32(chance.gauss(0, 0.05)), kind) for _ in range(count))
                tensors.append((name, shape, kind, content))
                offsets[name] = size
                size += len(content) + -len(content) % 32
            model = os.path.join(folder, kind_name + ".gguf")
            write_model(model, tensors)
            subprocess.run([unmask, "quantize", model, "-r", ",".join(RECIPES), "-o", folder, "--quiet"], check=True,
                           stdout=subprocess.DEVNULL)
            width = 4 if kind == F32 else 2
            for recipe in RECIPES:
                with open(os.path.join(folder, f"{kind_name}-{recipe}.gguf"), "rb") as file:
                    data = file.read()[-size:]
                for name, shape, _, content in tensors:
                    weights = [loaded(content[i:i + width], kind) for i in range(0, len(content), width)]
                    matrix = shape[0] * shape[1]
                    wanted = weights
                    if name.startswith("blk."):
                        wanted = [w for i in range(0, len(weights), matrix) for w in expected(weights[i:i + matrix], shape[0], recipe)]
                    got = data[offsets[name]:offsets[name] + len(content)]
                    for i, w in enumerate(wanted):
                        checked += 1
                        here = got[i * width:(i + 1) * width]
                        if here != stored(w, kind) and (w != 0 or loaded(here, kind) != 0):
                            wrong += 1
                            if wrong < 10:
                                print(f"{kind_name} {recipe} {name} [{i}]: {loaded(here, kind)!r}, not {w!r}")
    print(f"{checked} weights, {wrong} wrong")
    return 1 if wrong or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
