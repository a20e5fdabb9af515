"""Z-order: lineitem SF1 (6,001,215 rows) by ship date and part, against deltalake; and ten of them (2 GB of files, about 9 GB of rows) in a memory of 512 MB.

  zorder          one file of 207 MB; the peer is deltalake's z_order
  zorder_memory   60 million rows under silt.memory.limit=512MB: what does not fit goes to a temporary file
"""
import shutil
import subprocess
import tempfile

from measuring import DATA, compare, expect
from row_changes import delta_change, fresh_copy, large, plain_table

GOALS = {"zorder": "deltalake / silt ≥ 2.5, in a third of its memory", "zorder_memory": "peak < 650 MB"}
COLUMNS = ("l_shipdate", "l_partkey")


def count(silt, path):
    return subprocess.run([silt, "sql", "SELECT count(*), sum(l_partkey) FROM delta.`%s`" % path, "--format", "csv"], stdout=subprocess.PIPE, check=True).stdout


def silt_zorder(silt, work, *settings):
    statement = "OPTIMIZE delta.`%s/silt` ZORDER BY (%s)" % (work, ", ".join(COLUMNS))
    return [silt, "sql", ";\n".join([*settings, statement])]


def ordering(silt, lineitem, rounds):
    made = plain_table(silt, lineitem, False)
    work = tempfile.mkdtemp(dir=DATA)
    try:
        check = lambda out: expect("rows", count(silt, work + "/silt"), count(silt, made + "/t"))
        return compare(rounds, [("silt", silt_zorder(silt, work), fresh_copy(made, work, "silt"), check),
                                ("deltalake", delta_change(work, "t.optimize.z_order(%r)" % (list(COLUMNS),)), fresh_copy(made, work, "rs"), None)])
    finally:
        shutil.rmtree(work, ignore_errors=True)


def ordering_large(silt, lineitem):
    made = large(lineitem, silt)
    work = tempfile.mkdtemp(dir=DATA)
    try:
        check = lambda out: expect("rows", count(silt, work + "/silt"), count(silt, made + "/t"))
        return compare(1, [("silt", silt_zorder(silt, work, "SET silt.memory.limit = 512MB"), fresh_copy(made, work, "silt"), check)])
    finally:
        shutil.rmtree(work, ignore_errors=True)


def steps(silt, lineitem, rounds):
    """`lineitem` makes its folder when called."""
    return {"zorder": lambda: ordering(silt, lineitem(), rounds), "zorder_memory": lambda: ordering_large(silt, lineitem())}
