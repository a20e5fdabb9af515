"""Random tables and row-level statements for fuzz_dml.py, as text: nothing here asks either engine.

A case is one table (types of the key, columns, partitions and writer features by chance), a second one that statements read, and statements that follow each other. A statement is
(SQL, settings); {t} stands for the table, {s} for the second one. Statements that change the columns are made so that they succeed, because those behind them name the new columns.

Spark takes no subqueries in the conditions of UPDATE and DELETE. Where Silt is given one, as {{subquery}}{{the same with literals}}, Spark is given the literals (for_silt, for_spark).
"""
import re
import random


EITHER = re.compile(r"{{(.*?)}}{{(.*?)}}")


def for_silt(sql):
    return EITHER.sub(r"\1", sql)


def for_spark(sql):
    return EITHER.sub(r"\2", sql)


class Column:
    def __init__(self, name, type_, values, orders=True, default=None, nullable=True, given=True):
        self.name, self.type, self.values, self.orders = name, type_, values, orders
        self.default, self.nullable, self.given = default, nullable, given                    # given: rows name it; a generated column or an identity they leave out

    def value(self, r):
        return "NULL" if r.random() < (0.15 if self.nullable else 0.02) else r.choice(self.values)

    def but(self, **new):
        copy = Column(self.name, self.type, self.values, self.orders, self.default, self.nullable, self.given)
        copy.__dict__.update(new)
        return copy


COLUMNS = [
    Column("v", "INT", [str(i) for i in range(-3, 12)]),
    Column("s", "STRING", ["'a'", "'b'", "'B'", "''", "'zz'", "'ü'", "'x y'", "'%'", "'a'", "repeat('long', 20)"]),
    Column("d", "DECIMAL(10,2)", ["0.00", "1.25", "-7.50", "100.00"]),
    Column("f", "DOUBLE", ["0.5D", "-0.0D", "1e10D", "double('NaN')", "3.0D", "double('-Infinity')"]),
    Column("fl", "FLOAT", ["0.5F", "-0.0F", "float('NaN')", "1.1F"]),
    Column("b", "BOOLEAN", ["true", "false"]),
    Column("ti", "TINYINT", ["1Y", "-5Y", "127Y"]),
    Column("dt", "DATE", ["DATE'2024-02-29'", "DATE'1969-12-31'", "DATE'2030-01-01'", "DATE'0099-01-01'"]),
    Column("ts", "TIMESTAMP", ["TIMESTAMP'2024-02-29 12:00:00.123456'", "TIMESTAMP'1960-01-01 00:00:00'"]),
    Column("tn", "TIMESTAMP_NTZ", ["TIMESTAMP_NTZ'2024-02-29 12:00:00.123456'", "TIMESTAMP_NTZ'1960-01-01 00:00:00'"]),
    Column("n", "BIGINT", ["5", "-9000000000", "77"]),
    Column("bi", "BINARY", ["X'00FF'", "X''", "X'41'"]),
    Column("st", "STRUCT<x: INT, y: STRING>", ["named_struct('x', 1, 'y', 'p')", "named_struct('x', CAST(NULL AS INT), 'y', 'q')", "named_struct('x', 7, 'y', CAST(NULL AS STRING))"], False),
    Column("ns", "STRUCT<a: STRUCT<b: INT, c: STRING>, d: ARRAY<INT>>",
           ["named_struct('a', named_struct('b', 1, 'c', 'x'), 'd', array(1))", "named_struct('a', CAST(NULL AS STRUCT<b: INT, c: STRING>), 'd', array(2, NULL))"], False),
    Column("ar", "ARRAY<INT>", ["array(1, 2)", "array()", "array(CAST(NULL AS INT))"], False),
    Column("na", "ARRAY<STRUCT<q: INT, r: STRING>>", ["array(named_struct('q', 1, 'r', 'x'))", "array()", "array(named_struct('q', 2, 'r', NULL), NULL)"], False),
    Column("m", "MAP<STRING, STRUCT<q: INT>>", ["map('k', named_struct('q', 1))", "map()", "map('a', CAST(NULL AS STRUCT<q: INT>))"], False),
    Column("mi", "MAP<INT, STRING>", ["map(1, 'a')", "map(1, 'a', 2, NULL)"], False),
]
PARTITIONS = [
    Column("p", "STRING", ["'a'", "'b'", "'c d'", "'é/1'", "'x=y%2F'", "''"]), Column("p", "INT", ["1", "2", "-3"]), Column("p", "DATE", ["DATE'2024-01-01'", "DATE'2024-01-02'"]),
    Column("p", "TIMESTAMP", ["TIMESTAMP'2024-02-29 12:00:00.5'", "TIMESTAMP'1960-01-01 00:00:00'"]), Column("p", "BOOLEAN", ["true", "false"]), Column("p", "DECIMAL(6,2)", ["1.10", "-2.00"]),
]
KEYS = [
    ("INT", [str(i) for i in range(14)]), ("INT", [str(i) for i in range(14)]),
    ("BIGINT", [str(i * 3000000000) for i in range(-4, 10)]),
    ("STRING", ["'k%d'" % i for i in range(12)] + ["''", "'ß'"]),
    ("DATE", ["DATE'2024-01-%02d'" % (i + 1) for i in range(14)]),
    ("TIMESTAMP", ["TIMESTAMP'2024-01-01 %02d:00:00.%06d'" % (i, i) for i in range(14)]),
    ("DECIMAL(12,3)", ["%d.%03d" % (i - 3, i * 7) for i in range(14)]),
    ("DOUBLE", ["%d.5D" % i for i in range(11)] + ["double('NaN')", "0.0D", "-0.0D"]),
]
NUMBERS = ("INT", "BIGINT", "DECIMAL(10,2)", "DECIMAL(12,3)", "TINYINT")


