"""The files that are compiled for the library and the program, largest first: sources of src/, or what stands for several of them."""
import json
import os
import sys


def wanted(file):
    if file.endswith("_test.cc") or "/tests/" in file or "/_deps/" in file:
        return False
    return "/src/" in file or "/Unity/" in file


files = sorted({entry["file"] for entry in json.load(open(sys.argv[1])) if wanted(entry["file"])})
print("\n".join(sorted(files, key=os.path.getsize, reverse=True)))
