#!/usr/bin/env python3
"""Hold the sources to the module table (cmake/modules.txt) and to who may name DuckDB.

A file of src/<module>/ includes headers of its own module, of the modules in its row, of silt/ (the public headers) and of
the system, each by its path from src/ or include/. src/cli/ sees only itself and silt/; include/silt/ only silt/. duckdb.h
is for src/engine/ alone.

usage: check_includes.py [ROOT]     one "ok" or "not ok" line per module
"""
import os, re, sys

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
SOURCES = (".c", ".cc", ".h", ".def")


def read_table(path):
    table = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            m = re.match(r"([a-z]+):\s*(.*)$", line)
            if m: table[m[1]] = set(m[2].split()) | {m[1]}
    for allowed in table.values():
        unknown = allowed - set(table) - {"*"}
        if unknown: sys.exit("check_includes: %s names no module: %s" % (path, ", ".join(sorted(unknown))))
    for module, allowed in table.items():
        if "*" in allowed: table[module] = set(table)
    return table


def includes(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        for number, line in enumerate(f, 1):
            m = INCLUDE.match(line)
            if m: yield number, m[1] == '"', m[2]


def complaint(module, allowed, modules, own, name):
    """Why `module` may not include `name`, or None."""
    first = name.split("/", 1)[0]
    if ".." in name.split("/"): return "no way up: write the path from src/"
    if first == "silt" and "/" in name: return None
    if os.path.basename(name).startswith("duckdb") and name.endswith((".h", ".hpp")) and not own:
        return None if module == "engine" else "only engine/ names DuckDB"
    if own and "/" not in name: return "write the path from src/"
    if first in modules or own:
        if first not in allowed: return "%s may include %s" % (module, " ".join(sorted(allowed)) or "silt/ only")
    return None


def check(root, folder, module, allowed, modules):
    bad, files = [], 0
    for where, folders, names in os.walk(os.path.join(root, folder)):
        folders.sort()
        for file in sorted(names):
            if not file.endswith(SOURCES): continue
            files += 1
            path = os.path.join(where, file)
            for number, own, name in includes(path):
                why = complaint(module, allowed, modules, own, name)
                if why: bad.append("  %s:%d: %s: %s" % (os.path.relpath(path, root), number, name, why))
    if files: print("\n".join(["%s includes of %s" % ("not ok" if bad else "ok", folder)] + bad))
    return not bad


def main():
    root = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), ".."))
    table = read_table(os.path.join(root, "cmake", "modules.txt"))
    modules = set(table) | {"cli"}
    good = True
    for folder in sorted(os.listdir(os.path.join(root, "src"))):
        if not os.path.isdir(os.path.join(root, "src", folder)): continue
        if folder in modules:
            good &= check(root, "src/" + folder, folder, table.get(folder, {"cli"}), modules)
        else:
            good = False
            print("not ok src/%s is no module of cmake/modules.txt" % folder)
    good &= check(root, "include", "include", set(), modules)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
