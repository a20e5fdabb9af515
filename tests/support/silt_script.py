"""What the scripts of tests/cli and tests/fault share: the command, result lines, scratch folders.

A script defines functions named test_* and ends with `silt_script.main(globals())`. Each gets a fresh folder, which is also its current
directory and its HOME; AssertionError and any other exception mean `not ok`, Skip means `skip`. Arguments: names (or parts of names) to run.
"""
import contextlib, json, os, shutil, signal, subprocess, sys, tempfile, time, traceback

ROOT = os.environ.get("SILT_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SILT = os.path.abspath(os.environ.get("SILT") or os.path.join(ROOT, "build", "silt"))
SANITIZED = bool(os.environ.get("SILT_SANITIZE"))
TIMEOUT = 480 if SANITIZED else 120


class Skip(Exception):
    """Raised with the reason why a test cannot run here."""


class Done:
    """One finished run of the command."""

    def __init__(self, argv, code, out, err):
        self.argv, self.code, self.out, self.err = argv, code, out, err

    @property
    def condition(self):
        """The condition name at the head of standard error, without the brackets; None when there is none."""
        for line in self.err.splitlines():
            if line.startswith("[") and "]" in line: return line[1:line.index("]")]
        return None

    def rows(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def __str__(self):
        return "%s\nstatus %s\nstdout: %s\nstderr: %s" % (" ".join(map(str, self.argv[1:])), self.code, self.out[-2000:], self.err[-2000:])


def environment(extra=None):
    env = dict(os.environ, TZ="UTC", HOME=os.getcwd(), LC_ALL="C.UTF-8")
    env.update(extra or {})
    return env


def silt(*argv, stdin=None, env=None, timeout=None, prefix=(), binary=False, statuses=(0, 1, 2)):
    """Run the command and collect what it says; a death by signal is always a failure."""
    full = [*prefix, SILT, *map(str, argv)]
    data = stdin.encode() if isinstance(stdin, str) else stdin
    p = subprocess.run(full, input=data if data is not None else b"", capture_output=True, env=environment(env), timeout=timeout or TIMEOUT)
    err = p.stderr.decode("utf-8", "replace")
    out = p.stdout if binary else p.stdout.decode("utf-8", "replace")
    done = Done(full, p.returncode, out, err)
    if p.returncode < 0: raise AssertionError("killed by %s\n%s" % (signal.Signals(-p.returncode).name, done))
    if p.returncode not in statuses: raise AssertionError("unexpected status\n%s" % done)
    return done


def ok(*argv, **how):
    done = silt(*argv, **how)
    assert done.code == 0, done
    return done


def fails(condition, *argv, code=1, **how):
    """It ends with status 1, that condition on standard error and nothing on standard output but rows already printed."""
    done = silt(*argv, **how)
    assert done.code == code, done
    if condition: assert done.condition is not None and done.condition.split(".")[0] == condition.split(".")[0], "expected %s\n%s" % (condition, done)
    return done


def sql(text, *argv, **how):
    """The rows of a statement as dictionaries."""
    return ok("sql", "--format", "jsonl", *argv, text, **how).rows()


def value(text, *argv, **how):
    """The one value of a statement that gives one row of one column."""
    (row,) = sql(text, *argv, **how)
    (v,) = row.values()
    return v


def equal(got, expected, what=""):
    assert got == expected, "%s\n  got      %r\n  expected %r" % (what, got, expected)


def log_files(table):
    return sorted(n for n in os.listdir(os.path.join(table, "_delta_log")) if n.endswith(".json") and len(n) == 25)


def versions(table):
    return [int(n[:20]) for n in log_files(table)]


def data_files(table):
    """Files of a table that are not its log: paths relative to it."""
    found = []
    for folder, _, names in os.walk(table):
        if "_delta_log" in os.path.relpath(folder, table).split(os.sep): continue
        found += [os.path.relpath(os.path.join(folder, n), table) for n in names]
    return sorted(found)


def live_files(table):
    """Data files that the log names at its end (commits only: for small tables of the tests)."""
    from urllib.parse import unquote
    live = set()
    for name in log_files(table):
        with open(os.path.join(table, "_delta_log", name), encoding="utf-8") as f:
            for line in f:
                action = json.loads(line)
                if "add" in action: live.add(unquote(action["add"]["path"]))
                if "remove" in action: live.discard(unquote(action["remove"]["path"]))
    return live


def write(path, data):
    if os.path.dirname(path): os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f: f.write(data.encode() if isinstance(data, str) else data)
    return path


def read(path):
    with open(path, "rb") as f: return f.read()


def wait_for(condition, seconds=30, what="the condition"):
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "%s did not come true in %s s" % (what, seconds)
        time.sleep(0.002)


def main(names):
    wanted = sys.argv[1:]
    tests = [(n[5:], f) for n, f in names.items() if n.startswith("test_") and callable(f)]
    failed, home = 0, os.getcwd()
    if not os.access(SILT, os.X_OK):
        print("not ok setup: no command at %s (set SILT)" % SILT)
        return sys.exit(1)
    for name, test in tests:
        if wanted and not any(w in name for w in wanted): continue
        folder = tempfile.mkdtemp(prefix="silt-%s-" % name[:20])
        os.chdir(folder)
        began = time.monotonic()
        try:
            test()
            print("ok %s" % name)
        except Skip as e:
            print("skip %s: %s" % (name, e))
        except Exception as e:
            failed += 1
            lines = (str(e) if isinstance(e, AssertionError) and str(e) else "".join(traceback.format_exception_only(e))).rstrip().splitlines()
            where = [f for f in traceback.extract_tb(e.__traceback__) if f.name == test.__name__]
            print("not ok %s: line %s: %s" % (name, where[-1].lineno if where else "?", lines[0] if lines else type(e).__name__))
            for line in lines[1:]: print("    " + line)
        finally:
            os.chdir(home)
            with contextlib.suppress(OSError): subprocess.run(["chmod", "-R", "u+rwX", folder], check=False)
            shutil.rmtree(folder, ignore_errors=True)
        if os.environ.get("SILT_TEST_TIMES"): print("# %s %.1f s" % (name, time.monotonic() - began))
        sys.stdout.flush()
    sys.exit(1 if failed else 0)
