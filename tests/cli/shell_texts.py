#!/usr/bin/env python3
"""The completions and the manual know every command and option that --help shows, and the shells accept them.

usage: shell_texts.py UNMASK_BINARY
"""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

UNMASK = os.path.realpath(sys.argv[1])


def output(*arguments, **more):
    return subprocess.run(arguments, check=True, capture_output=True, text=True, **more).stdout


def commands():
    section = output(UNMASK, "--help").split("commands:\n", 1)[1].split("\n\n", 1)[0]
    return [line.split()[0] for line in section.splitlines()]


def options(command):
    """Long and short options of a command's help."""
    found = set()
    for line in output(UNMASK, command, "--help").splitlines():
        names = re.match(r"  ((?:-\w|--[\w-]+)(?:,(?:-\w|--[\w-]+))*)(?: |$)", line)
        if names:
            found |= set(names.group(1).split(","))
    return found


def section_of(text, begin, end):
    return text.split(begin, 1)[1].split(end, 1)[0] if begin in text else ""


def in_bash(script, command):
    return set(re.search(r"options='([^']*)'", section_of(script, f"\n    {command})\n", "\n      ;;\n")).group(1).split())


def in_zsh(script, command):
    return set(re.findall(r"'\*(--?[\w-]+?)=?-?\[", section_of(script, f"\n        {command})\n", "\n          ;;\n")))


def in_fish(script, command):
    found = set()
    for line in script.splitlines():
        if line.startswith(f"complete -c unmask -n '__fish_seen_subcommand_from {command}'"):
            flags = line.split(" -d ", 1)[0]
            found |= {"--" + name for name in re.findall(r" -l ([\w-]+)", flags)}
            found |= {"-" + name for name in re.findall(r" -s (\w)", flags)}
    return found


def in_man(page, command):
    section = section_of(page, f".SS unmask {command}", "\n.SS ")
    found = set()
    for line in re.findall(r"^\.TP\n(.*)$", section, re.M):
        found |= {name.replace("\\-", "-") for name in re.findall(r"\\fB(.*?)\\fR", line)}
    return found


def complete(script, *words):
    """What bash offers for the last of the words."""
    quoted = " ".join(f"'{word}'" for word in words)
    program = f"""source {script}
COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}
_unmask unmask; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return [line for line in output("bash", "-c", program, cwd=script.parent).splitlines() if line]


def check_completions_work(script):
    folder = script.parent
    (folder / "two words.json").touch()
    (folder / "logs").mkdir()
    expected = [
        (("unmask", "aud"), ["audit"]),
        (("unmask", "audit", "--eq"), ["--equivalence-margin"]),
        (("unmask", "audit", "a", "b", "--color", "a"), ["auto", "always"]),
        (("unmask", "audit", "--color", "=", "n"), ["never"]),
        (("unmask", "audit", "--color", "="), ["auto", "always", "never"]),
        (("unmask", "audit", "two"), ["two words.json"]),
        (("unmask", "audit", "--json", "two"), ["two words.json"]),
        (("unmask", "audit", "--gate", "two"), ["two words.json"]),
        (("unmask", "audit", "--gate", "=", "two"), ["two words.json"]),
        (("unmask", "audit", "--csv", "lo"), ["logs"]),
        (("unmask", "audit", "--seed", "two"), []),
        (("unmask", "completions", "f"), ["fish"]),
        (("unmask", "help", "insp"), ["inspect"]),
        (("unmask", "plant", "--preset", "cl"), ["clean"]),
        (("unmask", "plant", "--preset", "=", "da"), ["damaged"]),
    ]
    for words, wanted in expected:
        seen = complete(script, *words)
        assert sorted(seen) == sorted(wanted), f"{words}: {seen}, expected {wanted}"


def check_syntax(files):
    checks = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}
    for shell, check in checks.items():
        if shutil.which(shell) is None:
            print(f"skipped: no {shell}")
            continue
        done = subprocess.run([*check, str(files[shell])], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, f"{shell}: {done.stderr}"
    if shutil.which("man") is None:
        print("skipped: no man")
        return
    # Under the C locale too: the page is ASCII.
    done = subprocess.run(["man", "--warnings", "-l", str(files["man"])], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C", "MANWIDTH": "80", "MANROFFSEQ": ""})
    assert done.returncode == 0 and not done.stderr, f"man: {done.stderr}"
    assert "unmask audit" in done.stdout, done.stdout[:400]


def check_fish_works(script):
    if shutil.which("fish") is None:
        return
    for typed, wanted in (("unmask aud", ["audit"]), ("unmask audit --eq", ["--equivalence-margin"]),
                          ("unmask audit --color ", ["always", "auto", "never"]),
                          ("unmask he", ["help"]), ("unmask help insp", ["inspect"]),
                          ("unmask plant --preset cl", ["clean"])):
        seen = output("fish", "--no-config", "-c", f"source {script}; complete -C '{typed}'")
        assert [line.split("\t")[0] for line in seen.splitlines()] == wanted, f"fish: {typed}: {seen}"


def zsh_offers(script, typed):
    """What zsh offers for a line with the cursor at its end, told by a compadd that says what it adds."""
    setup = f"""PS1= RPS1=; unsetopt prompt_cr prompt_sp; autoload -Uz compinit; compinit -u -D; source {script}
