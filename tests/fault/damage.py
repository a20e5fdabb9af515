#!/usr/bin/env python3
"""Damaged tables: every file of small tables cut short, with bits flipped, overlong, emptied, gone; foreign files beside the log.

The rule: the right rows with status 0, or status 1 with a condition. Never a crash, never other rows, except where the changed byte is plain text that nothing protects
(a value in JSON, a page of Parquet data): there only the crash is checked, and for the log that what is answered is whole.
"""
import json, os, random, shutil, struct, subprocess, sys, zlib
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import SILT, Skip, equal, fails, ok, silt, sql, value

TABLE = "spark-warehouse/t"
LOG = TABLE + "/_delta_log"
QUERY = "SELECT count(*) AS n, sum(id) AS ids, count(DISTINCT p) AS ps, sum(length(v)) AS vs FROM delta.`%s`"


def make(commits=4, rows=50, checkpoint=None, properties=""):
    text = "CREATE TABLE t (id INT, p STRING, v STRING) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.checkpointInterval' = '1000' %s)" % properties
    for c in range(commits):
        text += "; INSERT INTO t SELECT CAST(id + %d AS INT), concat('p', id %% 2), repeat('v', CAST(id %% 7 AS INT)) FROM range(%d)" % (c * rows, rows)
    ok("sql", text)
    if checkpoint is not None: ok("checkpoint", "t")


def answer(path):
    """What the table says: the row, or the condition; a crash or a failure without a condition raises."""
    done = silt("sql", "--format", "jsonl", QUERY % os.path.abspath(path))
    if done.code == 0: return done.rows()[0]
    assert done.code == 1 and done.condition, done
    assert done.condition not in ("INTERNAL_ERROR", "ERROR"), done
    return done.condition


class Copies:
    """Runs many variants of one file of one table, few at a time in one process each."""

    def __init__(self, table, file):
        self.table, self.file = table, os.path.relpath(file, table)
        self.data = s.read(file)

    def answers(self, variants):
        """(name, bytes or None) → answers, by one scratch copy whose one file changes."""
        copy = "copy-of-table"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.table, copy)
        for name, data in variants:
            target = os.path.join(copy, self.file)
            if data is None:
                if os.path.exists(target): os.remove(target)
            else: s.write(target, data)
            try: yield name, answer(copy)
            except AssertionError as e: raise AssertionError("%s of %s: %s" % (name, self.file, e))


