#!/usr/bin/env python3
"""The interactive shell on a pseudo-terminal, and the same command on a pipe."""
import os, pty, re, select, signal, subprocess, sys, termios, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import silt_script as s
from silt_script import SILT, Skip, equal, ok, silt

ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[=>]|\x1b\][^\x07]*\x07|\r")
SLOW = 4 if s.SANITIZED else 1


class Terminal:
    """A shell on a terminal: type lines, wait for texts."""

    def __init__(self, *argv):
        self.seen = b""
        try: self.pid, self.fd = pty.fork()
        except OSError as e: raise Skip("no pseudo-terminal here: %s" % e)
        if self.pid == 0:
            os.environ.update(s.environment({"TERM": "dumb", "COLUMNS": "200"}))
            os.execv(SILT, [SILT, *argv])
        self.status = None

    def type(self, text): os.write(self.fd, text.encode() + b"\n")

    def wait(self, text, seconds=15):
        """Read until the text comes, and return all that came up to it."""
        limit, wanted = time.monotonic() + seconds * SLOW, text.encode()
        while True:
            plain = ESCAPES.sub(b"", self.seen)
            at = plain.find(wanted)
            if at >= 0:
                self.seen = plain[at + len(wanted):]
                return plain[:at].decode("utf-8", "replace")
            left = limit - time.monotonic()
            ready = left > 0 and select.select([self.fd], [], [], left)[0]
            try: more = os.read(self.fd, 65536) if ready else b""
            except OSError: more = b""
            assert more, "%r did not come; the terminal shows %r" % (text, plain.decode("utf-8", "replace"))
            self.seen += more

    def ask(self, text):
        """Type a statement and return what is shown before the next prompt."""
        self.type(text)
        return self.wait("silt> ")

    def key(self, byte):
        """Press one key once the shell reads keys: before that the terminal itself would take it."""
        limit = time.monotonic() + 15 * SLOW
        while termios.tcgetattr(self.fd)[3] & termios.ICANON:
            assert time.monotonic() < limit, "the shell does not read keys"
            time.sleep(0.01)
        os.write(self.fd, byte)

    def end(self, how=".quit"):
        if how: self.type(how)
        limit = time.monotonic() + 15 * SLOW
        while time.monotonic() < limit:
            try:
                if select.select([self.fd], [], [], 0.05)[0]: os.read(self.fd, 65536)
            except OSError: pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError("the shell did not end")


def shell(*argv):
    t = Terminal(*argv)
    t.wait("silt> ")
    return t


def test_statement_and_quit():
    t = shell()
    shown = t.ask("SELECT 1 + 1 AS two;")
    assert re.search(r"two\n-+\n +2\n\(1 row\)", shown), shown
    equal(t.end(), 0)


def test_bare_command_and_shell_are_the_same():
    for argv in ((), ("shell",), ("shell", "--format", "csv"), ("--conf", "spark.sql.session.timeZone=UTC")):
        t = shell(*argv)
        t.ask("SELECT 'x' AS a;")
        equal(t.end(), 0, str(argv))


def test_multi_line():
    t = shell()
    t.type("SELECT 'a;b'")
    t.wait("-> ")
    t.type("  AS x,  -- not the end;")
    t.wait("-> ")
    shown = t.ask("  2 AS y;")
    assert "a;b" in shown and "(1 row)" in shown, shown
    shown = t.ask("SELECT 1 AS a; SELECT 2 AS b;")
    equal(shown.count("(1 row)"), 2, shown)
    equal(t.end(), 0)


def test_rows_too_wide_for_the_screen():
    statement = "SELECT n AS a, repeat('x', %d) AS long_name, 'y' AS z FROM VALUES (1), (2) AS v(n)"
    t = shell()
    shown = t.ask(statement % 250 + ";")
    for n in (1, 2):
        assert "-- row %d --\na          %d\nlong_name  %s\nz          y\n" % (n, n, "x" * 250) in shown, shown
    assert "-- row" not in t.ask(statement % 150 + ";"), "150 fit the screen's 200"
    equal(t.end(), 0)
    assert "-- row" not in ok("sql", statement % 250).out, "a pipe has no width"


