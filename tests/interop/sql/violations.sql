-- Which rule a row is told to break: CHECKs first, then NOT NULL, then lengths, of the first row that breaks one
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
INSERT INTO vo VALUES (NULL, 'a', 1, named_struct('a', 1, 'b', 1), 1), (1, 'a', 0, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo VALUES (1, 'a', 0, named_struct('a', 1, 'b', 1), 1), (NULL, 'a', 1, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo VALUES (1, 'abcd', 1, named_struct('a', 1, 'b', 1), 1), (NULL, 'a', 1, named_struct('a', 1, 'b', 1), 1);
INSERT INTO vo VALUES (1, 'a', 1, named_struct('a', 1, 'b', 1), 1), (1, 'abcd', 1, named_struct('a', 1, 'b', 1), 1), (1, 'a', 0, named_struct('a', 1, 'b', 1), 1);
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
