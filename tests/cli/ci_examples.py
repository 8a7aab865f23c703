#!/usr/bin/env python3
"""Parses the YAML of docs/ci.md and runs its shell against planted logs.

usage: ci_examples.py UNMASK_BINARY CI_MD
Exit status 77 (skipped) where python3-yaml is missing.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def shell(script, folder, env):
    # As the runners do: errors end the script.
    return subprocess.run(["/bin/bash", "-e", "-c", script], cwd=folder, env=env, capture_output=True, text=True)


def planted(unmask, folder, preset, criteria):
    evals = folder / "evals"
    evals.mkdir()
    subprocess.run([unmask, "plant", "-q", "--preset", preset, "--exact", "--out", f"{folder}/"], check=True,
                   stdout=subprocess.DEVNULL)
    (folder / "baseline.json").rename(evals / "bf16.json")
    (folder / "candidate.json").rename(evals / "int4.json")
    (evals / "gate.toml").write_text(criteria)


def run_github(jobs, folder, env):
    """The steps that have shell and need no network; returns the status of the job."""
    output, summary = folder / "output", folder / "summary"
    output.touch()
    env = dict(env, GITHUB_OUTPUT=str(output), GITHUB_STEP_SUMMARY=str(summary))
    for step in jobs["audit"]["steps"]:
        if step.get("name") not in ("Audit", "Decide"):
            continue
        values = dict(line.split("=", 1) for line in output.read_text().splitlines())
        for name, value in step.get("env", {}).items():
            env[name] = re.sub(r"\$\{\{ steps\.audit\.outputs\.(\w+) \}\}", lambda m: values[m.group(1)], value)
        done = shell(step["run"], folder, env)
        if done.returncode:
            return done.returncode
    assert summary.read_text(), "an empty summary"
    return 0


def check_package(settings, install, env):
    """The address of the package stands at the top, once, and the first step says where it is still the page's."""
    address = settings["UNMASK_DEB"]
    unset = shell(install, "/", dict(env, UNMASK_DEB=address, PATH="/nowhere"))  # no apt-get there: it must not come to it
    assert unset.returncode == 1 and "Set UNMASK_DEB" in unset.stdout, f"the page's own address: {unset}"
    first = install.strip().split("\n")[0]
    done = shell(first, "/", dict(env, UNMASK_DEB="https://example.org/unmask_0.1.0_amd64.deb"))
    assert done.returncode == 0, f"an address of a reader: {done}"


def main():
    unmask, page = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text()
    github, gitlab = [yaml.safe_load(block) for block in blocks(page, "yaml")]
    criteria = blocks(page, "toml")[0]
    assert github["jobs"]["audit"]["container"] == gitlab["quantization-gate"]["image"]
    assert page.count("UNMASK_DEB: ") == 2 and "OWNER" not in page
    install = [step["run"] for step in github["jobs"]["audit"]["steps"] if step.get("name") == "Install"]
    check_package(github["env"], install[0], {"LC_ALL": "C.UTF-8"})
    check_package(gitlab["variables"], "\n".join(gitlab["quantization-gate"]["before_script"]), {"LC_ALL": "C.UTF-8"})
    expected = {"damaged": 1, "clean": 0}
    for preset, status in expected.items():
        for name in ("github", "gitlab"):
            with tempfile.TemporaryDirectory(prefix="unmask-ci-") as temporary:
                folder = pathlib.Path(temporary)
                (folder / "bin").mkdir()
                (folder / "bin" / "unmask").symlink_to(unmask)
                env = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
                planted(unmask, folder, preset, criteria)
                if name == "github":
                    seen = run_github(github["jobs"], folder, env)
                else:
                    done = shell("\n".join(gitlab["quantization-gate"]["script"]), folder, env)
                    seen = done.returncode
                assert seen == status, f"{name}, {preset}: status {seen}, expected {status}"
                suites = xml.etree.ElementTree.parse(folder / "gate" / "junit.xml").getroot()
                assert (int(suites.get("failures")) > 0) == (status == 1), f"{name}, {preset}: JUnit disagrees"
                assert (folder / "gate" / "comment.md").stat().st_size < 65536
    assert gitlab["quantization-gate"]["allow_failure"]["exit_codes"] == 4
    print(f"{2 * len(expected)} pipelines ran as docs/ci.md says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
