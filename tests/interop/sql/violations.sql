-- Which rule a row is told to break: CHECKs first, then NOT NULL, then lengths. (Of several rows Spark's tasks tell whichever they meet first.)
CREATE TABLE vo (id INT NOT NULL, v VARCHAR(3), q INT, st STRUCT<a: INT NOT NULL, b: INT>, p INT) USING DELTA PARTITIONED BY (p);
ALTER TABLE vo ADD CONSTRAINT zz CHECK (q > 0);
ALTER TABLE vo ADD CONSTRAINT aa CHECK (q <> 7);
INSERT INTO vo VALUES (1, 'a', 1, named_struct('a', 1, 'b', 1), 1), (2, 'b', 2, named_struct('a', 2, 'b', 2), 2);
INSERT INTO vo VALUES (NULL, 'a', 0, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo VALUES (NULL, 'a', 1, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo VALUES (NULL, 'abcd', 1, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo VALUES (1, 'abcd', 1, named_struct('a', NULL, 'b', 1), 1);
INSERT INTO vo VALUES (1, 'abcd', 0, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo VALUES (1, 'abcd', 7, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo VALUES (1, 'abcd', 1, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo VALUES (1, 'abc', 1, NULL, 1);
INSERT INTO vo VALUES (3000000000, 'abcd', 0, NULL, 1);
-- several rows
-- changes
UPDATE vo SET id = NULL, q = 0 WHERE id = 1;
UPDATE vo SET id = NULL, v = 'abcd' WHERE id = 1;
UPDATE vo SET v = 'abcd', q = 0 WHERE id = 1;
UPDATE vo SET v = 'abcd', st = NULL WHERE id = 1;
MERGE INTO vo t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = NULL, q = 0;
MERGE INTO vo t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = NULL, v = 'abcd';
MERGE INTO vo t USING (SELECT 9 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, v, q, p) VALUES (s.id, 'abcd', 0, 1);
MERGE INTO vo t USING (SELECT 9 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, v, q, p) VALUES (s.id, 'abcd', 1, 1);
-- While a condition says what is replaced, each of them is a row outside of it
INSERT INTO vo REPLACE WHERE p = 1 VALUES (NULL, 'a', 1, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo REPLACE WHERE p = 1 VALUES (1, 'a', 0, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo REPLACE WHERE p = 1 VALUES (1, 'abcd', 1, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo REPLACE WHERE p = 1 VALUES (1, 'abc', 1, NULL, 1);
INSERT INTO vo REPLACE WHERE p = 1 VALUES (3000000000, 'a', 1, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo REPLACE WHERE p = 1 VALUES (NULL, 'a', 1, named_struct('a', 1, 'b', 1), 2);
INSERT INTO vo REPLACE WHERE p = 1 VALUES (1, 'a', 0, named_struct('a', 1, 'b', 1), 2);
INSERT INTO vo REPLACE WHERE v = 'a' VALUES (NULL, 'a', 1, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo REPLACE WHERE v = 'a' VALUES (1, 'a', 0, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo REPLACE WHERE v = 'z' VALUES (NULL, 'abcd', 0, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo REPLACE WHERE v = 'a' VALUES (1, 'a', 0, named_struct('a', 1, 'b', 1), 1), (1, 'z', 1, named_struct('a', 1, 'b', 1), 2);
INSERT INTO vo REPLACE WHERE v = 'a' VALUES (1, 'z', 1, named_struct('a', 1, 'b', 1), 2), (1, 'a', 0, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo REPLACE WHERE false VALUES (1, 'a', 0, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo REPLACE WHERE q > 0 OR q <= 0 VALUES (1, 'a', 0, named_struct('a', 1, 'b', 1), 1);
INSERT OVERWRITE vo PARTITION (p = 1) SELECT NULL, 'a', 1, named_struct('a', 1, 'b', 1);
INSERT OVERWRITE vo PARTITION (p = 1) SELECT 1, 'a', 0, named_struct('a', 1, 'b', 1);
INSERT OVERWRITE vo PARTITION (p = 1) SELECT 1, 'abcd', 1, named_struct('a', 1, 'b', 1);
-- but not where everything is replaced, or nothing
INSERT INTO vo REPLACE WHERE true VALUES (1, 'a', 0, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo REPLACE WHERE 1 = 1 VALUES (NULL, 'a', 1, named_struct('a', 1, 'b', 1), 1);
INSERT OVERWRITE vo SELECT NULL, 'a', 1, named_struct('a', 1, 'b', 1), 1;
INSERT OVERWRITE vo PARTITION (p) SELECT 1, 'a', 0, named_struct('a', 1, 'b', 1), 1;
INSERT INTO vo PARTITION (p = 1) SELECT 1, 'a', 0, named_struct('a', 1, 'b', 1);
SET spark.sql.sources.partitionOverwriteMode = dynamic;
INSERT OVERWRITE vo SELECT 1, 'a', 0, named_struct('a', 1, 'b', 1), 1;
INSERT OVERWRITE vo PARTITION (p = 1) SELECT 1, 'a', 0, named_struct('a', 1, 'b', 1);
SET spark.sql.sources.partitionOverwriteMode = static;
SELECT * FROM vo ORDER BY id;
-- What guards another part of a constraint guards it
CREATE TABLE gu (id INT, d INT) USING DELTA TBLPROPERTIES ('delta.constraints.k' = 'd IS NULL OR d = 0 OR id / d < 100');
INSERT INTO gu VALUES (1, 0), (2, NULL), (3, 1);
INSERT INTO gu VALUES (300, 1);
SELECT * FROM gu ORDER BY id;
CREATE TABLE gs (s STRING) USING DELTA;
INSERT INTO gs VALUES ('abc'), ('7');
ALTER TABLE gs ADD CONSTRAINT k CHECK (NOT s RLIKE '^[0-9]+$' OR CAST(s AS INT) > 5);
INSERT INTO gs VALUES ('x'), ('8');
INSERT INTO gs VALUES ('x'), ('3');
SELECT * FROM gs ORDER BY s;
CREATE TABLE ga (y INT) USING DELTA TBLPROPERTIES ('delta.constraints.a' = 'y <> 0 AND 10 / y > 1');
INSERT INTO ga VALUES (0);
INSERT INTO ga VALUES (5);
SELECT * FROM ga ORDER BY y;
