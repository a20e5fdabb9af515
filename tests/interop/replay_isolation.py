#!/usr/bin/env python3
"""The pairs of tests/isolation/specs on Spark: does the loser end there as the spec says?

A statement cannot be stopped before its commit from outside. But a Python function in its condition can wait in the middle of it, when the transaction has its snapshot: a step that
can be held so says its text with `hold(column)` in a comment, "-- held on Spark: …". The function makes a file and waits for another one; between the two the winner runs. Pairs
whose loser has no such text, or whose winner is not SQL, are counted as skipped: for them the recorded conflict_matrix.txt stands.

usage: replay_isolation.py [--every N] [SPEC]...      (default: all specs; --every 5 takes each fifth pair)

`make interop` replays some of them, other ones each day: run_all.
"""
import argparse, glob, json, os, random, re, sys, tempfile, threading, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import spark_peer
from report import equal

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HELD = "-- held on Spark: "


def records(path):
    """(line, head, body lines) of a spec."""
    with open(path, encoding="utf-8") as f: lines = f.read().split("\n")
    head, body, at = None, [], 0
    for n, line in enumerate(lines + [""], 1):
        if head is None:
            if line and not line.startswith("#"): head, body, at = line, [], n
        elif line: body.append(line)
        else:
            yield at, head, body
            head = None


class Spec:
    def __init__(self, path):
        self.name, self.setups, self.steps, self.held, self.pairs = os.path.basename(path), [], {}, {}, []
        for line, head, body in records(path):
            word, _, rest = head.partition(" ")
            if word == "setup": self.setups.append("\n".join(body))
            elif word == "step":
                self.steps[rest] = "\n".join(b for b in body if not b.startswith(HELD))
                for b in body:
                    if b.startswith(HELD): self.held[rest] = b[len(HELD):]
            elif word == "pairs":
                for n, text in enumerate(body, line + 1):
                    m = re.match(r"(\S+) <- (\S+): (\S+)$", text)
                    if m: self.pairs.append((n, rest or "Serializable", *m.groups()))


def condition(error):
    get = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    name = get() if get else None
    if not name:
        m = re.search(r"\[([A-Z][A-Z0-9_.]+)\]", str(error))
        name = m[1] if m else type(error).__name__
    return name


class Replay:
    def __init__(self, spark, folder):
        from pyspark.sql.types import BooleanType
        self.spark = spark
        flags = os.path.join(folder, "flags")
        os.makedirs(flags, exist_ok=True)

        def hold(value):
            open(os.path.join(flags, "started"), "w").close()
            limit = time.time() + 120
            while not os.path.exists(os.path.join(flags, "go")) and time.time() < limit: time.sleep(0.02)
            return True

        self.flags = flags
        spark.udf.register("hold", hold, BooleanType())

    def set_level(self, path, level):
        log = os.path.join(path, "_delta_log")
        names = sorted(n for n in os.listdir(log) if n.endswith(".json"))
        metadata = None
        for name in names:
            with open(os.path.join(log, name), encoding="utf-8") as f:
                for line in f: metadata = json.loads(line).get("metaData") or metadata
        metadata["configuration"]["delta.isolationLevel"] = level
        with open(os.path.join(log, "%020d.json" % len(names)), "w", encoding="utf-8") as f:
            f.write(json.dumps({"commitInfo": {"timestamp": int(time.time() * 1000), "operation": "SET TBLPROPERTIES", "operationParameters": {}}}) + "\n" + json.dumps({"metaData": metadata}) + "\n")

    def pair(self, spec, level, loser, winner):
        for flag in ("started", "go"):
            if os.path.exists(os.path.join(self.flags, flag)): os.remove(os.path.join(self.flags, flag))
        self.spark.sql("DROP TABLE IF EXISTS t")
        for text in spec.setups: self.spark.sql(text)
        if level != "Serializable": self.set_level(self.location(), level)
        ended = []
        def run():
            try:
                self.spark.sql(spec.held[loser]).collect()
                ended.append("ok")
            except Exception as e: ended.append(condition(e))
        thread = threading.Thread(target=run)
        thread.start()
        limit = time.time() + 60
        while not os.path.exists(os.path.join(self.flags, "started")) and thread.is_alive() and time.time() < limit: time.sleep(0.02)
        was_held = os.path.exists(os.path.join(self.flags, "started"))
        try: self.spark.sql(spec.steps[winner]).collect()
        finally: open(os.path.join(self.flags, "go"), "w").close()
        thread.join()
        return ended[0] if was_held else "not held (%s)" % ended[0]

    def location(self): return self.spark.sql("DESCRIBE DETAIL t").collect()[0]["location"].replace("file://", "").replace("file:", "")


def specs(paths=()): return [Spec(os.path.join(ROOT, p)) for p in paths or sorted(glob.glob(os.path.join(ROOT, "tests/isolation/specs/*.spec")))]


def can_be_held(spec, loser, winner): return loser in spec.held and not spec.steps[winner].startswith("!")


def run_all(run, count=16):
    """Cases isolation/SPEC:LINE of the interop run: so many pairs, drawn by the run's seed."""
    pairs = [(spec, pair) for spec in specs() for pair in spec.pairs if can_be_held(spec, pair[2], pair[3])]
    random.Random(run.seed).shuffle(pairs)
    replay = Replay(run.spark, run.work)
    run.spark.sql("CREATE DATABASE IF NOT EXISTS isolation")
    run.spark.sql("USE isolation")
    try:
        for spec, (line, level, loser, winner, expected) in pairs[:count]:
            name = "isolation/%s:%d" % (spec.name[:-5], line)
            if not run.report.wants(name): continue
            with run.report.case(name): equal("%s, %s <- %s" % (level, loser, winner), replay.pair(spec, level, loser, winner), expected)
    finally: run.spark.sql("USE default")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("specs", nargs="*")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="silt-replay-")
    os.chdir(folder)
    spark = spark_peer.session(os.path.join(folder, "warehouse"))
    replay, counts, number = Replay(spark, folder), {"ok": 0, "not ok": 0, "skip": 0}, 0
    for spec in specs(options.specs):
        for line, level, loser, winner, expected in spec.pairs:
            if not can_be_held(spec, loser, winner):
                counts["skip"] += 1
                continue
            number += 1
            if number % options.every: continue
            try: got = replay.pair(spec, level, loser, winner)
            except Exception as e: got = "winner: " + condition(e)
            verdict = "ok" if got == expected else "not ok"
            counts[verdict] += 1
            print("%s %s:%d %s %s <- %s: %s%s" % (verdict, spec.name, line, level, loser, winner, got, "" if got == expected else ", the spec says " + expected), flush=True)
    spark.stop()
    print("%(ok)d agree, %(not ok)d do not, %(skip)d cannot be held on Spark" % counts)
    return 1 if counts["not ok"] else 0


if __name__ == "__main__": sys.exit(main())
