-- INSERT INTO … REPLACE WHERE
CREATE TABLE r (id BIGINT, v STRING, p INT) USING DELTA PARTITIONED BY (p);
INSERT INTO r VALUES (1,'a',1),(2,'b',1),(3,'c',2),(4,'d',2),(5,'e',3),(6,'f',null);
INSERT INTO r REPLACE WHERE p = 2 VALUES (30, 'x', 2);
SELECT * FROM r ORDER BY id;
INSERT INTO r REPLACE WHERE p = 2 VALUES (30, 'x', 3);
INSERT INTO r REPLACE WHERE id < 3 SELECT id, upper(v), p FROM r WHERE id = 1;
SELECT * FROM r ORDER BY id;
INSERT INTO r REPLACE WHERE id > 100 VALUES (200, 'n', 9);
SELECT * FROM r ORDER BY id;
INSERT INTO r REPLACE WHERE id > 100 SELECT * FROM r WHERE false;
INSERT INTO r REPLACE WHERE p IS NULL VALUES (60, 'null', null), (61, 'null', null);
INSERT INTO r REPLACE WHERE p > 0 VALUES (7, 'nullp', null);
INSERT INTO r REPLACE WHERE v = 'x' AND p = 2 VALUES (31, 'x', 2), (32, 'x', 2);
SELECT * FROM r ORDER BY id;
INSERT INTO TABLE r REPLACE WHERE p >= 2 AND id <> 32 TABLE r;
INSERT INTO r REPLACE WHERE nope = 2 VALUES (30, 'x', 2);
INSERT INTO r REPLACE WHERE p VALUES (30, 'x', 2);
INSERT INTO r REPLACE WHERE p = 2 VALUES (30, 'x');
INSERT INTO no_such_table REPLACE WHERE p = 2 VALUES (30, 'x', 2);
INSERT INTO r REPLACE WHERE true VALUES (1, 'only', 1);
SELECT * FROM r ORDER BY id;
INSERT INTO r REPLACE WHERE id IN (SELECT 1L) VALUES (1, 'sub', 1);
SELECT * FROM r ORDER BY id;
-- with deletion vectors
CREATE TABLE rv (id BIGINT, v STRING) USING DELTA TBLPROPERTIES (delta.enableDeletionVectors = true);
INSERT INTO rv SELECT id, concat('v', id) FROM range(20);
INSERT INTO rv REPLACE WHERE id BETWEEN 5 AND 7 VALUES (5, 'five'), (6, null);
INSERT INTO rv REPLACE WHERE v IS NULL VALUES (100, null);
SELECT * FROM rv ORDER BY id;
-- dynamic partition overwrite, null-safe
CREATE TABLE dy (id INT, p STRING, q INT) USING DELTA PARTITIONED BY (p, q);
INSERT INTO dy VALUES (1, 'a', 1), (2, 'a', 2), (3, null, 1), (4, null, null), (5, 'b', null);
SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE dy VALUES (30, null, 1), (40, null, null);
SELECT * FROM dy ORDER BY id;
INSERT OVERWRITE dy VALUES (50, 'b', null), (51, '', 1);
SELECT * FROM dy ORDER BY id;
INSERT OVERWRITE dy SELECT * FROM dy WHERE false;
SELECT count(*) FROM dy;
SET spark.sql.sources.partitionOverwriteMode = static;
-- append-only refuses
CREATE TABLE ra (id INT) USING DELTA TBLPROPERTIES (delta.appendOnly = true);
INSERT INTO ra REPLACE WHERE id = 1 VALUES (1);
INSERT OVERWRITE ra VALUES (1);
-- WITH in front
WITH c AS (SELECT 9L AS id, 'cte' AS v) INSERT INTO rv SELECT * FROM c;
WITH c AS (SELECT 9L AS id, 'cte' AS v) INSERT INTO rv REPLACE WHERE id = 9 SELECT * FROM c;
SELECT * FROM rv WHERE id = 9;