class Case:
    def __init__(self, seed, number, ops):
        self.r = r = random.Random("%d/%d" % (seed, number))
        type_, self.keys = r.choice(KEYS)
        self.id = Column("id", type_, self.keys)
        self.columns = [self.id] + sorted(r.sample(COLUMNS, r.randint(2, 5)), key=lambda c: c.name)
        self.properties, self.hidden, self.constraint, self.added = {}, [], None, 0
        self.partitions = [r.choice(PARTITIONS)] if r.random() < 0.5 else []
        if self.partitions and r.random() < 0.3:
            self.partitions.append(Column("q", "INT", ["1", "2"]))
        self.columns += self.partitions
        self.features()
        self.by_silt = r.random() < 0.5 or any(not c.given for c in self.columns)             # who makes the table; Spark's SQL has no generated columns
        self.text = ", ".join(self.declared.get(c.name) or "%s %s%s%s" % (c.name, c.type, " DEFAULT " + c.default if c.default else "", "" if c.nullable else " NOT NULL") for c in self.columns)
        self.create = self.create_text(self.properties)
        self.setup = ["ALTER TABLE {t} ADD CONSTRAINT c1 CHECK (%s)" % self.constraint] if self.constraint else []
        self.setup += ["INSERT INTO {t} %s SELECT /*+ COALESCE(1) */ * FROM %s" % (self.names(), self.rows(r.randint(1, 12), "v")) for _ in range(r.randint(1, 3))]
        self.source_columns = list(self.columns)
        self.source_keys = r.sample(self.keys[:-1], 8)                                        # not both zeros of a DOUBLE
        self.source = "CREATE TABLE {s} USING DELTA AS SELECT /*+ COALESCE(1) */ * FROM " + self.rows(8, "v", self.source_keys)
        self.statements = [self.statement() for _ in range(ops)]

    def create_text(self, properties, partitioned=True):
        by = " PARTITIONED BY (%s)" % ", ".join(c.name for c in self.partitions) if self.partitions and partitioned else ""
        return "CREATE TABLE {t} (%s) USING DELTA%s%s" % (self.text, by, " TBLPROPERTIES (%s)" % ", ".join("'%s' = '%s'" % kv for kv in properties.items()) if properties else "")

    def features(self):
        r, self.declared = self.r, {}
        with_chance = lambda p, **kv: self.properties.update({k.replace("__", "."): v for k, v in kv.items()}) if r.random() < p else None
        with_chance(0.5, delta__enableDeletionVectors="true")
        with_chance(0.6, delta__enableChangeDataFeed="true")
        with_chance(0.3, **{"delta.columnMapping.mode": r.choice(["name", "id"])})
        with_chance(0.3, delta__enableRowTracking="true")
        with_chance(0.2, delta__enableTypeWidening="true")
        with_chance(0.15, delta__enableInCommitTimestamps="true")
        with_chance(0.7, delta__checkpointInterval="1000")
        self.feed, self.mapped = "delta.enableChangeDataFeed" in self.properties, "delta.columnMapping.mode" in self.properties
        self.tracked, self.widens = "delta.enableRowTracking" in self.properties, "delta.enableTypeWidening" in self.properties
        plain = [i for i, c in enumerate(self.columns) if c is not self.id and c not in self.partitions]
        if r.random() < 0.2:
            i = r.choice(plain)
            if self.columns[i].orders:
                self.columns[i] = self.columns[i].but(default=r.choice(self.columns[i].values))
                self.properties["delta.feature.allowColumnDefaults"] = "supported"
        if r.random() < 0.15:
            i = r.choice(plain)
            self.columns[i] = self.columns[i].but(nullable=False)
        if r.random() < 0.2:
            c = r.choice([c for c in self.columns if c.orders])
            values = [v for v in c.values if not re.search(r"\.\d+F$", v)]                     # Delta's own parser knows no FLOAT literal with a point
            self.constraint = r.choice(["%s IS NULL OR %s <> %s" % (c.name, c.name, r.choice(values)), "%s > %s" % (c.name, min(values)), "%s IS NOT NULL OR id IS NOT NULL" % c.name])
        if r.random() < 0.15 and not self.mapped:
            c = r.choice([c for c in self.columns if c.type in ("INT", "STRING", "DATE", "TIMESTAMP", "BIGINT")] or [None])
            if c:
                type_, text = {"INT": ("INT", "%s * 2"), "BIGINT": ("BIGINT", "%s + 1"), "STRING": ("STRING", "upper(%s)"), "DATE": ("INT", "year(%s)"), "TIMESTAMP": ("DATE", "CAST(%s AS DATE)")}[c.type]
                self.declared["g"] = "g %s GENERATED ALWAYS AS (%s)" % (type_, text % c.name)
                self.columns.append(Column("g", type_, ["CAST(NULL AS %s)" % type_], given=False))
        if r.random() < 0.1:
            self.declared["idn"] = "idn BIGINT GENERATED %s AS IDENTITY" % r.choice(["ALWAYS", "BY DEFAULT"])
            self.columns.append(Column("idn", "BIGINT", ["1"], orders=False, given=False))
            self.hidden.append("idn")                                                         # its values are each engine's own

    # ---- pieces ----

    def given(self):
        return [c for c in self.columns if c.given]

    def names(self):
        return "(%s)" % ", ".join(c.name for c in self.given())

    def rows(self, n, alias, keys=None):
        r, lines, columns = self.r, [], self.given()
        for i in range(n):
            values = [c.value(r) for c in columns]
            if keys:
                values[columns.index(self.id)] = keys[i]
            lines.append("(%s)" % ", ".join("CAST(%s AS %s)" % (v, c.type) for v, c in zip(values, columns)))
        return "VALUES %s AS %s(%s)" % (", ".join(lines), alias, ", ".join(c.name for c in columns))

    def atom(self, side, columns=None):
        r = self.r
        c = r.choice(columns or [c for c in self.columns if c.name not in self.hidden and (c.given or side != "s")])
        name = "%s.%s" % (side, c.name) if side else c.name
        if c.name == "st" and r.random() < 0.6:
            return "%s.x %s %d" % (name, r.choice(["=", "<", ">="]), r.randint(0, 8))
        if c.name == "ns" and r.random() < 0.6:
            return "%s.a.b %s" % (name, r.choice(["= 1", "IS NULL"]))
        if not c.orders or r.random() < 0.15:
            return "%s IS %sNULL" % (name, r.choice(["", "NOT "]))
        how = r.random()
        if how < 0.15:
            return "%s %sIN (%s)" % (name, r.choice(["", "", "NOT "]), ", ".join(r.choice(c.values) for _ in range(3)))
        if how < 0.22:
            return "%s BETWEEN %s AND %s" % (name, r.choice(c.values), r.choice(c.values))
        if c.type == "STRING" and how < 0.35:
            return "%s LIKE '%s%%'" % (name, r.choice(["a", "k1", "z"]))
        if how < 0.38:
            return "coalesce(%s = %s, %s)" % (name, r.choice(c.values), r.choice(["true", "false"]))
        return "%s %s %s" % (name, r.choice(["=", "<", ">=", "<>", "<=>"]), r.choice(c.values))

    def condition(self, sides):
        r = self.r
        atoms = [self.atom(r.choice(sides)) for _ in range(r.choice([1, 1, 2]))]
        if len(sides) > 1 and r.random() < 0.2:
            c = r.choice([c for c in self.given() if c.orders])
            atoms.append("t.%s %s s.%s" % (c.name, r.choice(["<", "<>", ">="]), c.name))
        text = r.choice([" AND ", " AND ", " OR "]).join(atoms)
        return ("NOT (%s)" % text) if r.random() < 0.1 else text if len(atoms) == 1 else "(%s)" % text

    def where(self):
        """A condition of UPDATE or DELETE."""
        r = self.r
        if r.random() < 0.12:
            return self.subquery()
        return self.condition([""])

    def subquery(self):
        keys = ", ".join("CAST(%s AS %s)" % (k, self.id.type) for k in self.source_keys)
        first = "(SELECT id FROM {s} WHERE id = %s)" % self.source_keys[0]
        return self.r.choice(["{{id IN (SELECT id FROM {s})}}{{id IN (%s)}}" % keys, "{{id NOT IN (SELECT id FROM {s})}}{{id NOT IN (%s)}}" % keys, "{{id NOT IN (SELECT nullif(id, id) FROM {s})}}{{CAST(NULL AS BOOLEAN)}}",
                              "{{EXISTS (SELECT 1 FROM {s} x WHERE x.id = {t}.id)}}{{coalesce(id IN (%s), false)}}" % keys, "{{NOT EXISTS (SELECT 1 FROM {s} x WHERE x.id = {t}.id)}}{{NOT coalesce(id IN (%s), false)}}" % keys,
                              "id = {{(SELECT max(id) FROM {s})}}{{greatest(%s)}}" % keys, "id > {{(SELECT min(id) FROM {s})}}{{least(%s)}} AND %s" % (keys, self.condition([""])),
                              "id <> {{%s}}{{CAST(%s AS %s)}} OR %s" % (first, self.source_keys[0], self.id.type, self.condition([""]))])

    def value(self, c, side):
        """A value for the column; `side`: what may be named."""
        r = self.r
        how = r.random()
        if c.default and how < 0.2:
            return "DEFAULT"
        if how < 0.3:
            return "CAST(%s AS %s)" % (c.value(r), c.type)
        named = lambda x: "%s.%s" % (side, x.name) if side else x.name
        if how < 0.32:
            return named(r.choice(self.given()))                                              # of another type perhaps: store assignment decides
        if how < 0.6 or c.type not in NUMBERS + ("STRING",):
            return named(c)
        if c.type == "STRING":
            return "concat(%s, '+')" % named(c) if r.random() < 0.5 else "coalesce(%s, 'none')" % named(c)
        return "%s %s %d" % (named(c), r.choice("+-*"), r.randint(1, 3))

    def assignments(self, side):
        r = self.r
        out, columns = [], [c for c in self.columns if c.given]
        for c in r.sample(columns, r.randint(1, min(3, len(columns)))):
            if c.name == "st" and r.random() < 0.5:
                out.append("st.x = %d" % r.randint(0, 9))
            elif c.name == "ns" and r.random() < 0.5:
                out.append("ns.a.b = %d" % r.randint(0, 9))
            else:
                out.append("%s = %s" % (c.name, self.value(c, side)))
        return ", ".join(out)

    # ---- statements ----

    def statement(self):
        make, weight = zip((self.merge, 12), (self.update, 5), (self.delete, 4), (self.insert, 2), (self.overwrite, 1.5), (self.alter, 1))
        made = self.r.choices(make, weight)[0]()
        return made if isinstance(made, tuple) else (made, {})

    def insert(self):
        r, n = self.r, self.r.randint(1, 5)
        how = r.random()
        if how < 0.3:
            some = [c for c in self.given() if c is self.id or r.random() < 0.7]
            r.shuffle(some)
            return "INSERT INTO {t} (%s) SELECT %s FROM %s" % ((", ".join(c.name for c in some),) * 2 + (self.rows(n, "v"),))
        if how < 0.5:
            return "INSERT INTO {t} BY NAME SELECT * FROM " + self.rows(n, "v")
        return "INSERT INTO {t} %s SELECT * FROM %s" % (self.names(), self.rows(n, "v"))

    def overwrite(self):
        """What takes rows away by a predicate or by partition and brings others."""
        r, rows = self.r, self.rows(self.r.randint(1, 5), "v")
        if len(self.given()) < len(self.columns):
            return "INSERT OVERWRITE {t} %s SELECT * FROM %s" % (self.names(), rows)
        if self.partitions and r.random() < 0.5:
            if r.random() < 0.5:
                return "INSERT OVERWRITE {t} SELECT * FROM " + rows, {"spark.sql.sources.partitionOverwriteMode": "dynamic"}
            p = self.partitions[0]
            names = [c.name for c in self.columns if c is not p]
            return "INSERT OVERWRITE {t} PARTITION (p = %s) SELECT %s FROM %s" % (p.value(r), ", ".join(names), rows)
        if r.random() < 0.2:
            return r.choice(["INSERT OVERWRITE {t} SELECT * FROM " + rows, "DELETE FROM {t}", "TRUNCATE TABLE {t}"])
        where = self.atom("", self.partitions if self.partitions and r.random() < 0.5 else None)
        return "INSERT INTO {t} REPLACE WHERE %s SELECT * FROM %s%s" % (where, rows, " WHERE " + where if r.random() < 0.8 else "")

    def update(self):
        return "UPDATE {t} SET %s%s" % (self.assignments(""), " WHERE " + self.where() if self.r.random() < 0.9 else "")

    def delete(self):
        return "DELETE FROM {t} WHERE " + self.where() if self.r.random() < 0.97 else "DELETE FROM {t}"

    def free(self):
        """Columns that nothing depends on."""
        texts = " ".join(list(self.declared.values()) + [self.constraint or ""]).split()
        words = {w.strip("(),") for w in texts}
        return [c for c in self.given() if c is not self.id and c not in self.partitions and c.name not in words]

    def alter(self):
        r, ways = self.r, ["add", "set"]
        free = self.free()
        if self.mapped and len(free) > 1:
            ways += ["rename", "drop"]
        if self.widens and any(c.type in ("INT", "TINYINT") and not c.default for c in free):
            ways.append("widen")
        way = r.choice(ways)
        if way == "set":
            return "ALTER TABLE {t} SET TBLPROPERTIES (%s)" % r.choice(["'fuzz.note' = 'x'", "'delta.enableDeletionVectors' = 'true'", "'delta.enableDeletionVectors' = 'false'"])
        self.added += 1
        if way == "add":
            c = r.choice(COLUMNS).but(name="z%d" % self.added)
            where = r.choice(["", "", " FIRST", " AFTER id"])
            at = {"": len(self.columns), " FIRST": 0, " AFTER id": self.columns.index(self.id) + 1}[where]
            self.columns.insert(at, c)
            return "ALTER TABLE {t} ADD COLUMN %s %s%s" % (c.name, c.type, where)
        if way == "widen":
            c = r.choice([c for c in free if c.type in ("INT", "TINYINT") and not c.default])
            new = {"TINYINT": "INT", "INT": "BIGINT"}[c.type]
            self.columns[self.columns.index(c)] = c.but(type=new)
            return "ALTER TABLE {t} ALTER COLUMN %s TYPE %s" % (c.name, new)
        c = r.choice(free)
        if way == "drop":
            self.columns.remove(c)
            return "ALTER TABLE {t} DROP COLUMN %s" % c.name
        self.columns[self.columns.index(c)] = c.but(name="y%d" % self.added)
        return "ALTER TABLE {t} RENAME COLUMN %s TO y%d" % (c.name, self.added)

    # ---- MERGE ----

    def merge(self):
        r = self.r
        n = r.choice([0, 1, 3, 6, 10])
        keys = [r.choice(self.keys) for _ in range(n)] if r.random() < 0.15 else r.sample(self.keys, n)
        if n and r.random() < 0.2:
            keys[r.randrange(n)] = "NULL"
        source = "(SELECT * FROM %s)" % self.rows(n, "v", keys) if n else "(SELECT * FROM %s WHERE false)" % self.rows(1, "v")
        if [(c.name, c.type) for c in self.columns] == [(c.name, c.type) for c in self.source_columns] and r.random() < 0.2:
            source = "{s}"
        if r.random() < 0.08:
            return self.evolving_merge(source)
        on = "t.id %s s.id" % ("=" if r.random() < 0.9 else "<=>")
        if self.partitions and r.random() < 0.4:
            on += " AND t.p = s.p"
        if r.random() < 0.3:
            on += " AND " + self.condition(r.choice([["t"], ["s"], ["t", "s"]]))
        if r.random() < 0.03:
            on = r.choice(["false", "t.id = s.id OR t.id IS NULL", "true"])
        return self.merge_text(source, on, self.conditioned(self.clauses()))

    def clauses(self):
        r, clauses = self.r, []
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            action = "DELETE" if r.random() < 0.35 else "UPDATE SET *" if r.random() < 0.3 else "UPDATE SET " + self.assignments(r.choice("ts"))
            clauses.append(["WHEN MATCHED", ["t", "s"], action])
        for _ in range(r.choice([0, 1, 1, 2])):
            some = [self.id] + r.sample([c for c in self.given() if c is not self.id], r.randint(0, len(self.given()) - 1))
            values = "INSERT (%s) VALUES (%s)" % (", ".join(c.name for c in some), ", ".join(self.value(c, "s") for c in some))
            clauses.append(["WHEN NOT MATCHED", ["s"], "INSERT *" if r.random() < 0.5 else values])
        for _ in range(r.choice([0, 0, 1, 2])):
            action = "DELETE" if r.random() < 0.5 else "UPDATE SET " + self.assignments("t")
            clauses.append(["WHEN NOT MATCHED BY SOURCE", ["t"], action])
        return clauses or [["WHEN NOT MATCHED", ["s"], "INSERT *"]]

    def conditioned(self, clauses):
        for i, c in enumerate(clauses):
            last = i + 1 == len(clauses) or clauses[i + 1][0] != c[0]
            c[1] = None if last and self.r.random() < 0.5 else self.condition(c[1])
        return clauses

    def merge_text(self, source, on, clauses):
        """clauses: kind, condition or None, action"""
        return "MERGE INTO {t} t USING %s s ON %s %s" % (source, on, " ".join("%s%s THEN %s" % (when, " AND " + condition if condition else "", action) for when, condition, action in clauses))

    def evolving_merge(self, source):
        """A star brings a new column, or another field of the struct."""
        r = self.r
        self.added += 1
        stars = ["WHEN MATCHED THEN UPDATE SET *", "WHEN NOT MATCHED THEN INSERT *", "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"]
        struct = next((c for c in self.columns if c.name == "st"), None)
        if struct and r.random() < 0.5:
            field = "z%d" % self.added
            self.columns[self.columns.index(struct)] = struct.but(type=struct.type[:-1] + ", %s: INT>" % field, values=["%s, '%s', %s)" % (v[:-1], field, r.choice(["3", "CAST(NULL AS INT)"])) for v in struct.values])
            n = r.randint(1, 5)
            return "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT * FROM %s) s ON t.id = s.id %s" % (self.rows(n, "v", r.sample(self.keys, n)), r.choice(stars))
        name = "e%d" % self.added
        new = Column(name, r.choice(["INT", "STRING", "STRUCT<x: INT>"]), [], False)
        new.values = {"INT": ["1", "2"], "STRING": ["'e'"], "STRUCT<x: INT>": ["named_struct('x', 3)"]}[new.type]
        self.columns.append(new)
        clauses = r.choice(stars + ["WHEN MATCHED THEN UPDATE SET %s = s.%s" % (name, name)])
        return "MERGE WITH SCHEMA EVOLUTION INTO {t} t USING (SELECT *, CAST(%s AS %s) AS %s FROM %s) s ON t.id = s.id %s" % (new.values[0], new.type, name, source, clauses)
