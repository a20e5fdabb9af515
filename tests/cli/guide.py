#!/usr/bin/env python3
"""docs/guide.md as a newcomer types it: the `sh` blocks one after another in one empty folder. What a `text` block shows must be printed, line by line and in that order; … stands for anything."""
import os, re, subprocess, sys, tempfile

ROOT = os.environ.get("SILT_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SILT = os.path.abspath(os.environ["SILT"] if "SILT" in os.environ else os.path.join(ROOT, "build", "silt"))


def steps(text):
    """(heading, commands, expected lines)"""
    heading, found = "", []
    for m in re.finditer(r"^## ([^\n]*)$|^```(sh|text)\n(.*?)^```$", text, re.M | re.S):
        if m[1]: heading = m[1]
        elif m[2] == "sh": found.append([heading, m[3], []])
        else: found[-1][2] = m[3].splitlines()
    return found


def missing(expected, printed):
    """The first expected line that is not printed behind those before it, or None."""
    lines = iter(printed.splitlines())
    for want in expected:
        pattern = ".*".join(re.escape(part) for part in want.split("…"))
        if not any(re.fullmatch(pattern, line.rstrip()) for line in lines): return want
    return None


failed = 0
with tempfile.TemporaryDirectory() as work:
    os.mkdir(os.path.join(work, "bin"))
    os.symlink(SILT, os.path.join(work, "bin", "silt"))
    os.mkdir(os.path.join(work, "here"))
    env = dict(os.environ, PATH=os.path.join(work, "bin") + ":" + os.environ["PATH"], TZ="UTC")
    found = steps(open(os.path.join(ROOT, "docs", "guide.md"), encoding="utf-8").read())
    for i, (heading, commands, expected) in enumerate(found):
        done = subprocess.run(["bash", "-e", "-c", commands], cwd=os.path.join(work, "here"), env=env, capture_output=True, text=True)
        lost = missing(expected, done.stdout)
        good = done.returncode == 0 and lost is None and len(expected) > 0
        print("%s step %d of the guide (%s)" % ("ok" if good else "not ok", i + 1, heading))
        if not good:
            failed += 1
            print("#   status %d, not printed: %r\n#   %s" % (done.returncode, lost, (done.stdout + done.stderr).replace("\n", "\n#   ")))
    if len(found) < 6: sys.exit("not ok the guide has no steps")
sys.exit(1 if failed else 0)