compadd() {{
  if [[ " $* " != *" -"[OAD]" "* ]]; then local -a hits; builtin compadd -A hits "$@"; print -rl -- "<"$^hits">"; fi
  builtin compadd "$@"
}}
print READY
"""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", HOME=str(script.parent))
        os.execvp("zsh", ["zsh", "-f", "-i"])
    seen = b""

    def read(until, seconds):
        nonlocal seen
        end = time.monotonic() + seconds
        while time.monotonic() < end and not re.search(until, seen):
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 65536)

    try:
        os.write(terminal, setup.encode())
        read(rb"\nREADY", 30)
        seen = b""
        os.write(terminal, typed.encode() + b"\t")
        read(rb"<[\w-]+>", 20)
        read(rb"$^", 0.3)  # the rest of them
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)
    return sorted({word.decode() for word in re.findall(rb"<([\w-]+)>", seen)})


def check_zsh_works(script, names):
    if shutil.which("zsh") is None:
        return
    for typed, wanted in (("unmask aud", ["audit"]), ("unmask help insp", ["inspect"]), ("unmask help ", names),
                          ("unmask audit --color ", ["always", "auto", "never"]), ("unmask plant --preset cl", ["clean"])):
        seen = zsh_offers(script, typed)
        assert seen == sorted(wanted), f"zsh: {typed}: {seen}"


def main():
    with tempfile.TemporaryDirectory(prefix="unmask-shell-") as temporary:
        folder = pathlib.Path(temporary)
        texts = {shell: output(UNMASK, "completions", shell) for shell in ("bash", "zsh", "fish")}
        texts["man"] = output(UNMASK, "man")
        files = {}
        for name, text in texts.items():
            files[name] = folder / f"unmask.{name}"
            files[name].write_text(text)
        readers = {"bash": in_bash, "zsh": in_zsh, "fish": in_fish, "man": in_man}
        total = 0
        names = commands()
        for command in names:
            wanted = options(command)
            assert "--help" in wanted, f"{command} --help shows no options"
            total += len(wanted)
            for name, read in readers.items():
                seen = read(texts[name], command)
                assert seen == wanted, f"{name}, {command}: {sorted(seen ^ wanted)} differ from --help"
        for name in ("bash", "zsh", "fish", "man"):
            assert texts[name].isascii() or name != "man", "the manual page is not ASCII"
        check_syntax(files)
        check_completions_work(files["bash"])
        check_fish_works(files["fish"])
        check_zsh_works(files["zsh"], names)
        print(f"{total} options of {len(names)} commands in each of bash, zsh, fish and man")


if __name__ == "__main__":
    main()
