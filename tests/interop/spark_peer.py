"""One Spark session with Delta, and Spark's values in the form that `silt sql --format jsonl` prints.

The value forms are those of issue 3 (section 5): integers and doubles as numbers (NaN and infinities as strings), decimals as
strings with their scale, dates 2026-01-31, timestamps 2026-01-31T10:00:00.000000Z, timestamp_ntz without the Z, binary as base64,
maps as arrays of [key, value], structs as objects, variants as their JSON. Years beyond 9999 and before 1 carry a sign.

Dates and timestamps leave Spark as integers, because Python's datetime covers the years 1 to 9999 only; intervals leave it as Spark's text.
"""
import base64
import glob
import json
import logging
import os
import struct
import tempfile

os.environ.update(TZ="UTC", SPARK_LOCAL_IP="127.0.0.1")      # of the JVM, and of every other process of a run
SERVICES = os.environ.get("SILT_SERVICES") or os.path.expanduser("~/.cache/silt/services")

# For thousands of statements on tables of a few rows: one task each, and plans that are run at once instead of compiled.
LEAN = {"spark.sql.leafNodeDefaultParallelism": "1", "spark.default.parallelism": "2", "spark.sql.shuffle.partitions": "1", "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.adaptive.enabled": "false", "spark.sql.codegen.wholeStage": "false"}


