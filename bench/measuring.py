"""What the programs of the bench share: data made once, processes timed with their peak memory, contestants in alternating rounds."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

DATA = os.environ.get("SILT_BENCH_DIR") or os.path.expanduser("~/.cache/silt/bench")


def once(name, make):
    """A folder that is made whole or not at all."""
    path = os.path.join(DATA, name)
    if not os.path.exists(path):
        print("# making %s" % path)
        sys.stdout.flush()
        shutil.rmtree(path + ".part", ignore_errors=True)
        os.makedirs(path + ".part")
        make(path + ".part")
        os.rename(path + ".part", path)
    return path


def measure(command, env=None):
    """(seconds, peak in MB, stdout) of a command; raises when it fails. A program that prints "seconds N" has timed its own work: starting an interpreter and loading
    its packages is then no part of it."""
    with tempfile.NamedTemporaryFile("r") as report:
        began = time.monotonic()  # /usr/bin/time tells hundredths
        p = subprocess.run(["/usr/bin/time", "-v", "-o", report.name, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        took = time.monotonic() - began
        text = report.read()
    if p.returncode:
        raise RuntimeError("%s failed: %s" % (" ".join(command)[:120], p.stderr.decode("utf-8", "replace").strip()[-300:]))
    out = p.stdout.decode("utf-8", "replace")
    own = re.search(r"^seconds ([\d.]+)$", out, re.M)
    return float(own[1]) if own else took, int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", text)[1]) / 1024, out


def python(code):
    return [sys.executable, "-c", code]


def timed_python(before, code):
    """`code` is timed by the program itself, after `before` (imports, opening what is not part of the work)."""
    return python("import time\n%s\nstarted = time.time()\n%s\nprint('seconds %%.3f' %% (time.time() - started))" % (before, code))


def compare(rounds, contestants):
    """{name: (seconds, MB)}: the least time of each over alternating rounds. A contestant: (name, command, before, check)."""
    best = {}
    for _ in range(rounds):
        for name, command, before, check in contestants:
            if isinstance(best.get(name), str):
                continue
            try:
                if before:
                    before()
                seconds, mb, out = measure(command)
                if check:
                    check(out)
                if name not in best or seconds < best[name][0]:
                    best[name] = (seconds, mb)
            except Exception as e:
                best[name] = str(e)
    return best


def expect(what, got, want):
    if got != want:
        raise RuntimeError("%s is %r, expected %r" % (what, got, want))
