#!/usr/bin/env python3
"""The pages that scripts make out of the code's tables are up to date, and docs/settings.md has every setting."""
import os, re, subprocess, sys

ROOT = os.environ.get("SILT_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = {"docs/errors.md": "gen_errors_md.py", "docs/functions.md": "gen_functions_md.py"}

failed = 0
for page, name in PAGES.items():
    script = os.path.join(ROOT, "scripts", name)
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, cwd=ROOT)
    print("ok " + page if done.returncode == 0 else "not ok %s: %s" % (page, (done.stdout + done.stderr).strip()))
    failed += done.returncode != 0

def keys_of(line):
    """`a.b.c`, `.d` and `e`: a.b.c, a.b.d, e."""
    names = re.findall(r"`(silt\.[\w.]+|\.\w+)`", line)
    for i, n in enumerate(names):
        if n.startswith("."): names[i] = names[i - 1].rpartition(".")[0] + n
    return names


with open(os.path.join(ROOT, "src/sql/settings.c")) as f: known = set(re.findall(r'^    \{"(silt\.[\w.]+)"', f.read(), re.M))
with open(os.path.join(ROOT, "docs/settings.md")) as f: told = {k for line in f if line.startswith("| `silt.") for k in keys_of(line.split("|")[1])}
wrong = sorted(known ^ told)
print("ok docs/settings.md" if known and not wrong else "not ok docs/settings.md: in one of the page and src/sql/settings.c alone: %s" % ", ".join(wrong))
failed += bool(wrong) or not known
sys.exit(1 if failed else 0)
