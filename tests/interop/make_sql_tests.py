#!/usr/bin/env python3
"""Records Spark's answers to the lists in tests/interop/sql/*.sql as text tests in tests/sql/spark/*.test.

usage: make_sql_tests.py [AREA…]          (run it with the Python that setup.sh made)

A list is plain SQL, one statement up to a line that ends in ';'. Lines that start with `--` between statements are comments, but for
    -- approx               the doubles of the next query may differ in the last digits (libm)
    -- define NAME = TEXT   @NAME stands for TEXT in the statements below (common table expressions, mostly)
${DIR} stands for a fresh folder per list. A SELECT of several constant expressions becomes one test per expression. What Spark answers decides the kind of test: rows, or an error's
condition name. The format of the tests is told in tests/sql/README.md.
"""
import glob
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import spark_peer
from spark_peer import dumps

OUT = os.path.join(HERE, "..", "sql", "spark")
WHOLE = ("alter", "assign", "by_name", "changes", "clone", "comment", "constraints", "convert", "delete", "errors", "iceberg", "properties", "replace_where", "restore", "tables", "update", "merge", "not_a_table", "optimize", "optimize_features", "optimize_sizes", "vacuum", "violations")                                      # areas whose statements are not split
QUERY = re.compile(r"\s*(/\*.*?\*/\s*)?(\(|select|with|values|from|table|show|describe|desc|explain|delete|update|merge)\b|\s*\(", re.I | re.S)
CLAUSE = re.compile(r"\b(from|where|group|order|having|union|except|intersect|limit|lateral|window|sort|cluster|distribute)\b", re.I)


def read_list(path):
    """(sql, approx) of each statement of a list."""
    statement, approx, defines, out = [], False, {}, []
    for line in open(path, encoding="utf-8"):
        if not statement and (line.startswith("--") or not line.strip()):
            words = line[2:].split()
            if words == ["approx"]:
                approx = True
            elif words and words[0] == "define":
                name, text = line.split("define", 1)[1].split("=", 1)
                defines[name.strip()] = text.strip()
            continue
        statement.append(line)
        if line.rstrip().endswith(";"):
            sql = "".join(statement).rstrip()[:-1].rstrip()
            for name, text in defines.items():
                sql = re.sub("@" + name + r"\b", lambda _: text, sql)
            out.append((sql, approx))
            statement, approx = [], False
    return out


def top_level(sql):
    """The text with everything inside quotes and brackets blanked, so that what remains is the outermost query."""
    out, depth, i = [], 0, 0
    while i < len(sql):
        c = sql[i]
        if c in "'\"`":
            j = i + 1
            while j < len(sql) and sql[j] != c:
                j += 2 if sql[j] == "\\" and c != "`" else 1
            out.append("\x00" * (min(j, len(sql) - 1) - i + 1))
            i = j + 1
            continue
        if c in "([":
            depth += 1
        if c in ")]":
            depth -= 1
        word = re.match(r"case\b|end\b", sql[i:], re.I) if (i == 0 or not sql[i - 1].isalnum()) else None
        if word:
            depth += 1 if word[0].lower() == "case" else -1
        out.append(c if depth == 0 or (c == "(" and depth == 1) else "\x00")
        i += 1
    return "".join(out)


def expressions(sql):
    """The expressions of a SELECT without any clause, or None."""
    if not re.match(r"select\s", sql, re.I):
        return None
    text = top_level(sql)
    if CLAUSE.search(text) or "/*" in text or "--" in text:
        return None
    parts, start = [], len("select")
    for i, c in enumerate(text + ","):
        if c == ",":
            parts.append(sql[start:i].strip())
            start = i + 1
    return parts if len(parts) > 1 else None


def ordered(sql):
    return re.search(r"\border\s+by\b", top_level(sql), re.I) is not None


def behind(found, message):
    """The condition that is meant: Spark's wrapping of a task's failure, and Delta's own conditions that the released jar lost the text of, hide it."""
    lost = re.search(r"Cannot find main error class '(\w+)'", message)
    if found == "INTERNAL_ERROR" and lost:
        return lost[1]
    inner = [c for c in re.findall(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]", message) if c != found]
    return inner[0] if found == "TASK_WRITE_FAILED" and inner else found


def ask(spark, sql):
    """(types, rows, None) or (None, None, condition)"""
    try:
        df = spark.sql(sql)
        return [f.dataType.simpleString() for f in df.schema.fields], spark_peer.rows(df), None
    except Exception as e:                                        # whatever Spark raised is the answer
        found = behind(spark_peer.condition(e), str(e))
        if not found:
            print("no condition: %s: %s" % (sql, str(e)[:200]), file=sys.stderr)
        return None, None, found


def record(sql, types, rows, error, approx):
    if error:
        if error.startswith("_LEGACY"):                           # a name that Spark itself means to change: any condition will do
            return "# %s in Spark\nstatement error\n%s\n\n" % (error, sql)
        return "statement error %s\n%s\n\n" % (error, sql)
    if not QUERY.match(sql):
        return "statement ok\n%s\n\n" % sql
    mode = ("" if len(rows) < 2 or ordered(sql) else " rowsort") + (" approx" if approx else "")
    return "# %s\nquery%s\n%s\n----\n%s\n" % (", ".join(types), mode, sql, "".join(dumps(r) + "\n" for r in rows))


def answer(spark, sql, approx, split, directory):
    types, rows, error = ask(spark, sql.replace("${DIR}", directory))
    parts = expressions(sql) if split else None
    if parts and (error or len(rows) == 1):
        if error:
            return "".join(answer(spark, "SELECT " + p, approx, split, directory) for p in parts)
        return "".join(record("SELECT " + p, [t], [[v]], None, approx) for p, t, v in zip(parts, types, rows[0]))
    if types is None and error is None:                           # an error without a condition: nothing to compare with
        return ""
    return record(sql, types, rows, error, approx)


def main():
    areas = sys.argv[1:] or sorted(os.path.basename(p)[:-4] for p in glob.glob(os.path.join(HERE, "sql", "*.sql")))
    warehouse = tempfile.mkdtemp(prefix="silt-sql-")
    spark = spark_peer.session(warehouse)
    os.makedirs(OUT, exist_ok=True)
    try:
        for area in areas:
            text = "# Spark 4.1.2's answers to tests/interop/sql/%s.sql, recorded by tests/interop/make_sql_tests.py: do not edit.\n\n" % area
            directory = tempfile.mkdtemp(dir=warehouse)
            text += "".join(answer(spark, sql, approx, area not in WHOLE, directory) for sql, approx in read_list(os.path.join(HERE, "sql", area + ".sql")))
            with open(os.path.join(OUT, area + ".test"), "w", encoding="utf-8") as f:
                f.write(text.rstrip("\n") + "\n")
            print("%s: %d queries, %d statements, %d errors" % (area, text.count("\nquery"), text.count("\nstatement ok"), text.count("\nstatement error")))
            sys.stdout.flush()
    finally:
        spark.stop()
        shutil.rmtree(warehouse, ignore_errors=True)


if __name__ == "__main__":
    main()
