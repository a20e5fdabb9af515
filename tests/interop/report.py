"""The lines of a run: 'ok NAME', 'not ok NAME: why', 'skip NAME: reason', and the totals."""
import contextlib
import fnmatch
import threading
import time
import traceback


class Skip(Exception):
    pass


class Differs(Exception):
    pass


def equal(what, got, want):
    if got != want:
        g, w = str(got), str(want)
        at = next((i for i, (a, b) in enumerate(zip(g, w)) if a != b), min(len(g), len(w)))
        if len(g) > 250 or len(w) > 250:
            g, w = "…" + g[max(0, at - 60):at + 190], "…" + w[max(0, at - 60):at + 190]
        raise Differs("%s: %s, expected %s" % (what, g, w))


class Report:
    """One for all threads of a run."""

    def __init__(self, only="*"):
        self.passed = self.failed = self.skipped = 0
        self.only, self.started = only, time.time()
        self.telling, self.spent, self.last = threading.RLock(), {}, {}      # seconds of each case; when each thread told its last result

    def begin(self):
        """What this thread tells next began now."""
        self.last[threading.get_ident()] = time.time()

    def wants(self, name):
        parts = name.split("/")
        return any(fnmatch.fnmatch(n, pattern) for pattern in self.only.split(",") for n in (name, parts[0], "/".join(parts[:2])))

    def wants_any(self, group):
        """May a name of the group be wanted?"""
        return self.wants(group) or any(pattern.startswith(group + "/") for pattern in self.only.split(","))

    def result(self, kind, name, text):
        with self.telling:
            setattr(self, kind, getattr(self, kind) + 1)
            case, me, now = "/".join(name.split("/")[:2]), threading.get_ident(), time.time()
            self.spent[case] = self.spent.get(case, 0) + now - self.last.get(me, now)
            self.last[me] = now
            self.line(text)

    def ok(self, name):
        self.result("passed", name, "ok " + name)

    def not_ok(self, name, why):
        self.result("failed", name, "not ok %s: %s" % (name, " ".join(str(why).split())[:700]))

    def skip(self, name, reason):
        self.result("skipped", name, "skip %s: %s" % (name, " ".join(str(reason).split())[:300]))

    def line(self, text):
        with self.telling:
            print(text, flush=True)

    @contextlib.contextmanager
    def case(self, name):
        try:
            yield
        except Skip as s:
            self.skip(name, s)
        except Exception as e:
            if type(e).__name__ not in ("Differs", "Failed", "TimeoutExpired") and "pyspark" not in type(e).__module__ and "py4j" not in type(e).__module__:
                traceback.print_exc()
            self.not_ok(name, "%s%s" % ("" if isinstance(e, Differs) else type(e).__name__ + ": ", e))
        else:
            self.ok(name)

    def times(self):
        """The areas and cases that took longest, as comments; two run at a time."""
        areas = {}
        for case, seconds in self.spent.items():
            areas.setdefault(case.split("/")[0], []).append(seconds)
        longest = lambda of: sorted(of.items(), key=lambda e: -e[1])[:12]
        for area, seconds in longest({a: sum(s) for a, s in areas.items()}):
            self.line("# %7.1f s %4d cases  %s" % (seconds, len(areas[area]), area))
        for case, seconds in longest(self.spent):
            self.line("# %7.1f s  %s" % (seconds, case))

    def close(self):
        self.times()
        self.line("# %d seconds" % (time.time() - self.started))
        self.line("%d passed, %d failed, %d skipped" % (self.passed, self.failed, self.skipped))
        return 1 if self.failed or not self.passed else 0
