#!/usr/bin/env python3
"""The query engine's library is loaded when it is first needed: what needs none runs without it, and one that is missing or not ours is told by name."""
import os, re, shutil, subprocess, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import SILT, Skip, equal, ok, read, sql, write

CALLS = os.path.join(os.environ["SILT_SOURCE_DIR"], "src", "engine", "duckdb_calls.h")


def installed(library=None):
    """A copy of the command where it looks for lib/silt beside bin; `library` makes the file there."""
    if s.SANITIZED: raise Skip("a sanitizer's build names the library's file")
    os.makedirs("prefix/bin"), os.makedirs("prefix/lib/silt")
    shutil.copy(SILT, "prefix/bin/silt")
    if library: library("prefix/lib/silt/libduckdb.so")
    env = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
    return lambda *words: subprocess.run(["prefix/bin/silt", *words], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def compiled(text):
    def make(path):
        write("library.c", text)
        subprocess.run([os.environ["SILT_CC"], "-shared", "-fPIC", "-o", path, "library.c"], check=True)
    return make


ALLOCATOR = r"""
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
/* Before each block: what it began with, its size, and a mark that no other allocator leaves. */
struct head { void *begin; size_t size; uint64_t mark, pad; };
static void *give(size_t align, size_t size) {
    size_t before = align > sizeof(struct head) ? align : sizeof(struct head);
    char *begin = align > 16 ? __libc_memalign(align, size + before) : __libc_malloc(size + before);
    if (!begin) return 0;
    struct head h = {begin, size, 0x51f7a110ca70, 0};
    memcpy(begin + before - sizeof h, &h, sizeof h);
    return begin + before;
}
static struct head of(void *p) {
    struct head h;
    memcpy(&h, (char *)p - sizeof h, sizeof h);
    if (h.mark != 0x51f7a110ca70) { (void)!write(2, "a block of another allocator\n", 29); abort(); }
    return h;
}
void *malloc(size_t n) { return give(16, n); }
void *calloc(size_t n, size_t m) { size_t size; if (__builtin_mul_overflow(n, m, &size)) return 0; void *p = give(16, size); return p ? memset(p, 0, size) : 0; }
void free(void *p) { if (p) { void *begin = of(p).begin; memset((char *)p - sizeof(struct head), 0, sizeof(struct head)); __libc_free(begin); } }
void *realloc(void *p, size_t n) { if (!p) return malloc(n); size_t had = of(p).size; void *q = malloc(n); if (q) { memcpy(q, p, had < n ? had : n); free(p); } return q; }
void *memalign(size_t align, size_t n) { return give(align, n); }
void *aligned_alloc(size_t align, size_t n) { return give(align, n); }
int posix_memalign(void **out, size_t align, size_t n) { return (*out = give(align, n)) ? 0 : ENOMEM; }
size_t malloc_usable_size(void *p) { return p ? of(p).size : 0; }
"""


def refused(done, condition, *wanted):
    equal(done.returncode, 1)
    for w in ("[%s]" % condition,) + wanted: assert w in done.stderr, done


def test_missing():
    ok("sql", "CREATE TABLE delta.`%s/t` USING DELTA AS SELECT 1 AS a" % os.getcwd())
    run = installed()
    refused(run("sql", "SELECT a FROM delta.`%s/t`" % os.getcwd()), "ENGINE_LIBRARY", "libduckdb.so", "lib/silt")
    for words in (["--version"], ["help"], ["show", "./t"], ["history", "./t"], ["sql", "DESCRIBE DETAIL delta.`%s/t`" % os.getcwd()], ["sql", "SET a = b"]):
        done = run(*words)
        equal((words, done.returncode, done.stderr), (words, 0, ""))


def test_not_a_library():
    refused(installed(lambda path: write(path, "no library\n"))("sql", "SELECT 1 + id FROM range(2)"), "ENGINE_LIBRARY", "libduckdb.so")


def test_lacks_a_call():
    refused(installed(compiled("const char *duckdb_library_version(void) { return \"v1.5.6\"; }"))("sql", "SELECT 1 + id FROM range(2)"), "ENGINE_LIBRARY", "undefined symbol: duckdb_")


def test_another_version():
    with open(CALLS) as f: calls = set(re.findall(r"F\((\w+)\)", f.read())) - {"F", "library_version"}
    assert len(calls) > 100, calls
    text = "".join("void duckdb_%s(void) { __builtin_trap(); }\n" % c for c in sorted(calls)) + "const char *duckdb_library_version(void) { return \"v0.9.0\"; }\n"
    refused(installed(compiled(text))("sql", "SELECT 1 + id FROM range(2)"), "ENGINE_VERSION", "v0.9.0", "v1.5.6")


def test_under_another_allocator():
    """The one that was preloaded is the library's too: it may free what it got through the C library."""
    if s.SANITIZED: raise Skip("a sanitizer has an allocator of its own")
    compiled(ALLOCATOR)("./allocator.so")
    os.mkdir("bindings")
    env = {"LD_PRELOAD": os.path.abspath("allocator.so"), "LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": os.path.abspath("bindings/of")}
    equal(sql("CREATE TABLE t USING DELTA AS SELECT id % 3 AS g, CAST(id AS STRING) AS x FROM range(5000); SELECT g, count(*) AS n, max(x) AS m FROM t GROUP BY g ORDER BY g", env=env),
          [{"g": 0, "n": 1667, "m": "999"}, {"g": 1, "n": 1667, "m": "997"}, {"g": 2, "n": 1666, "m": "998"}])
    told = "".join(read(os.path.join("bindings", name)).decode() for name in os.listdir("bindings"))
    bound = {name: os.path.basename(to) for to, name in re.findall(r"libduckdb\.so \[0\] to (\S+) \[0\]: normal symbol `(malloc|free|calloc)'", told)}
    equal(bound, {name: "allocator.so" for name in ("malloc", "free", "calloc")})


if __name__ == "__main__": s.main(globals())
