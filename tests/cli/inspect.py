#!/usr/bin/env python3
"""silt inspect: one self-contained page into which no text of the table gets as markup."""
import html.parser, os, re, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import equal, fails, ok, sql

EVIL = "</title></style><script>alert(1)</script><img src=x onerror=alert(1)> & ' \""


class Page(html.parser.HTMLParser):
    VOID = {"meta"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.text, self.attributes = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, "left open: %s" % self.open

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in self.VOID: self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        equal(self.open.pop() if self.open else None, tag)

    def handle_data(self, data):
        self.text.append(data)


def page(*argv):
    ok("inspect", *argv, "--html", "page.html")
    text = s.read("page.html").decode()
    p = Page(text)
    assert not {"script", "img", "iframe", "link", "object", "a"} & set(p.seen), set(p.seen)
    assert not re.search(r"https?://|url\(|@import", text), "the page points outside"
    assert not [a for a, _ in p.attributes if a.startswith("on") or a in ("src", "href")], p.attributes
    assert "default-src 'none'" in text and "prefers-color-scheme:dark" in text and "width=device-width" in text
    return p, "".join(p.text)


def test_page():
    ok("sql", "CREATE TABLE t (id BIGINT, day STRING) USING DELTA PARTITIONED BY (day) COMMENT 'all of it' TBLPROPERTIES ('owner' = 'me', 'delta.enableDeletionVectors' = 'true');"
              "INSERT INTO t SELECT id, cast(id % 3 AS STRING) FROM range(3000); DELETE FROM t WHERE id < 10; INSERT INTO t VALUES (1, 'z')")
    p, text = page("t")
    for words in ("2,991", "all of it", "day=0", "day=z", "Nothing found: the table is healthy.", "deletionVectors", "owner", "me", "File sizes", "Commits over time", "WRITE", "DELETE", "Version 3"): assert words in text, (words, text[:3000])
    assert p.seen.count("svg") >= 4 and p.seen.count("rect") > 5
    _, text = page("t", "--version", "1")
    assert "3,000" in text and "Version 1," in text, text[:500]


def test_hostile_texts():
    ok("sql", stdin="CREATE TABLE t (id BIGINT, `c<b>` STRING COMMENT '%s', p STRING) USING DELTA PARTITIONED BY (p) COMMENT '%s' TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'k<i>' = '%s');"
                    "INSERT INTO t VALUES (1, 'x', '%s'), (2, 'x', NULL)" % ((EVIL.replace("'", "\\'"),) * 4))
    name = os.listdir("spark-warehouse/t")
    for n in s.data_files("spark-warehouse/t"): os.remove("spark-warehouse/t/" + n)
    p, text = page("t")
    assert text.count("<script>alert(1)</script>") >= 3, text
    assert "files-missing" in text and "c<b>" in text and "k<i>" in text, (name, text)


def test_table_by_a_hostile_path():
    folder = "x<b>&\"'y"
    ok("sql", stdin="CREATE TABLE delta.`%s/%s` (id BIGINT) USING DELTA" % (os.getcwd(), folder))
    _, text = page("./" + folder)
    assert folder in text


def test_empty_table():
    ok("sql", "CREATE TABLE t (id BIGINT) USING DELTA")
    _, text = page("t")
    assert "Version 0" in text


def test_to_standard_output_and_nowhere():
    ok("sql", "CREATE TABLE t (id BIGINT) USING DELTA")
    assert ok("inspect", "t", "--html", "-").out.startswith("<!doctype html>")
    fails(None, "inspect", "t", code=2)
    fails(None, "inspect", "t", "--html", "no/such/folder/page.html")
    fails(None, "inspect", "nope", "--html", "page.html")
    assert not os.path.exists("page.html")


if __name__ == "__main__": s.main(globals())
