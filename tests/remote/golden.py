#!/usr/bin/env python3
"""The golden tables that Spark wrote, read where they are put: every table on S3, and each on one of the others too (--all: on all). usage: golden.py [--store NAME]... [--only GLOB] [--all]"""
import concurrent.futures, fnmatch, glob, json, os, subprocess, sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")]
import check_golden
import lib_remote as remote


class World:
    """What check_golden asks for: the command, with the store's settings."""

    def __init__(self, s): self.conf, self.silt, self.timeout = [w for kv in remote.settings(s).items() for w in ("--conf", "%s=%s" % kv)], remote.SILT, 120


def call(world, *arguments):
    try: done = subprocess.run([world.silt, *arguments, *world.conf], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=world.timeout, check=False)
    except subprocess.TimeoutExpired as e: raise check_golden.Differs("timed out: " + " ".join(arguments)[:200]) from e
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace").strip()


def put_table(s, folder, prefix):
    files = [os.path.join(d, f) for d, _, names in os.walk(folder) for f in names if not (f.startswith(".") and f.endswith(".crc"))]

    def one(path):
        with open(path, "rb") as f: remote.upload(s, prefix + "/" + os.path.relpath(path, folder), f.read())

    with concurrent.futures.ThreadPoolExecutor(8) as pool: list(pool.map(one, files))


def check(s, expected, home):
    put_table(s, os.path.join(home, expected["path"]), "golden/" + expected["path"])
    try: check_golden.check(World(s), expected)
    except check_golden.Differs as d: return str(d)
    return None


def main():
    parser = remote.options_of(__doc__)
    parser.add_argument("--only", default="*")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    results, home = remote.Results(), check_golden.HERE
    check_golden.call = call
    thirds = {"azure": 0, "gcs": 1, "hdfs": 2}
    for s in remote.servers("golden", results, options.store):
        check_golden.HERE = remote.location(s, "golden")  # tables are at HERE/path
        paths = sorted(p for p in glob.glob(os.path.join(home, "expected", "*.json")) if fnmatch.fnmatch(os.path.basename(p)[:-5], options.only))
        for path in paths if options.all or s.store not in thirds else paths[thirds[s.store]::3]:
            with open(path, encoding="utf-8") as f: expected = json.load(f)
            results.run("golden/%s/%s" % (s.store, expected["table"]), check, s, expected, home)
    results.exit()


if __name__ == "__main__": main()
