#!/usr/bin/env python3
"""Check the public face: the headers stand alone as C99 and as C++17, and libsilt.so exports exactly what they declare.

The list of exports is src/api/silt.map; a function is in it if and only if a header of include/silt/ declares it with SILT_API.

usage: check_api.py TESTS_JSON [ROOT]     TESTS_JSON: what the build wrote; prints "ok" and "not ok" lines
"""
import glob, json, os, re, subprocess, sys

failed = False


def report(good, name, lines=()):
    global failed
    failed |= not good
    print("\n".join(["%s %s" % ("ok" if good else "not ok", name)] + ["  " + line for line in lines]))


def check_header(root, header, compiler, language, standard):
    run = subprocess.run([compiler, "-x", language, "-std=" + standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                          "-I", os.path.join(root, "include"), "-"],
                         input='#include <silt/%s>\n' % header, capture_output=True, text=True)
    report(run.returncode == 0, "silt/%s compiles alone as %s" % (header, standard), run.stderr.splitlines()[:10])


def declared(headers):
    names = set()
    for path in headers:
        with open(path, encoding="utf-8") as f: text = f.read()
        text = re.sub(r"/\*.*?\*/|//[^\n]*|^\s*#(?:[^\n]*\\\n)*[^\n]*", " ", text, flags=re.S | re.M)
        names |= set(re.findall(r"\bSILT_API\b[^;{}()]*?\b(\w+)\s*\(", text))
    return names


def listed(path):
    with open(path, encoding="utf-8") as f: text = re.sub(r"/\*.*?\*/|#[^\n]*", " ", f.read(), flags=re.S)
    m = re.search(r"global:(.*?)(?:local:|})", text, re.S)
    return set(re.findall(r"[\w*]+", m[1])) if m else set()


def exported(nm, library):
    out = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()[-2] not in "Aa"}


def main():
    with open(sys.argv[1], encoding="utf-8") as f: build = json.load(f)
    root = os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.path.dirname(__file__), ".."))
    headers = sorted(glob.glob(os.path.join(root, "include", "silt", "*.h")))
    for header in map(os.path.basename, headers):
        check_header(root, header, build["cc"], "c", "c99")
        check_header(root, header, build["cxx"], "c++", "c++17")
    if not build["libsilt"]: return failed
    want, have = listed(os.path.join(root, "src", "api", "silt.map")), declared(headers)
    lines = ["declared with SILT_API, not in silt.map: " + n for n in sorted(have - want)]
    lines += ["in silt.map, declared by no public header: " + n for n in sorted(want - have)]
    lines += ["does not begin with silt_: " + n for n in sorted(want | have) if not n.startswith("silt_")]
    report(not lines, "src/api/silt.map lists what include/silt declares", lines)
    out = exported(build["nm"], build["libsilt"])
    lines = ["not exported (not defined, or hidden): " + n for n in sorted(want - out)]
    lines += ["exported, not in silt.map: " + n for n in sorted(out - want)]
    report(not lines, "libsilt.so exports what src/api/silt.map lists", lines)
    return failed


if __name__ == "__main__":
    sys.exit(main())
