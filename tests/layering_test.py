#!/usr/bin/env python3
"""Every #include between rooms must be allowed by the table in ARCHITECTURE.md, and no type is defined twice.

usage: layering_test.py [REPOSITORY]
"""
import pathlib
import re
import sys

# Third-party headers and the rooms whose .cc files may include them (STYLE: PRIVATE to their owners).
OWNERS = {
    r"simdjson": {"ingest", "llm"},
    r"curl/": {"llm"},
    r"llama|ggml|chat\.h|log\.h": {"llm", "quantize"},
    r"CLI/": {"app"},
    r"zlib|zstd|zip\.h": {"ingest"},
    r"toml\+\+": {"app", "environment"},
    r"openssl/": {"environment", "llm", "quantize"},
    r"boost/": {"stats", "environment"},
}


def allowed_includes(root):
    """Rows '| rooms | may include |' of the table below the heading 'Allowed includes'."""
    text = (root / "ARCHITECTURE.md").read_text()
    section = text.split("## Allowed includes", 1)[1].split("\n## ", 1)[0]
    table = {}
    for rooms, names in re.findall(r"^\| *([a-z, ]+?) *\| *(.+?) *\|$", section, re.M):
        if rooms == "room":
            continue
        for room in re.split(r", *", rooms):
            table[room] = {"base", room} | set(re.findall(r"[a-z]+", names))
    return table


def types_defined_twice(root):
    """A type with one name in two headers of a namespace: two programs in one, and no linker says so."""
    found = {}
    for path in sorted((root / "src").rglob("*.h")):
        text = path.read_text()
        space = re.search(r"^namespace ([\w:]+)", text, re.M)
        for name in re.findall(r"^(?:struct|class|enum class) ([A-Z]\w+)(?: final)?\s*(?::[^;{]*)?\{", text, re.M):
            found.setdefault((space and space.group(1), name), []).append(str(path.relative_to(root / "src")))
    return [f"{name} is defined in {' and '.join(files)}" for (_, name), files in found.items() if len(files) > 1]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    table = allowed_includes(root)
    problems = []
    checked = 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        relative = path.relative_to(root / "src")
        room = relative.parts[0] if len(relative.parts) > 1 else "audit"
        if room not in table:
            problems.append(f"{relative}: room '{room}' is not in the table")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            quoted = re.match(r'\s*#include "([^"]+)"', line)
            angled = re.match(r"\s*#include <([^>]+)>", line)
            if quoted:
                checked += 1
                target = quoted.group(1)
                target_room = target.split("/")[0] if "/" in target else "audit"
                if not (root / "src" / target).exists():
                    problems.append(f"{relative}:{number}: \"{target}\" does not exist")
                elif target_room not in table[room]:
                    problems.append(f"{relative}:{number}: {room} may not include {target_room}")
            elif angled:
                for pattern, owners in OWNERS.items():
                    if re.match(pattern, angled.group(1)) and (room not in owners or path.suffix == ".h"):
                        problems.append(f"{relative}:{number}: <{angled.group(1)}> belongs in the .cc files of "
                                        f"{', '.join(sorted(owners))}")
    problems += types_defined_twice(root)
    print("\n".join(problems) if problems else f"{checked} includes follow the table")
    if checked == 0:
        print("nothing was checked")
    return 1 if problems or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
