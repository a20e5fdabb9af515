#!/usr/bin/env python3
"""The files of this folder, as other writers make them: those that `silt load` takes as they are (taken_*) and those that it must not (rewritten_*). Needs pyarrow; run once, the files are kept."""
import datetime, decimal, os, uuid
import pyarrow as pa
import pyarrow.parquet as pq

os.chdir(os.path.dirname(os.path.abspath(__file__)))
N = 20
UTC = datetime.timezone.utc
DAY = datetime.datetime(2024, 2, 29, 12, 30, 15, 123456)


def column(values, type_): return pa.array([None if i % 7 == 3 else values(i) for i in range(N)], type_)


ALL = pa.table({
    "id": pa.array(range(N), pa.int64()),
    "flag": column(lambda i: i % 2 == 0, pa.bool_()),
    "b": column(lambda i: i - 5, pa.int8()), "s": column(lambda i: i * 100 - 5, pa.int16()), "i": column(lambda i: i * 100000 - 5, pa.int32()),
    "f": column(lambda i: i / 4, pa.float32()), "d": column(lambda i: i / 8 - 1, pa.float64()),
    "small": column(lambda i: decimal.Decimal(i * 7 - 30) / 100, pa.decimal128(9, 2)), "middle": column(lambda i: decimal.Decimal(i * 7 - 30) / 100, pa.decimal128(18, 2)),
    "large": column(lambda i: decimal.Decimal(i * 10 ** 20 - 3) / 100, pa.decimal128(30, 2)),
    "text": column(lambda i: "é😀 %d" % i if i % 2 else "a" * 40 + str(i), pa.string()), "bytes": column(lambda i: bytes([i, 255]), pa.binary()),
    "day": column(lambda i: DAY.date() + datetime.timedelta(i), pa.date32()),
    "at": column(lambda i: DAY.replace(tzinfo=UTC) + datetime.timedelta(hours=i), pa.timestamp("us", "UTC")), "local": column(lambda i: DAY + datetime.timedelta(hours=i), pa.timestamp("us")),
    "list": column(lambda i: [i, None, i + 1][: i % 4], pa.list_(pa.int32())),
    "struct": column(lambda i: {"x": i, "y": {"z": str(i)}}, pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string())]))])),
    "map": column(lambda i: [("k%d" % i, i), ("l", None)], pa.map_(pa.string(), pa.int64())),
    "structs": column(lambda i: [{"a": i}, None], pa.list_(pa.struct([("a", pa.int64())])))})
FLOATS = ("f", "d")  # bounds of theirs leave NaN out, so that such a file is not taken
HOW = {"store_decimal_as_integer": True, "write_statistics": [c for c in ALL.column_names if c not in FLOATS + ("list", "struct", "map", "structs")] + ["v", "struct.x", "struct.y.z"]}


def write(name, table, **how): pq.write_table(table, name + ".parquet", **{**HOW, **how})


def one(name, values, type_, **how): write(name, pa.table({"id": pa.array(range(N), pa.int64()), "v": column(values, type_)}), **how)

write("taken_all_types", ALL)
write("taken_gzip", ALL, compression="gzip")
write("taken_zstd", ALL, compression="zstd")
write("taken_uncompressed", ALL, compression="none")
write("taken_without_dictionaries", ALL, use_dictionary=False)
write("taken_pages_of_the_second_form", ALL, data_page_version="2.0")
write("taken_checksums", ALL, write_page_checksum=True)
write("taken_checksums_uncompressed", ALL, write_page_checksum=True, compression="none", use_dictionary=False)
write("taken_several_groups", ALL, row_group_size=7)
write("taken_small_pages", ALL, data_page_size=1, write_batch_size=1)
write("taken_without_statistics", ALL, write_statistics=False)
one("taken_nan", lambda i: float("nan") if i == 5 else i / 2, pa.float64(), write_statistics=["id"])
one("taken_only_nan", lambda i: float("nan"), pa.float32(), write_statistics=["id"])
one("taken_minus_zero", lambda i: -0.0 if i % 2 else 0.0, pa.float64(), write_statistics=["id"])
one("rewritten_nan", lambda i: float("nan") if i == 5 else i / 2, pa.float64())
one("taken_long_text", lambda i: ("\U0001f600" * 50 if i % 2 else "z" * 5000) + str(i), pa.string())
one("taken_old_days", lambda i: datetime.date(1, 1, 1 + i), pa.date32())
write("taken_required", pa.table([pa.array(range(N), pa.int64()), pa.array([str(i) for i in range(N)])], schema=pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("v", pa.string(), nullable=False)])))
write("taken_no_nulls", pa.table({"id": pa.array(range(N), pa.int64()), "v": pa.array(range(N), pa.int64())}))

pq.write_table(pa.table({"id": pa.array(range(N), pa.int64()), "v": column(lambda i: decimal.Decimal(i) / 100, pa.decimal128(9, 2))}), "rewritten_decimal_of_bytes.parquet")
one("rewritten_int96", lambda i: DAY, pa.timestamp("ns"), use_deprecated_int96_timestamps=True)
one("rewritten_millis", lambda i: DAY.replace(microsecond=0), pa.timestamp("ms"))
one("rewritten_nanos", lambda i: DAY, pa.timestamp("ns"))
one("rewritten_unsigned", lambda i: i, pa.uint32())
one("rewritten_unsigned_byte", lambda i: i, pa.uint8())
one("rewritten_uuid", lambda i: uuid.UUID(int=i).bytes, pa.uuid())
one("rewritten_json", lambda i: '{"a": %d}' % i, pa.json_())
one("rewritten_fixed", lambda i: b"abc%d" % (i % 10), pa.binary(4))
one("rewritten_half", lambda i: i, pa.float16())
one("rewritten_brotli", lambda i: i, pa.int64(), compression="brotli")
one("rewritten_lz4", lambda i: i, pa.int64(), compression="lz4")
one("rewritten_delta", lambda i: i, pa.int64(), use_dictionary=False, column_encoding={"v": "DELTA_BINARY_PACKED"})
one("rewritten_delta_text", lambda i: str(i), pa.string(), use_dictionary=False, column_encoding={"v": "DELTA_BYTE_ARRAY"})
one("rewritten_split", lambda i: i / 2, pa.float64(), use_dictionary=False, column_encoding={"v": "BYTE_STREAM_SPLIT"})
one("rewritten_list_of_items", lambda i: [i], pa.list_(pa.int32()), use_compliant_nested_type=False)
write("rewritten_tiny_groups", pa.table({"id": pa.array(range(60), pa.int64()), "v": pa.array(range(60), pa.int64())}), row_group_size=6)
write("rewritten_no_rows", pa.table({"id": pa.array([], pa.int64()), "v": pa.array([], pa.int64())}))
write("rewritten_unknown_writer", pa.table({"id": pa.array(range(N), pa.int64()), "v": pa.array(range(N), pa.int64())}))
with open("rewritten_unknown_writer.parquet", "r+b") as f:
    text = f.read().replace(b"parquet-cpp-arrow version", b"somebodys-writer- version")
    f.seek(0)
    f.write(text)