def cuts(data, n):
    """Every way of interest to cut it short."""
    at = sorted({0, 1, len(data) // 2, len(data) - 1, len(data) - 8} | {random.randrange(len(data)) for _ in range(n)})
    return [("cut at %d of %d" % (a, len(data)), data[:a]) for a in at if 0 <= a < len(data)]


def flips(data, n, begin=0, end=None):
    end = len(data) if end is None else end
    out = []
    for _ in range(n):
        at, bit = random.randrange(begin, end), random.randrange(8)
        out.append(("bit %d of byte %d" % (bit, at), data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1:]))
    return out


def part(full, got):
    """Fewer rows than there are, without a word."""
    return isinstance(got, dict) and got != full


# ---- the log ----

def test_commit_cut_short():
    random.seed(1)
    make()
    full = answer(TABLE)
    for version in (0, 2, 4):
        c = Copies(TABLE, "%s/%020d.json" % (LOG, version))
        lines = [0] + [i + 1 for i, b in enumerate(c.data) if b == 10] + [i for i, b in enumerate(c.data) if b == 10]
        for name, got in c.answers(cuts(c.data, 6)):
            at = int(name.split()[2])
            whole_lines = at in lines
            # A file that ends between two lines is a valid, smaller commit unless the checksum file says otherwise.
            if not whole_lines: assert got == full or isinstance(got, str), "%s: %s" % (name, got)


def test_last_line_torn_names_its_place():
    make()
    path = "%s/%020d.json" % (LOG, 4)
    s.write(path, s.read(path)[:-20])
    done = fails("DELTA_LOG_FILE_CORRUPT", "sql", "SELECT * FROM t")
    assert "00000000000000000004.json" in done.err and "line" in done.err, done


def test_commit_bits():
    random.seed(2)
    make()
    c = Copies(TABLE, "%s/%020d.json" % (LOG, 3))
    for name, got in c.answers(flips(c.data, 40)): pass                        # answer() has looked for crashes and nameless errors


def test_commit_with_garbage():
    make(1)
    path = "%s/%020d.json" % (LOG, 1)
    good = s.read(path)
    cases = [b"\x00" * 100, b"null\n", b"[]\n", b"{}\n" + good, b"{" * 100000, b"[" * 1000000, b'{"add":' * 5000, b"\xff\xfe" + good, good + b"\x00\n", good.replace(b'"add"', b'"add'),
             b'{"add":{}}\n', b'{"add":null}\n' + good, b'{"add":{"path":1,"size":"x"}}\n', b'{"add":{"path":"x","partitionValues":{},"size":-1,"modificationTime":0,"dataChange":true}}\n',
             b'{"metaData":{"schemaString":"{}"}}\n', b'{"metaData":{"id":"x","format":{"provider":"parquet"},"schemaString":"not json","partitionColumns":[],"configuration":{}}}\n',
             b'{"protocol":{"minReaderVersion":99,"minWriterVersion":99}}\n', b'{"protocol":{"minReaderVersion":"1"}}\n', b'{"remove":{}}\n',
             b'{"add":{"path":"%ZZ%","partitionValues":{"p":"q"},"size":1,"modificationTime":0,"dataChange":true}}\n',
             b'{"add":{"path":"../../../etc/passwd","partitionValues":{"p":"q"},"size":1,"modificationTime":0,"dataChange":true}}\n',
             json.dumps({"add": {"path": "x" * 100000, "partitionValues": {"p": "q"}, "size": 1, "modificationTime": 0, "dataChange": True}}).encode() + b"\n",
             b'{"add":{"path":"a","partitionValues":{"p":"q"},"size":99999999999999999999999,"modificationTime":1e400,"dataChange":true}}\n',
             good.replace(b'"numRecords', b'"numRecords\\ud800'), good.replace(b"\\\"numRecords\\\":25", b"\\\"numRecords\\\":-25")]
    for data in cases:
        s.write(path, data)
        try: answer(TABLE)
        except AssertionError as e: raise AssertionError("%r…: %s" % (data[:60], e))
    # unknown actions, fields and a blank line are no damage
    s.write(path, b'{"nosuch":{"a":[1,{"b":null}]}}\n' + good.replace(b'{"add":{', b'{"add":{"nosuch":{"x":[1]},'))
    assert isinstance(answer(TABLE), dict)


def test_commit_missing():
    make()
    os.remove("%s/%020d.json" % (LOG, 2))
    done = fails("DELTA_VERSIONS_NOT_CONTIGUOUS", "sql", "SELECT * FROM t")
    assert "1" in done.err and "3" in done.err, done
    os.remove("%s/%020d.json" % (LOG, 0))
    equal(silt("sql", "SELECT * FROM t").code, 1)


def test_first_commit_missing():
    make()
    os.remove("%s/%020d.json" % (LOG, 0))
    assert isinstance(answer(TABLE), str)


def test_empty_log():
    make(1)
    for n in os.listdir(LOG): os.remove(os.path.join(LOG, n))
    assert isinstance(answer(TABLE), str)
    os.rmdir(LOG)
    assert isinstance(answer(TABLE), str)


def test_foreign_files_in_the_log():
    make()
    full = answer(TABLE)
    for name in ("README.txt", ".hidden", "00000000000000000009.json.tmp", ".00000000000000000005.json.abc.tmp", "5.json", "00000000000000000005.json.crc", "000000000000000000005.json",
                 "0000000000000000005.json", "99999999999999999999.json.bak", "_SUCCESS", "_commits", "x.checkpoint.parquet", "00000000000000000002.checkpoint.parquet.tmp",
                 "00000000000000000002.checkpoint.x.y.parquet", "00000000000000000002.checkpoint.0000000001.parquet", "ünï 表.json", "a" * 200, "00000000000000000002.00000000000000000001.compacted.json",
                 "-0000000000000000001.json", "99999999999999999999.checkpoint.parquet", "_last_vacuum_info"):
        s.write(os.path.join(LOG, name), "not a log file")
    for name in ("00000000000000000077.json.d", "sub", "_staged_commits", "_sidecars"): os.makedirs(os.path.join(LOG, name))
    equal(answer(TABLE), full)
    ok("sql", "INSERT INTO t VALUES (1000, 'p0', '')")
    equal(answer(TABLE)["n"], full["n"] + 1)
    s.write(TABLE + "/foreign.parquet", "beside the data")
    s.write(TABLE + "/p=p0/foreign.parquet", "beside the data")
    equal(answer(TABLE)["n"], full["n"] + 1)


def test_oversized_numbers_in_names():
    make(1)
    full = answer(TABLE)
    s.write(LOG + "/_last_checkpoint", '{"version":9223372036854775807,"size":1}')
    equal(answer(TABLE), full)


# ---- hints and checksums ----

def test_last_checkpoint_is_only_a_hint():
    make(checkpoint=True)
    ok("sql", "INSERT INTO t VALUES (1000, 'p0', '')")
    full = answer(TABLE)
    for data in (None, b"", b"{", b"null", b"[1]", b'{"version":"x"}', b'{"version":-5,"size":1}', b'{"version":99,"size":1}', b'{"version":1,"size":1}', b'{"version":4,"size":1,"parts":77}',
                 b'{"version":1e3}', b"\xff" * 1000, b'{"version":4,"size":999999999999,"sizeInBytes":-1,"checksum":"wrong"}', b"x" * 1000000):
        if data is None: os.remove(LOG + "/_last_checkpoint")
        else: s.write(LOG + "/_last_checkpoint", data)
        equal(answer(TABLE), full, repr(data)[:60])


def test_version_checksum():
    make()
    full = answer(TABLE)
    path = "%s/%020d.crc" % (LOG, 4)
    if not os.path.exists(path): raise Skip("no version checksum was written")
    good = s.read(path)
    for data in (None, b"", b"{", b"[]", b"\xff\x00", good[:-10], good * 2, b"{}"):
        if data is None: os.remove(path)
        else: s.write(path, data)
        got = answer(TABLE)
        assert got == full or isinstance(got, str), (data, got)
    wrong = json.loads(good)
    wrong["numFiles"] += 1
    s.write(path, json.dumps(wrong))
    got = answer(TABLE)
    assert got == full or got == "DELTA_TXN_LOG_FAILED_INTEGRITY", got


# ---- checkpoints ----

def test_checkpoint_damaged_with_its_commits():
    """The commits are still there: the answer is right, or the checkpoint is named."""
    random.seed(3)
    make(checkpoint=True)
    full = answer(TABLE)
    (name,) = [n for n in os.listdir(LOG) if "checkpoint" in n and n.endswith(".parquet")]
    c = Copies(TABLE, os.path.join(LOG, name))
    footer = struct.unpack("<I", c.data[-8:-4])[0] + 8
    for what, got in c.answers([("gone", None), ("empty", b""), ("text", b"not parquet"), ("twice", c.data * 2), ("longer", c.data + b"\0" * 1000)] + cuts(c.data, 8)):
        assert got == full or isinstance(got, str), "%s: %s" % (what, got)
    for what, got in c.answers(flips(c.data, 25, len(c.data) - footer) + flips(c.data, 10, len(c.data) - 8)): pass


def test_checkpoint_damaged_alone():
    """The commits before it are gone, so nothing can replace it: an error that names it, never an emptier table."""
    random.seed(4)
    make(checkpoint=True)
    full = answer(TABLE)
    for v in range(5):
        for end in (".json", ".crc"):
            if os.path.exists("%s/%020d%s" % (LOG, v, end)): os.remove("%s/%020d%s" % (LOG, v, end))
    equal(answer(TABLE), full)
    (name,) = [n for n in os.listdir(LOG) if "checkpoint" in n and n.endswith(".parquet")]
    c = Copies(TABLE, os.path.join(LOG, name))
    for what, got in c.answers([("gone", None), ("empty", b""), ("text", b"not parquet"), ("longer", c.data + b"\0" * 1000)] + cuts(c.data, 8)):
        assert isinstance(got, str), "%s: %s" % (what, got)


# ---- data files ----

def test_data_file_missing():
    make(1)
    victim = sorted(s.live_files(TABLE))[0]
    os.remove(os.path.join(TABLE, victim))
    done = fails(None, "sql", "SELECT * FROM t")
    assert done.condition in ("DELTA_FILE_NOT_FOUND_DETAILED", "FAILED_READ_FILE", "FILE_NOT_FOUND") and os.path.basename(victim) in done.err, done
    other = "p1" if "p=p0" in victim else "p0"
    equal(value("SELECT count(*) FROM t WHERE p = '%s'" % other), 25, "the other partition can be read")


def test_data_file_damaged():
    random.seed(5)
    make(1)
    full = answer(TABLE)
    victim = sorted(s.live_files(TABLE))[0]
    c = Copies(TABLE, os.path.join(TABLE, victim))
    footer = struct.unpack("<I", c.data[-8:-4])[0] + 8
    for what, got in c.answers([("empty", b""), ("text", b"not parquet"), ("longer", c.data + b"\0" * 100), ("a footer of 4 GiB", c.data[:-8] + b"\xff\xff\xff\xff" + c.data[-4:]),
                                ("a footer of 0", c.data[:-8] + b"\0\0\0\0" + c.data[-4:])] + cuts(c.data, 6)):
        assert isinstance(got, str), "%s: %s" % (what, got)
    for what, got in c.answers(flips(c.data, 30, len(c.data) - footer)): pass
    for what, got in c.answers(flips(c.data, 15, 4, len(c.data) - footer)): pass
    s.write("copy-of-table/" + victim, c.data)
    equal(answer("copy-of-table"), full)


def test_data_file_exchanged():
    """A valid Parquet file of another shape under the name."""
    make(1)
    victim = os.path.join(TABLE, sorted(s.live_files(TABLE))[0])
    ok("sql", "--format", "parquet", "-o", "other.parquet", "SELECT named_struct('x', 1) AS id, array(1) AS v")
    shutil.copy("other.parquet", victim)
    done = fails(None, "sql", "SELECT id, v FROM t ORDER BY id")
    assert "INTERNAL" not in done.condition, done


def test_data_path_is_a_folder():
    make(1)
    victim = os.path.join(TABLE, sorted(s.live_files(TABLE))[0])
    os.remove(victim)
    os.mkdir(victim)
    done = fails(None, "sql", "SELECT * FROM t")
    assert "INTERNAL" not in done.condition, done


# ---- deletion vectors ----

Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def z85(data):
    out = ""
    for i in range(0, len(data), 4):
        v, five = struct.unpack(">I", data[i:i + 4])[0], ""
        for _ in range(5): v, five = v // 85, Z85[v % 85] + five
        out += five
    return out


def bitmap(rows):
    """Delta's portable form of a set of row positions below 65536, as the protocol lays it out."""
    roaring = struct.pack("<IIHHI", 12346, 1, 0, len(rows) - 1, 16) + b"".join(struct.pack("<H", r) for r in sorted(rows))
    return struct.pack("<IQI", 1681511377, 1, 0) + roaring


def add_vectors(deleted, inline=False):
    """One more commit that gives a vector to each of the first len(deleted) files; returns the .bin."""
    live = [json.loads(l)["add"] for v in s.versions(TABLE) for l in s.read("%s/%020d.json" % (LOG, v)).splitlines() if b'"add"' in l[:8]]
    uid, body = bytes(range(16)), b"\x01"
    name = "%s/deletion_vector_%s.bin" % (TABLE, "00010203-0405-0607-0809-0a0b0c0d0e0f")
    actions = [{"commitInfo": {"timestamp": 1, "operation": "DELETE", "operationParameters": {}}}]
    for add, rows in zip(sorted(live, key=lambda a: a["path"]), deleted):
        bits = bitmap(rows)
        if inline:
            padded = bits + b"\0" * (-len(bits) % 4)
            vector = {"storageType": "i", "pathOrInlineDv": z85(padded), "sizeInBytes": len(bits), "cardinality": len(rows)}
        else:
            vector = {"storageType": "u", "pathOrInlineDv": z85(uid), "offset": len(body), "sizeInBytes": len(bits), "cardinality": len(rows)}
            body += struct.pack(">I", len(bits)) + bits + struct.pack(">I", zlib.crc32(bits))
        actions.append({"remove": {"path": add["path"], "deletionTimestamp": 1, "dataChange": True, "extendedFileMetadata": True, "partitionValues": add["partitionValues"], "size": add["size"]}})
        stats = json.loads(add["stats"])
        stats["tightBounds"] = False
        actions.append({"add": dict(add, deletionVector=vector, stats=json.dumps(stats))})
    s.write("%s/%020d.json" % (LOG, len(s.versions(TABLE))), "".join(json.dumps(a) + "\n" for a in actions))
    if not inline: s.write(name, body)
    return name


def make_vectors(inline=False):
    make(1, 50, properties=", 'delta.enableDeletionVectors' = 'true'")
    return add_vectors([{0, 3, 24}, {1}], inline)


def test_deletion_vectors_of_files_and_inline():
    for inline in (False, True):
        make(1, 50, properties=", 'delta.enableDeletionVectors' = 'true'")
        before = {p: [r["id"] for r in sql("SELECT id FROM t WHERE p = '%s'" % p)] for p in ("p0", "p1")}      # one file each, in the order of its rows
        add_vectors([{0, 3, 24}, {1}], inline)
        for p, gone in (("p0", (0, 3, 24)), ("p1", (1,))):
            left = [v for i, v in enumerate(before[p]) if i not in gone]
            equal([r["id"] for r in sql("SELECT id FROM t WHERE p = '%s' AND id >= 0" % p)], left)
        equal(value("SELECT count(*) FROM t"), 46)
        equal(value("SELECT count(*) FROM t VERSION AS OF 1"), 50)
        ok("sql", "DROP TABLE t")


def test_deletion_vector_file_damaged():
    """Every flipped bit and every cut is found: the file has a checksum, a size and a cardinality."""
    random.seed(6)
    name = make_vectors()
    query = "SELECT count(*) AS n, sum(id) AS s FROM delta.`%s/" % os.getcwd() + "copy-of-table`"
    full = answer(TABLE)
    equal(full["n"], 46)
    c = Copies(TABLE, name)
    # byte 0 is the file's version; nothing in it belongs to the two vectors
    for what, got in c.answers([("gone", None), ("empty", b""), ("only the version", b"\x01"), ("text", b"not a vector")] + cuts(c.data, 8)[:-1] + flips(c.data, 40, 1)):
        assert isinstance(got, str), "%s: %s" % (what, got)
    for what, got in c.answers([("longer", c.data + b"\0" * 100)]): equal(got, full, what)


def test_deletion_vector_descriptor_wrong():
    make_vectors()
    path = "%s/%020d.json" % (LOG, 2)
    good = s.read(path).decode()
    full = answer(TABLE)
    lines = [json.loads(l) for l in good.splitlines()]
    for change in ({"cardinality": 99}, {"cardinality": -1}, {"cardinality": 0}, {"offset": 5}, {"offset": -1}, {"offset": 2**31 - 1}, {"offset": 2**63}, {"sizeInBytes": 3}, {"sizeInBytes": -1},
                   {"sizeInBytes": 2**31 - 1}, {"storageType": "x"}, {"storageType": "i"}, {"storageType": "p"}, {"pathOrInlineDv": ""}, {"pathOrInlineDv": "short"},
                   {"pathOrInlineDv": "~~~~~~~~~~~~~~~~~~~~"}, {"pathOrInlineDv": "0" * 1000}, {"storageType": None}, {"storageType": "p", "pathOrInlineDv": "/nosuch"}):
        changed = json.loads(json.dumps(lines))
        for a in changed:
            if "add" in a:
                a["add"]["deletionVector"].update(change)
                break
        s.write(path, "".join(json.dumps(a) + "\n" for a in changed))
        try: got = answer(TABLE)
        except AssertionError as e: raise AssertionError("%s: %s" % (change, e))
        assert isinstance(got, str) or got == full, "%s gives %s (right: %s)" % (change, got, full)


def test_deletion_vector_beyond_the_file():
    """Positions that the file does not have: an error, or no row lost."""
    make(1, 50, properties=", 'delta.enableDeletionVectors' = 'true'")
    add_vectors([{24, 25, 60000}])
    got = answer(TABLE)
    assert isinstance(got, str) or got["n"] == 49, got


# ---- rows that a query must not touch: deleted ones, and columns that are gone ----

def both(text):
    """The answer with and without pruning and push-down."""
    a, b = sql(text), sql(text, "--conf", "silt.selfcheck.unpruned=true")
    equal(a, b, text)
    return a


def test_poison_in_deleted_rows():
    ok("sql", """CREATE TABLE t (id INT, d INT, s STRING, x DOUBLE) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true');
        INSERT INTO t SELECT * FROM VALUES (0, 1, '1', 1.5D), (1, 0, 'bad', double('NaN')), (2, 2, '2', 0.5D), (3, NULL, NULL, -0.0D), (2, 0, 'x', double('-Infinity')), (5, 5, '5', 2.5D) AS v(id, d, s, x)""")
    rows = [r["id"] for r in sql("SELECT id, d FROM t")]
    equal(rows, [0, 1, 2, 3, 2, 5], "one file in the order of the rows")
    add_vectors([{1, 3, 4}])
    equal(both("SELECT sum(10 / d) AS q FROM t"), [{"q": 17.0}])
    equal(both("SELECT sum(CAST(s AS INT)) AS q FROM t"), [{"q": 8}])
    equal(both("SELECT min(x) AS lo, max(x) AS hi FROM t"), [{"lo": 0.5, "hi": 2.5}])
    equal(both("SELECT id FROM t WHERE 10 DIV d >= 5 ORDER BY id"), [{"id": 0}, {"id": 2}])
    equal(both("SELECT (SELECT x FROM t WHERE id = 2) AS x"), [{"x": 0.5}])
    equal(both("SELECT count(*) AS n, count(d) AS d FROM t"), [{"n": 3, "d": 3}])
    equal(both("SELECT id FROM t WHERE d IS NULL"), [])
    equal(both("SELECT map_from_entries(collect_list(struct(id, s))) AS m FROM (SELECT * FROM t ORDER BY id)")[0]["m"], [[0, "1"], [2, "2"], [5, "5"]])
    equal(both("SELECT a.id FROM t a LEFT JOIN t b ON a.id + 1 = b.id WHERE b.id IS NULL ORDER BY a.id"), [{"id": 0}, {"id": 2}, {"id": 5}])
    ok("sql", "CREATE TABLE copied USING DELTA AS SELECT id, 10 / d AS q FROM t")
    equal(sql("SELECT count(*) AS n FROM copied"), [{"n": 3}])


def test_poison_in_dropped_columns():
    """Column mapping: a dropped column's values stay in the files; a new one of the same name must not show them."""
    ok("sql", """CREATE TABLE t (id INT, gone STRING) USING DELTA TBLPROPERTIES ('delta.columnMapping.mode' = 'name');
        INSERT INTO t VALUES (1, 'poison'), (2, 'bad')""")
    (first,) = [json.loads(l)["metaData"] for l in s.read("%s/%020d.json" % (LOG, 0)).splitlines() if b'"metaData"' in l[:12]]
    schema = json.loads(first["schemaString"])
    without = dict(schema, fields=schema["fields"][:1])
    info = {"commitInfo": {"timestamp": 1, "operation": "DROP COLUMNS", "operationParameters": {}}}
    s.write("%s/%020d.json" % (LOG, 2), json.dumps(info) + "\n" + json.dumps({"metaData": dict(first, schemaString=json.dumps(without))}) + "\n")
    for crc in os.listdir(LOG):
        if crc.endswith(".crc"): os.remove(os.path.join(LOG, crc))
    equal(both("SELECT * FROM t ORDER BY id"), [{"id": 1}, {"id": 2}])
    fails("UNRESOLVED_COLUMN", "sql", "SELECT gone FROM t")
    field = {"name": "gone", "type": "integer", "nullable": True, "metadata": {"delta.columnMapping.id": 9, "delta.columnMapping.physicalName": "col-new"}}
    again = dict(schema, fields=schema["fields"][:1] + [field])
    configuration = dict(first["configuration"], **{"delta.columnMapping.maxColumnId": "9"})
    s.write("%s/%020d.json" % (LOG, 3), json.dumps(dict(info)) + "\n" + json.dumps({"metaData": dict(first, schemaString=json.dumps(again), configuration=configuration)}) + "\n")
    equal(both("SELECT * FROM t ORDER BY id"), [{"id": 1, "gone": None}, {"id": 2, "gone": None}])
    equal(both("SELECT count(gone) AS n, sum(gone) AS s FROM t"), [{"n": 0, "s": None}])
    equal(both("SELECT id FROM t WHERE gone IS NULL ORDER BY id"), [{"id": 1}, {"id": 2}])
    ok("sql", "INSERT INTO t VALUES (3, 33)")
    equal(both("SELECT * FROM t WHERE gone > 0"), [{"id": 3, "gone": 33}])


def test_poison_in_removed_files():
    ok("sql", "CREATE TABLE t (id INT, d INT) USING DELTA; INSERT INTO t VALUES (1, 0), (2, 0); INSERT OVERWRITE t VALUES (1, 1), (3, 5)")
    equal(both("SELECT sum(10 / d) AS q, count(*) AS n FROM t"), [{"q": 12.0, "n": 2}])
    equal(both("SELECT (SELECT d FROM t WHERE id = 1) AS d"), [{"d": 1}])
    fails("DIVIDE_BY_ZERO", "sql", "SELECT sum(10 / d) FROM t VERSION AS OF 1")


if __name__ == "__main__": s.main(globals())