def session(warehouse=None, **conf):
    """The one Spark session of a run. Time zone UTC, ANSI on (Spark 4's default), two cores, 3 GB."""
    from pyspark.sql import SparkSession
    warehouse = warehouse or tempfile.mkdtemp(prefix="silt-spark-")
    jars = ",".join(sorted(glob.glob(os.path.join(SERVICES, "spark-jars", "*.jar"))))
    settings = {
        "spark.jars": jars,
        "spark.driver.memory": "3g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -Duser.timezone=UTC -Dderby.system.home=" + warehouse,
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration": "false",
        "spark.sql.warehouse.dir": warehouse,
        "spark.local.dir": tempfile.gettempdir(),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    settings.update(conf)
    logging.disable(logging.CRITICAL)                    # PySpark logs each error that it also raises
    builder = SparkSession.builder.master("local[2]").appName("silt-interop")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


# ---- values -------------------------------------------------------------------------------------------------------------------

def days_from_civil(y, m, d):
    y -= m <= 2
    era = y // 400
    yoe = y - era * 400
    doy = (153 * (m + (-3 if m > 2 else 9)) + 2) // 5 + d - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468


def civil_from_days(z):
    z += 719468
    era = z // 146097
    doe = z - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    m = mp + (3 if mp < 10 else -9)
    return yoe + era * 400 + (m <= 2), m, doy - (153 * mp + 2) // 5 + 1


def date_text(days):
    y, m, d = civil_from_days(days)
    year = "%04d" % y if 0 <= y <= 9999 else "%s%04d" % ("+" if y > 0 else "-", abs(y))
    return "%s-%02d-%02d" % (year, m, d)


def timestamp_text(micros, zone):
    days, rest = divmod(micros, 86400 * 1000000)
    seconds, fraction = divmod(rest, 1000000)
    return "%sT%02d:%02d:%02d.%06d%s" % (date_text(days), seconds // 3600, seconds // 60 % 60, seconds % 60, fraction, zone)


def float_value(x, single):
    if x != x:
        return "NaN"
    if x in (float("inf"), float("-inf")):
        return "Infinity" if x > 0 else "-Infinity"
    if not single:
        return x
    for digits in range(1, 10):                          # the shortest text that reads back as the same float
        text = "%.*g" % (digits, x)
        try:
            if struct.pack(">f", float(text)) == struct.pack(">f", x):
                return float(text)
        except OverflowError:
            pass
    return x


def _tame(col, t):
    """A column in a form that Python can hold, whatever its values: dates and timestamps as integers, intervals and variants as text."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T
    if isinstance(t, T.DateType):
        return F.unix_date(col)
    if isinstance(t, T.TimestampType):
        return F.unix_micros(col)
    if isinstance(t, T.TimestampNTZType):
        return F.unix_micros(col.cast("timestamp"))      # the session zone is UTC
    if isinstance(t, (T.DayTimeIntervalType, T.YearMonthIntervalType, T.CalendarIntervalType)):
        return col.cast("string")
    if type(t).__name__ == "TimeType":
        return col.cast("string")
    if isinstance(t, T.VariantType):
        return F.to_json(col)
    if isinstance(t, T.ArrayType):
        return F.transform(col, lambda x: _tame(x, t.elementType)) if _wild(t.elementType) else col
    if isinstance(t, T.MapType):
        key, value = t.keyType, t.valueType
        return F.transform(F.map_entries(col), lambda e: F.struct(_tame(e["key"], key).alias("k"), _tame(e["value"], value).alias("v")))
    if isinstance(t, T.StructType):
        if not t.fields:
            return col
        fields = [_tame(col.getField(f.name), f.dataType).alias("f%d" % i) for i, f in enumerate(t.fields)]
        if len({f.name.lower() for f in t.fields}) < len(t.fields) or not _wild(t):
            return col
        return F.when(col.isNull(), F.lit(None)).otherwise(F.struct(*fields))
    return col


def _wild(t):
    from pyspark.sql import types as T
    if isinstance(t, T.ArrayType):
        return _wild(t.elementType)
    if isinstance(t, T.StructType):
        return any(_wild(f.dataType) for f in t.fields)
    return isinstance(t, (T.MapType, T.DateType, T.TimestampType, T.TimestampNTZType, T.DayTimeIntervalType,
                          T.YearMonthIntervalType, T.CalendarIntervalType, T.VariantType)) or type(t).__name__ == "TimeType"


def value(v, t):
    """One value that _tame let through, as the jsonl form has it."""
    from pyspark.sql import types as T
    if v is None:
        return None
    if isinstance(t, T.DateType):
        return date_text(v)
    if isinstance(t, T.TimestampType):
        return timestamp_text(v, "Z")
    if isinstance(t, T.TimestampNTZType):
        return timestamp_text(v, "")
    if isinstance(t, (T.FloatType, T.DoubleType)):
        return float_value(v, isinstance(t, T.FloatType))
    if isinstance(t, T.DecimalType):
        return format(v.quantize(__import__("decimal").Decimal(1).scaleb(-t.scale), context=_wide()), "f")
    if isinstance(t, T.BinaryType):
        return base64.b64encode(bytes(v)).decode()
    if isinstance(t, T.VariantType):
        return json.loads(v)
    if isinstance(t, T.ArrayType):
        return [value(x, t.elementType) for x in v]
    if isinstance(t, T.MapType):
        return [[value(e[0], t.keyType), value(e[1], t.valueType)] for e in v]
    if isinstance(t, T.StructType):
        return {f.name: value(x, f.dataType) for f, x in zip(t.fields, v)}
    return v


def _wide():
    import decimal
    return decimal.Context(prec=60)


def rows(df):
    """The rows of a DataFrame as lists of jsonl values, in its order."""
    schema = df.schema
    plain = df.toDF(*["c%d" % i for i in range(len(schema.fields))])
    columns = [_tame(plain["c%d" % i], f.dataType).alias("c%d" % i) for i, f in enumerate(schema.fields)]
    return [[value(v, f.dataType) for v, f in zip(r, schema.fields)] for r in plain.select(*columns).collect()]


def condition(e):
    """The error condition of an exception that Spark raised, or None."""
    for name in ("getCondition", "getErrorClass"):
        try:
            found = getattr(e, name)()
        except Exception:
            found = None
        if found:
            return found
    java = getattr(e, "java_exception", None) or getattr(e, "_origin", None)      # the condition may be on a cause
    while java is not None:
        try:
            found = java.getCondition()
            if found:
                return found
        except Exception:
            pass
        try:
            java = java.getCause()
        except Exception:
            return None
    return None


def dumps(v):
    return json.dumps(v, ensure_ascii=False, separators=(",", ":"))


# ---- SQL text -----------------------------------------------------------------------------------------------------------------

def quote(text):
    """A SQL string literal (backslash escapes are on)."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def path_table(path):
    return "delta.`" + path.replace("`", "``") + "`"