def test_errors_do_not_end_it():
    t = shell()
    assert "[DIVIDE_BY_ZERO]" in t.ask("SELECT 1/0;")
    shown = t.ask("SELECT (1 + ;")
    assert "[PARSE_SYNTAX_ERROR]" in shown and "^" in shown, shown
    assert "(1 row)" in t.ask("SELECT 1;")
    equal(t.end(), 0)


def test_dot_commands():
    t = shell()
    shown = t.ask(".help")
    for word in (".help", ".tables", ".schema", ".history", ".format", ".timing", ".read", ".quit"): assert word in shown, (word, shown)
    shown = t.ask(".nosuch")
    assert "unknown command .nosuch" in shown and ".help" in shown, shown
    t.ask("CREATE TABLE t (id INT, name STRING) USING DELTA; INSERT INTO t VALUES (1, 'a');")
    assert re.search(r"default +t +false", t.ask(".tables"))
    assert re.search(r"name +string", t.ask(".schema t"))
    assert "CREATE TABLE" in t.ask(".history t")
    assert "name a table" in t.ask(".schema")
    t.ask(".format csv")
    assert "id,name\n1,a" in t.ask("SELECT * FROM t;")
    assert "formats:" in t.ask(".format nosuch")
    assert re.search(r"\d\.\d+ s", t.ask(".timing on") + t.ask("SELECT 1;"))
    s.write("x.sql", "SELECT 'from a file' AS f;")
    assert "from a file" in t.ask(".read x.sql")
    assert "nosuch.sql" in t.ask(".read nosuch.sql")
    equal(t.end(".exit"), 0)


def test_messages_of_writes():
    t = shell()
    t.ask("CREATE TABLE t (id INT) USING DELTA;")
    assert "2 rows in 1 file, version 1" in t.ask("INSERT INTO t VALUES (1), (2);")
    equal(t.end(), 0)


def test_history_is_kept():
    t = shell()
    t.ask("SELECT 'remember me' AS x;")
    equal(t.end(), 0)
    assert b"remember" in s.read(".silt_history")
    t = shell()
    os.write(t.fd, b"\x10\x10\n")                   # Ctrl-P: the line before; twice, over .quit
    t.wait("(1 row)")
    equal(t.end(), 0)


def test_end_of_input():
    t = shell()
    t.key(b"\x04")
    equal(t.end(None), 0)


def test_words_quit_and_exit():
    for word in ("quit", "exit;", "QUIT;"):
        t = shell()
        equal(t.end(word), 0, word)


def test_interrupt_stops_a_statement_only():
    t = shell()
    t.type("SELECT count(*) FROM range(100000000) AS a JOIN range(100000) AS b ON a.id <> b.id + 1 WHERE sha2(CAST(a.id AS STRING), 512) < 'f';")
    time.sleep(1)
    os.write(t.fd, b"\x03")
    assert "OPERATION_CANCELLED" in t.wait("silt> ", 30)
    assert "(1 row)" in t.ask("SELECT 1;")
    equal(t.end(), 0)


def test_interrupt_forgets_the_line_being_typed():
    t = shell()
    t.type("SELECT 'unfinished")
    t.wait("-> ")
    t.key(b"\x03")
    t.type("")                                                    # one prompt or two: Ctrl-C may end the read itself
    t.wait("silt> ")
    t.type("SELECT 1;")
    t.wait("(1 row)")
    equal(t.end(), 0)


def test_pipe():
    done = ok(stdin="SELECT 1 AS a;\nSELECT 2 AS b\n")
    equal(done.out, "  a\n---\n  1\n(1 row)\n  b\n---\n  2\n(1 row)\n")
    equal(done.err, "")


def test_pipe_reports_failure():
    done = silt(stdin="SELECT 1/0;\n")
    equal(done.code, 1)
    equal(done.condition, "DIVIDE_BY_ZERO")


def test_shell_takes_no_arguments(): equal(silt("shell", "SELECT 1").code, 2)


if __name__ == "__main__": s.main(globals())
