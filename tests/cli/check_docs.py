#!/usr/bin/env python3
"""The pages that scripts make out of the code's tables are up to date."""
import os, subprocess, sys

ROOT = os.environ.get("SILT_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = {"docs/errors.md": "gen_errors_md.py", "docs/functions.md": "gen_functions_md.py"}

failed = 0
for page, name in PAGES.items():
    script = os.path.join(ROOT, "scripts", name)
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, cwd=ROOT)
    print("ok " + page if done.returncode == 0 else "not ok %s: %s" % (page, (done.stdout + done.stderr).strip()))
    failed += done.returncode != 0
sys.exit(1 if failed else 0)
