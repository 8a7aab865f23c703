#!/usr/bin/env python3
"""Makes the .deb, unpacks it, and runs what is in it.

usage: deb.py CPACK BUILD
Exit status 77 (skipped) where dpkg-deb or dpkg-shlibdeps is missing.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from installed import program_works  # noqa: E402

cpack, build = sys.argv[1:3]
if not shutil.which("dpkg-deb") or not shutil.which("dpkg-shlibdeps"):
    print("skipped: no dpkg-deb or dpkg-shlibdeps")
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="unmask-deb-") as temporary:
    temporary = pathlib.Path(os.path.realpath(temporary))
    done = subprocess.run([cpack, "-G", "DEB", "-B", temporary / "out"], cwd=build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    packages = list((temporary / "out").glob("*.deb"))
    assert len(packages) == 1, packages
    fields = subprocess.run(["dpkg-deb", "--field", packages[0]], capture_output=True, text=True, check=True).stdout
    for needed in ("Package: unmask", "Maintainer: ", "libc6", "libstdc++6", "libcurl4", "libzip4", "Installed-Size: "):
        assert needed in fields, f"{needed} is missing from\n{fields}"
    assert "llama" not in fields.split("Depends:")[1].splitlines()[0], fields
    subprocess.run(["dpkg-deb", "-x", packages[0], temporary / "root"], check=True)
    version = program_works(temporary / "root" / "usr")
    files = [path for path in (temporary / "root").rglob("*") if path.is_file()]
    assert not [path for path in files if path.suffix in (".a", ".h")], "the package has parts of the library"
    print(f"{packages[0].name}: {packages[0].stat().st_size / 1e6:.1f} MB, {len(files)} files\n{fields}\n{version}")
