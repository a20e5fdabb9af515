"""What a Delta table's log says, read as plain JSON: actions, statistics, history; made comparable between two writers."""
import decimal
import glob
import json
import os
import re


def commits(path):
    """{version: [action…]} of the JSON commits that are there."""
    out = {}
    for f in sorted(glob.glob(os.path.join(path, "_delta_log", "*.json"))):
        name = os.path.basename(f)
        if re.fullmatch(r"\d{20}\.json", name):
            out[int(name[:20])] = [json.loads(line) for line in open(f, encoding="utf-8") if line.strip()]
    return out


def actions(path, kind):
    return [(v, a[kind]) for v, c in commits(path).items() for a in c if kind in a]


def newest(path, kind):
    found = actions(path, kind)
    return found[-1][1] if found else None


def physical_names(schema):
    """{physical name: logical name} of every field at any depth (they are unique)."""
    out = {}

    def walk(t):
        if not isinstance(t, dict):
            return
        for f in t.get("fields", []):
            out[f["metadata"].get("delta.columnMapping.physicalName", f["name"])] = f["name"]
            walk(f["type"])
        for k in ("elementType", "keyType", "valueType"):
            walk(t.get(k))
    walk(schema)
    return out


def comparable_schema(schema):
    """A schema with random physical names made equal."""
    if isinstance(schema, list):
        return [comparable_schema(x) for x in schema]
    if isinstance(schema, dict):
        random = lambda name: re.sub(r"^col-[0-9a-f-]{36}", "col-*", name)
        unordered = lambda k, v: dict(sorted(v.items())) if k == "delta.columnMapping.nested.ids" else v        # a map, in Spark's order
        return {random(k): random(v) if k == "delta.columnMapping.physicalName" else unordered(k, comparable_schema(v)) for k, v in schema.items()}
    return schema


def number(v):
    return v.normalize() if isinstance(v, decimal.Decimal) and v == v and v not in (decimal.Decimal("inf"), decimal.Decimal("-inf")) else v


def statistics(add, names):
    """An add's statistics with logical names, numbers exact; None where it has none."""
    if not add.get("stats"):
        return None

    def logical(v):
        if isinstance(v, dict):
            return {names.get(k, k): logical(x) for k, x in v.items()}
        if isinstance(v, (int, decimal.Decimal)) and not isinstance(v, bool):
            return format(decimal.Decimal(v).normalize(), "E")
        return v
    return logical(json.loads(add["stats"], parse_float=decimal.Decimal))


def differences(got, want, path=""):
    """Each field in which two statistics differ, as text."""
    if isinstance(got, dict) and isinstance(want, dict):
        out = []
        for k in sorted(set(got) | set(want)):
            if k not in got:
                out.append("%s%s missing (expected %s)" % (path, k, json.dumps(want[k], ensure_ascii=False)))
            elif k not in want:
                out.append("%s%s unexpected (%s)" % (path, k, json.dumps(got[k], ensure_ascii=False)))
            else:
                out += differences(got[k], want[k], path + k + ".")
        return out
    return [] if got == want else ["%s: %s, expected %s" % (path[:-1], json.dumps(got, ensure_ascii=False), json.dumps(want, ensure_ascii=False))]


def folder(add_path, names):
    """The folder of a data file with its random prefix left out."""
    parts = add_path.split("/")[:-1]
    return "/".join("=".join([names.get(p.split("=", 1)[0], p.split("=", 1)[0])] + p.split("=", 1)[1:]) if "=" in p else "*" for p in parts)


def size_at(path, version):
    """Bytes of the active files at a version, by replaying the commits."""
    key = lambda x: (x["path"], json.dumps(x.get("deletionVector"), sort_keys=True))      # in one commit a file may leave with one vector and come with another
    files = {}
    for v, found in commits(path).items():
        for a in found if v <= version else []:
            if "remove" in a:
                files.pop(key(a["remove"]), None)
            if "add" in a:
                files[key(a["add"])] = a["add"]["size"]
    return sum(files.values())
