#!/usr/bin/env python3
"""llama.cpp's types as unmask writes them are llama-quantize's, byte for byte, but for the metadata.

usage: identical_test.py UNMASK LLAMA_QUANTIZE MODEL.gguf   (exit status 77: skipped, something is missing)
"""
import os
import struct
import subprocess
import sys
import tempfile

RECIPES = ["q8_0", "q6_k", "q5_k_m", "q5_k_s", "q5_1", "q5_0", "q4_k_m", "q4_k_s", "q4_1", "q4_0", "iq4_nl", "iq4_xs",
           "mxfp4_moe", "q3_k_l", "q3_k_m", "q3_k_s", "iq3_m", "iq3_s", "q2_k", "tq1_0", "tq2_0"]
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        length = self.number("Q")
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def skip(self, kind):
        if kind == 8:
            self.text()
        elif kind == 9:
            element, count = self.number("I"), self.number("Q")
            for _ in range(count):
                self.skip(element)
        else:
            self.at += SIZES[kind]


def tensors_and_data(path):
    """[(name, shape, type, offset)], and everything behind the head."""
    with open(path, "rb") as file:
        data = file.read()
    reader = Reader(data)
    assert reader.number("I") == 0x46554747, path
    reader.number("I")
    tensors, entries = reader.number("Q"), reader.number("Q")
    for _ in range(entries):
        reader.text()
        reader.skip(reader.number("I"))
    infos = []
    for _ in range(tensors):
        name = reader.text()
        shape = [reader.number("Q") for _ in range(reader.number("I"))]
        infos.append((name, shape, reader.number("I"), reader.number("Q")))
    return infos, data[(reader.at + 31) // 32 * 32:]


def main():
    unmask, llama_quantize, model = sys.argv[1:4]
    for path in (unmask, llama_quantize, model):
        if not os.path.exists(path):
            print(f"skipped: {path} is not there")
            return 77
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([unmask, "quantize", model, "-r", ",".join(RECIPES), "-o", folder, "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        stem = os.path.basename(model)[:-len(".gguf")]
        for recipe in RECIPES:
            theirs = os.path.join(folder, "theirs.gguf")
            subprocess.run([llama_quantize, model, theirs, recipe.upper(), "1"], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            our_tensors, our_data = tensors_and_data(os.path.join(folder, f"{stem}-{recipe}.gguf"))
            their_tensors, their_data = tensors_and_data(theirs)
            same = our_tensors == their_tensors and our_data == their_data
            different += not same
            print(f"{recipe:<10} {len(our_data)} bytes of {len(our_tensors)} tensors", "identical" if same else "DIFFERENT")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
