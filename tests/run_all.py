#!/usr/bin/env python3
"""Run every test of a build and count the results.

usage: run_all.py [--build build/release] [--suite NAME]... [--match TEXT] [--jobs N] [-v]

A test program or script prints one line per test: `ok NAME`, `not ok NAME` (the lines after it say why), `skip NAME: reason`;
cmocka's TAP is of this form. A script that only counts may end with `N passed, N failed[, N skipped]`. A crash, a time-out, an
exit status other than 0 without a `not ok` line, a broken TAP plan, and a program that ran no test each count as a failure.

Suites (each left out while its folder does not exist):
  checks     include rules, public headers, exported symbols         cli        tests/cli/*.py, *.sh
  unit       tests/unit                                              golden     tests/golden/check*.py, *.sh
  contract   tests/contract                                          fault      tests/fault: programs and scripts
  sql        tests/sql/**/*.test by sql_runner                       fuzz       corpora of tests/fuzz, replayed
  isolation  tests/isolation/**/*.spec by isolation_runner           doctor     tests/doctor/*.py
  examples   examples/*.c, each must end with status 0
  data       ../shared/data/check_tables.py, where that folder is
  remote     tests/remote/*.py, with servers of remote stores: only when it is asked for (make remote)
Scripts whose names begin with "_" or "lib" are helpers, not tests. What a test finds in its environment: SILT (the command),
SILT_SOURCE_DIR, SILT_BUILD_DIR, SILT_CC, SILT_TEST_* as they are set, HOME and TMPDIR (folders of its own, removed afterwards).

The last line is `N passed, N failed, N skipped`. Exit status 0: nothing failed and something ran.
"""
import argparse, collections, concurrent.futures, glob, json, os, re, resource, shutil, signal, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULT = re.compile(r"(ok|not ok|skip)\b[ :]*(.*)$")
NUMBER = re.compile(r"\d+(?: - |\s*$|\s+(?=#))")
DIRECTIVE = re.compile(r"\s*#\s*skip\b[: ]*(.*)$", re.I)
TOTALS = re.compile(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
FIRST = ("checks", "data", "fault", "cli", "golden")   # suites whose programs begin before all others: the rest are short, and fill the end
SHOWN = 40                                   # lines of a failed test that are printed; its log has all of them

Job = collections.namedtuple("Job", "suite name argv cwd timeout")


class Outcome:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []      # failed: (name, lines); skipped: (name, reason)
        self.counted = False                                    # numbers only: the entries of a list are one and the same


def read_results(text):
    """The results in a program's output, and the number of tests that its TAP plans promise (None: no plan)."""
    out, plan, before, current, totals = Outcome(), None, [], None, None
    for line in text.splitlines():
        m = re.match(r"1\.\.(\d+)\s*$", line)
        if m: plan = (plan or 0) + int(m[1]); continue
        totals = TOTALS.match(line) or totals
        m = RESULT.match(line)
        if not m:
            before.append(line)
            if current is not None: current.append(line)
            continue
        verdict, name, current = m[1], NUMBER.sub("", m[2], 1) if NUMBER.match(m[2]) else m[2], None
        skip = DIRECTIVE.search(name)
        if verdict == "skip" or skip:
            said = [s.group(1) for s in (re.search(r"\bskip(?:ped)?: *(.+)$", b) for b in before) if s]
            if verdict == "skip":             # "skip NAME: reason", and the runners' "skip FILE:LINE reason"
                place = re.match(r"(\S+:\d+):? +(.*)", name)
                name, reason = place.groups() if place else name.partition(": ")[::2]
            elif skip.start(): name, reason = name[:skip.start()], skip[1]
            else: name, reason = skip[1], ""                     # cmocka's: "not ok 2 # SKIP name"
            out.skipped.append((name.strip(), reason or (said[-1] if said else "")))
        elif verdict == "ok": out.passed += 1
        else:
            current = []
            out.failed.append((name, current))
        before = []
    if totals and not (out.passed or out.failed or out.skipped):
        out.counted = True
        out.passed, failed, skipped = (int(n or 0) for n in totals.groups())
        out.failed = [("(%d, counted by the script)" % failed, text.splitlines()[:-1])] * failed
        out.skipped = [("(counted by the script)", "see its log with -v")] * skipped
    return out, plan


class Runner:
    def __init__(self, build, options):
        self.build, self.options, self.running = build, options, set()
        self.dir = os.path.dirname(options.manifest)
        self.logs = os.path.join(self.dir, "test-logs")
        self.slow = 4 if build["sanitize"] else 1
        shutil.rmtree(self.logs, ignore_errors=True)
        os.makedirs(self.logs)

    def environment(self, scratch):
        env = {k: v for k, v in os.environ.items() if not k.startswith("SILT_") or k.startswith("SILT_TEST_")}
        home = os.path.join(scratch, "home")
        os.mkdir(home)
        sanitizer = "exitcode=99:"            # not 1, which is a status that tests expect
        env.update(SILT=self.build["silt"], SILT_SOURCE_DIR=ROOT, SILT_BUILD_DIR=self.dir, SILT_CC=self.build["cc"],
                   SILT_SANITIZE=self.build["sanitize"], HOME=home, TMPDIR=scratch, CMOCKA_MESSAGE_OUTPUT="TAP",
                   ASAN_OPTIONS=sanitizer + "detect_leaks=1:detect_stack_use_after_return=1",
                   LSAN_OPTIONS=sanitizer, UBSAN_OPTIONS=sanitizer + "print_stacktrace=1",
                   # No suppressions by library: libduckdb has no leaks of its own, and naming it would hide results that we forget
                   # to destroy and races in the functions that it calls. It is only not looked into, as it is not instrumented.
                   TSAN_OPTIONS=sanitizer + "ignore_noninstrumented_modules=1")
        return env

    def end(self, group):
        try: os.killpg(group, signal.SIGKILL)
        except ProcessLookupError: pass
        self.running.discard(group)

    def run(self, job):
        """Run one program; returns its outcome and the seconds taken."""
        began = time.monotonic()
        scratch = tempfile.mkdtemp(prefix="silt-test-")
        os.chmod(scratch, 0o1777)  # like /tmp: tests that drop root work in it
        log = os.path.join(self.logs, re.sub(r"[^\w.-]+", "_", job.suite + "-" + job.name) + ".log")
        trouble = None
        try:
            with open(log, "wb") as out:
                try:
                    process = subprocess.Popen(job.argv, cwd=job.cwd or scratch, env=self.environment(scratch), stdin=subprocess.DEVNULL,
                                               stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
                    self.running.add(process.pid)
                    try:
                        status = process.wait(job.timeout * self.slow)
                    except subprocess.TimeoutExpired:
                        status, trouble = 0, "no end after %d s" % (job.timeout * self.slow)
                    finally:
                        self.end(process.pid)  # what it left running goes too
                        process.wait()
                except OSError as e:
                    status, trouble = 0, str(e)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        with open(log, encoding="utf-8", errors="replace") as f: text = f.read()
        outcome, plan = read_results(text)
        ran = outcome.passed + len(outcome.failed) + len(outcome.skipped)
        if not trouble:
            if status < 0: trouble = "killed by " + signal.Signals(-status).name
            elif status == 99 and self.build["sanitize"]: trouble = "stopped by a sanitizer"
            elif status and not outcome.failed: trouble = "exit status %d" % status
            elif plan is not None and plan != ran: trouble = "%d tests promised, %d reported" % (plan, ran)
            elif not ran: trouble = "ran no test"
        if trouble: outcome.failed.insert(0, ("(%s)" % trouble, text.splitlines()[-SHOWN:]))
        if not outcome.failed and not self.options.verbose: os.remove(log)
        return outcome, time.monotonic() - began

    # --- what there is to run ---

    def programs(self, suite):
        return [p for p in self.build["programs"] if p["suite"] == suite]

    def program_jobs(self, suite, timeout=300):
        return [Job(suite, p["name"], [p["path"]], ROOT, timeout) for p in self.programs(suite)]

    def script_jobs(self, suite, patterns, timeout=600):
        jobs = []
        for path in sorted({p for pattern in patterns for p in glob.glob(os.path.join(ROOT, "tests", suite, pattern))}):
            name = os.path.basename(path)
            if name.startswith(("_", "lib")): continue
            jobs.append(Job(suite, name, [sys.executable if name.endswith(".py") else "bash", path], ROOT, timeout))
        return jobs

    def text_jobs(self, suite, extension):
        runner = self.programs(suite)
        if not runner: return "tests/%s/runner.c does not exist yet" % suite
        files = sorted(glob.glob(os.path.join(ROOT, "tests", suite, "**", "*" + extension), recursive=True))
        return [Job(suite, os.path.relpath(f, os.path.join(ROOT, "tests", suite)), [runner[0]["path"], os.path.relpath(f, ROOT)], ROOT, 300)
                for f in files]

    def checks(self):
        return [Job("checks", "includes", [sys.executable, "scripts/check_includes.py"], ROOT, 60),
                Job("checks", "api", [sys.executable, "scripts/check_api.py", self.options.manifest], ROOT, 120)]

    def fuzz(self):
        return [Job("fuzz", p["name"], [p["path"], "tests/fuzz/corpus/" + p["name"][len("fuzz_"):]], ROOT, 300) for p in self.programs("fuzz")]

    def examples(self):
        # An example has no result lines: its exit status is the one result.
        return [Job("examples", p["name"], ["sh", "-c", '"$1" && echo "ok $2" || { echo "not ok $2: exit status $?"; exit 1; }', "sh", p["path"], p["name"]],
                    None, 120) for p in self.programs("examples")]

    def data(self):
        folder = os.environ.get("SILT_SHARED_DATA") or os.path.join(ROOT, "..", "shared", "data")
        script = os.path.join(os.path.normpath(folder), "check_tables.py")
        if not os.path.exists(script): return "%s is not here" % os.path.relpath(script, ROOT)
        if not self.build["silt"]: return "no command in this build"
        # Two halves of the tables by first letter, since it works on one core.
        firsts = sorted(os.path.basename(p)[0] for p in glob.glob(os.path.join(os.path.dirname(script), "delta/expected/*.json")))
        middle = firsts[len(firsts) // 2] if firsts else "m"
        return [Job("data", "tables, half %d" % half, [sys.executable, script, "--silt", self.build["silt"], "--versions", "--only", part], ROOT, 1800)
                for half, part in enumerate(("[!%s-~]*" % middle, "[%s-~]*" % middle), 1)]

    def suites(self):
        """(name, jobs), where jobs may be the reason to skip the suite."""
        def there(folder): return os.path.isdir(os.path.join(ROOT, folder))
        yield "checks", self.checks()
        for suite, make in (
                ("unit", lambda: self.program_jobs("unit")),
                ("contract", lambda: self.program_jobs("contract")),
                ("sql", lambda: self.text_jobs("sql", ".test")),
                ("isolation", lambda: self.text_jobs("isolation", ".spec")),
                ("fault", lambda: self.program_jobs("fault", 900) + self.script_jobs("fault", ("*.py", "*.sh"), 900)),
                ("fuzz", self.fuzz),
                ("golden", lambda: self.script_jobs("golden", ("check*.py", "*.sh"))),
                ("cli", lambda: self.script_jobs("cli", ("*.py", "*.sh"))),
                ("doctor", lambda: self.script_jobs("doctor", ("*.py",)))):
            if there("tests/" + suite): yield suite, make()
        if there("examples"): yield "examples", self.examples()
        yield "data", self.data()
        if "remote" in (self.options.suite or []): yield "remote", self.script_jobs("remote", ("*.py",), 1800)


class Report:
    """Counts, and prints a suite's line when the last of its jobs is done, suites in their order."""

    def __init__(self, verbose):
        self.verbose, self.totals = verbose, [0, 0, 0]

    def failure(self, suite, job, name, lines):
        print("FAIL %s %s: %s" % (suite, job, name))
        for line in lines[:SHOWN]: print("    " + line)
        if len(lines) > SHOWN: print("    … %d more lines" % (len(lines) - SHOWN))
        sys.stdout.flush()

    def suite(self, name, passed, failed, skipped, seconds):
        counts = (passed, failed, len(skipped))
        self.totals = [a + b for a, b in zip(self.totals, counts)]
        print("%-10s %5d passed %5d failed %5d skipped %7.1f s" % ((name,) + counts + (seconds,)))
        reasons = collections.OrderedDict()
        for test, reason in skipped: reasons.setdefault(reason or "no reason given", []).append(test)
        for reason, tests in reasons.items():
            who = ", ".join(tests if self.verbose else tests[:3]) + (" and %d more" % (len(tests) - 3) if len(tests) > 3 and not self.verbose else "")
            print("    skipped %s: %s" % (who, reason))
        sys.stdout.flush()


def wait(future, suite, job):
    """The job's result; says every minute what is being waited for."""
    while True:
        try: return future.result(timeout=60)
        except concurrent.futures.TimeoutError: print("… %s: %s" % (suite, job.name), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--suite", action="append")
    parser.add_argument("--match", default="", help="only programs, scripts and files whose name contains this")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)) + 1, help="default: one more than there are processors, since some tests wait more than they compute")
    parser.add_argument("-v", "--verbose", action="store_true", help="keep every log, name every skipped test")
    options = parser.parse_args()
    options.manifest = os.path.abspath(os.path.join(options.build, "tests.json"))
    report = Report(options.verbose)
    if not os.path.exists(options.manifest):
        print("%s does not exist: build first\n0 passed, 1 failed, 0 skipped" % options.manifest)
        return 1
    with open(options.manifest, encoding="utf-8") as f: build = json.load(f)
    runner = Runner(build, options)

    known = list(runner.suites())
    for name in options.suite or []:
        if name not in [n for n, _ in known]:
            print("no suite %s here; there are: %s\n0 passed, 1 failed, 0 skipped" % (name, " ".join(n for n, _ in known)))
            return 1
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        def interrupted(*_):
            for group in list(runner.running): runner.end(group)
            os._exit(130)
        signal.signal(signal.SIGINT, interrupted)
        wanted = [(name, jobs if isinstance(jobs, str) else [j for j in jobs if options.match in j.name]) for name, jobs in known if not options.suite or name in options.suite]
        running = {}
        for name, jobs in sorted(wanted, key=lambda w: FIRST.index(w[0]) if w[0] in FIRST else len(FIRST)):
            running[name] = jobs if isinstance(jobs, str) else [(job, pool.submit(runner.run, job)) for job in jobs]
        times = []
        for name, jobs in [(name, running[name]) for name, _ in wanted]:
            passed, failed, skipped, seconds = 0, 0, [], 0.0
            if isinstance(jobs, str): skipped.append((name, jobs))
            elif not jobs and not options.match:
                failed = 1
                report.failure(name, "", "(the suite has no test)", [])
            else:
                for job, future in jobs:
                    outcome, took = wait(future, name, job)
                    times.append((took, name + " " + job.name))
                    for test, lines in outcome.failed[:1] if outcome.counted else outcome.failed: report.failure(name, job.name, test, lines)
                    passed, failed, seconds = passed + outcome.passed, failed + len(outcome.failed), seconds + took
                    skipped += outcome.skipped
            if jobs or not options.match: report.suite(name, passed, failed, skipped, seconds)
    passed, failed, skipped = report.totals
    if failed: print("logs of what failed: %s" % os.path.relpath(runner.logs))
    if not passed + failed: print("nothing ran")
    if times: print("longest: " + ", ".join("%s %.1f s" % (who, took) for took, who in sorted(times, reverse=True)[:8]))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
