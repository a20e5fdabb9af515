-- tables with features: the change feed sees nothing, row ids stay, append-only tables are compacted
CREATE TABLE f (id BIGINT, g STRUCT<a: INT, b: ARRAY<STRING>>, m MAP<STRING, INT>, gone INT) USING DELTA TBLPROPERTIES (delta.enableChangeDataFeed = true, delta.enableRowTracking = true, delta.columnMapping.mode = 'name', delta.appendOnly = true);
INSERT INTO f SELECT id, named_struct('a', CAST(id AS INT), 'b', array('x', CAST(id AS STRING))), map('k', CAST(id AS INT)), 1 FROM range(0, 3, 1, 1);
INSERT INTO f SELECT id, named_struct('a', CAST(id AS INT), 'b', array(null)), map(), 2 FROM range(3, 5, 1, 1);
INSERT INTO f SELECT id, null, null, null FROM range(5, 6, 1, 1);
SELECT *, _metadata.row_id, _metadata.row_commit_version FROM f ORDER BY id;
OPTIMIZE f;
SELECT *, _metadata.row_id, _metadata.row_commit_version FROM f ORDER BY id;
SELECT id, _change_type, _commit_version FROM table_changes('f', 1) ORDER BY id;
ALTER TABLE f DROP COLUMN gone;
REORG TABLE f APPLY (PURGE);
SELECT *, _metadata.row_id, _metadata.row_commit_version, count(_metadata.file_path) OVER () AS n FROM f ORDER BY id;
-- odd partition values
CREATE TABLE w (a INT, d DATE, t TIMESTAMP, b BOOLEAN, c DECIMAL(5, 2), n STRING) USING DELTA PARTITIONED BY (d, t, b, c, n);
INSERT INTO w VALUES (1, DATE'2020-02-29', TIMESTAMP'1969-12-31 23:59:59.999999', true, 1.50, 'a/b=c %'), (2, null, null, null, null, null);
INSERT INTO w VALUES (3, DATE'2020-02-29', TIMESTAMP'1969-12-31 23:59:59.999999', true, 1.5, 'a/b=c %'), (4, null, null, null, null, '');
OPTIMIZE w WHERE d = '2020-02-29' AND t < TIMESTAMP'1970-01-01 00:00:00' AND b AND c = 1.5 AND n LIKE 'a/b%';
SELECT n, count(*), count(DISTINCT _metadata.file_path) FROM w GROUP BY n ORDER BY n;
OPTIMIZE w WHERE coalesce(n, 'none') = 'none' AND t IS NULL;
SELECT n, count(*), count(DISTINCT _metadata.file_path) FROM w GROUP BY n ORDER BY n;
SELECT * FROM w ORDER BY a;
-- generated names, checks and defaults are not asked again
CREATE TABLE k (id INT NOT NULL, s STRING) USING DELTA;
INSERT INTO k VALUES (1, 'a');
INSERT INTO k VALUES (2, 'b');
ALTER TABLE k ADD CONSTRAINT positive CHECK (id > 0);
OPTIMIZE k;
SELECT * FROM k ORDER BY id;
