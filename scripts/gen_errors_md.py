#!/usr/bin/env python3
"""docs/errors.md out of src/base/errors.def.

usage: gen_errors_md.py            writes docs/errors.md
       gen_errors_md.py --check    status 1 when docs/errors.md is not what would be written
"""
import os, re, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = os.path.join(ROOT, "src/base/errors.def")
PAGE = os.path.join(ROOT, "docs/errors.md")
ROW = re.compile(r"^(X0|XS|X)\(", re.M)
AREA = re.compile(r"^/\* ---- (.+?) ---- \*/$", re.M)
HEAD = """# Errors

Made by `scripts/gen_errors_md.py` from `src/base/errors.def`; do not edit. Conditions and SQLSTATEs are those of Spark and Delta where these
have one. Every error ends the statement with nothing committed, unless it says otherwise; the command prints it as

    [CONDITION] message
    cause, where more is known
    hint: what to do
    SQLSTATE: 42601

and ends with status 1. In the C API they are the members `condition`, `message`, `detail`, `hint` and `sqlstate` of `silt_error`.
"""


def arguments(text, at):
    """The top-level, comma-separated arguments behind the '(' at text[at - 1]; strings and nested brackets are kept whole."""
    parts, depth, start, i = [], 0, at, at
    while True:
        c = text[i]
        if c == '"':
            i += 1
            while text[i] != '"': i += 2 if text[i] == "\\" else 1
        elif c in "([{": depth += 1
        elif c in ")]}" and depth: depth -= 1
        elif c == ")" or (c == "," and not depth):
            parts.append(text[start:i].strip())
            start = i + 1
            if c == ")": return parts
        i += 1


def string(literal):
    pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', literal)
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), "".join(pieces))


def names(values):
    """The arguments of the message to the words that stand for them: STR_ARG(path) and (long long)path are both "path"."""
    return [re.findall(r"[A-Za-z_]\w*", v)[-1] for v in values]


def message(form, parameters):
    """The message with <parameter> where a value stands."""
    left = list(parameters)
    def value(m):
        if m[0] == "%%": return "%"
        return "<%s>" % (left.pop(0) if left else "…")
    return re.sub(r"%%|%(?:\.\*|[-+ 0#]*\d*(?:\.\d+)?)(?:ll|l|z|h)?[a-zA-Z]", value, form)


def cell(text):
    return re.sub(r"\s+", " ", text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`").replace("*", "\\*"))


def page():
    with open(TABLE, encoding="utf-8") as f: text = f.read()
    areas = [(m.start(), m[1]) for m in AREA.finditer(text)]
    out, area = [HEAD], None
    for m in ROW.finditer(text):
        kind, a = m[1], arguments(text, m.end())
        here = [name for at, name in areas if at < m.start()]
        if here and here[-1] != area:
            area = here[-1]
            out.append("\n## %s\n\n| condition | SQLSTATE | message | what to do |\n|---|---|---|---|\n" % (area[0].upper() + area[1:]))
        if kind == "X0": condition, sqlstate, hint, text_of = a[0], string(a[1]), string(a[3]), string(a[4])
        elif kind == "X": condition, sqlstate, hint, text_of = a[0], string(a[1]), string(a[4]), message(string(a[5]), names(a[6:]))
        else: condition, sqlstate, hint, text_of = string(a[1]), string(a[2]), string(a[5]), message(string(a[6]), names(a[7:]))
        out.append("| `%s` | %s | %s | %s |\n" % (condition, sqlstate, cell(text_of), cell(hint)))
    return "".join(out)


def main():
    text = page()
    if "--check" in sys.argv[1:]:
        try:
            with open(PAGE, encoding="utf-8") as f: same = f.read() == text
        except OSError: same = False
        if not same: print("docs/errors.md is not up to date: run scripts/gen_errors_md.py")
        return 0 if same else 1
    with open(PAGE, "w", encoding="utf-8") as f: f.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
