-- literals and their types
SELECT 1, 1L, 1S, 1Y, 1.5, 1.5D, 1.5F, 1.5BD, 1e3, 1e3F, -7, 0.1, .5, 5., 123456789012, 1E2BD;
SELECT typeof(1), typeof(1L), typeof(1S), typeof(1Y), typeof(1.5), typeof(1.5D), typeof(1.5F), typeof(1.5BD), typeof(1e3), typeof(123456789012), typeof(12345678901234567890), typeof(0.001), typeof(100.00);
SELECT typeof(null), typeof(true), typeof('x'), typeof(X'1F'), typeof(DATE'2020-01-01'), typeof(TIMESTAMP'2020-01-01 00:00:00'), typeof(TIMESTAMP_NTZ'2020-01-01 00:00:00'), typeof(array(1)), typeof(map('a',1)), typeof(struct(1 AS a)), typeof(named_struct('x',1L,'y','s'));
SELECT -2147483648, 2147483647, 2147483648, -9223372036854775808L, 9223372036854775807;
SELECT 'it''s', 'a' 'b', "double", 'tab\tnew\nline', r'raw\n', 'uni\u00e9', '\x41', 'back\\slash', 'per\%cent\_';
SELECT true, false, null, X'DEADBEEF', x'0a';
-- operators
SELECT 7 + 3, 7 - 3, 7 * 3, 7 / 2, 7 % 3, -7 % 3, 7 % -3, 7 div 2, -7 div 2, 7 DIV -2;
SELECT typeof(7 / 2), typeof(7 div 2), typeof(7L div 2), typeof(1 + 1L), typeof(1Y + 1S), typeof(1 + 1.5D), typeof(1 + 1.5), typeof(1L + 1.5), typeof(1.5F + 1), typeof(1.5F + 1L), typeof(1.5F + 1.5), typeof(1Y + 1Y);
SELECT 6 / 3, 1 / 3, 2.0 / 3, 2.0D / 3, 10 / 4L, 1.0F / 3.0F;
SELECT 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, -16 >> 2, -16 >>> 28, shiftleft(1, 10), shiftright(-8, 1), shiftrightunsigned(-8L, 1);
SELECT +5, -(-5), - 5, 2 - -2, -(2 + 3) * 4, 2 + 3 * 4 - 6 / 2 % 2;
SELECT 1 + 2 * 3 = 7, NOT 1 = 2, NOT true AND false, NOT (true AND false), 1 < 2 AND 2 < 3 OR false, 1 | 2 + 4;
SELECT 3 > 2, 3 >= 3, 2 < 3, 2 <= 1, 1 <> 2, 1 != 1, 1 = 1, 1 == 1, 1 <=> null, null <=> null, 1 = null;
SELECT 2 BETWEEN 1 AND 3, 2 NOT BETWEEN 1 AND 3, 2 BETWEEN 3 AND 1, 5 IN (1,2,5), 5 NOT IN (1,2), 5 IN (1, null), 5 NOT IN (1, null), null IN (1);
SELECT pmod(-7, 3), pmod(7, -3), mod(-7, 3), -7 % 3, pmod(-7.5, 2), -7.5 % 2, -7.5D % 2D, pmod(-1L, 4L);
-- decimal precision and scale
SELECT typeof(1.1 + 1.1), typeof(1.1 * 1.1), typeof(1.1 / 1.1), typeof(1.1 % 1.1), typeof(10.12 - 3.456), typeof(cast(1 as decimal(10,2)) / cast(3 as decimal(10,2))), typeof(cast(1 as decimal(38,10)) * cast(3 as decimal(38,10))), typeof(cast(1 as decimal(38,18)) / cast(3 as decimal(38,18))), typeof(cast(1 as decimal(38,0)) + cast(1 as decimal(38,10))), typeof(1.5 + 1), typeof(1 * 1.5), typeof(1L * 1.5);
SELECT cast(1 as decimal(10,2)) / cast(3 as decimal(10,2)), cast(1 as decimal(38,10)) * cast(3 as decimal(38,10)), cast(1 as decimal(38,18)) / cast(3 as decimal(38,18)), 1.1 * 1.1, 10.0 / 3, 2.5 * 4, 0.1 + 0.2, 1.0 - 0.9;
SELECT 10 / 4.0, 10.50 div 3, 10.5 % 3, typeof(10.50 div 3), -10.5 div 3.0, 100 * 1.05, 1.05 * 1.05 * 1.05, typeof(1.05 * 1.05 * 1.05);
SELECT 12345678901234567890.12345678 + 0.00000001, typeof(12345678901234567890.12345678 + 0.00000001), 99999999999999999999999999999999999999 - 1, 0.00000000000000000000000000000000000001;
SELECT cast(12345678901234567890.123456789 as decimal(38,9)) * cast(1.000000001 as decimal(38,9)), typeof(cast(1 as decimal(38,9)) * cast(1 as decimal(38,9)));
SELECT 1.10 = 1.1, 1.10 <=> 1.1, 1.0 = 1, 1.5 > 1, 1.5 = 1.5D, cast(0.1 as float) = 0.1D, cast(0.1 as float) = 0.1, 1.5F = 1.5;
SELECT cast(123.456 as decimal(5,1)), cast(123.45 as decimal(5,1)), cast(-123.45 as decimal(5,1)), cast('1.005' as decimal(10,2)), cast(2.5 as decimal(1,0)), cast(1.23456789012 as decimal(38,20));
SELECT round(2.5), round(3.5), round(-2.5), round(2.345, 2), round(1234.567, -2), round(2.5D), round(0.5D), round(-0.5D), round(1.005D, 2), round(15, -1), round(25, -1), typeof(round(2.345, 2)), typeof(round(2.345)), typeof(round(25, -1)), typeof(round(2.5D));
SELECT bround(2.5), bround(3.5), bround(-2.5), bround(2.345, 2), bround(25, -1), bround(35, -1), bround(2.5D);
SELECT ceil(1.2), ceil(-1.2), floor(1.8), floor(-1.8), ceiling(1.0), ceil(1.2D), floor(-0.5D), ceil(1234.567, 1), floor(1234.567, -2), typeof(ceil(1.2)), typeof(ceil(1.2D)), typeof(floor(1.55D)), typeof(ceil(12345.678));
SELECT abs(-5), abs(5.5), abs(-1.5D), abs(-3L), sign(-3), signum(2.5), sign(0), typeof(sign(-3)), typeof(abs(-5S)), negative(5), positive(-5);
-- functions
-- approx
SELECT sqrt(2), cbrt(27), exp(1), ln(10), log(10), log10(1000), log2(8), log(2, 16), pow(2, 10), power(2, 0.5), exp(0), expm1(1e-10), log1p(1e-10);
-- approx
SELECT sin(1), cos(1), tan(1), asin(1), acos(0), atan(1), atan2(1, 2), sinh(1), cosh(1), tanh(1), degrees(pi()), radians(180), e(), cot(1), sec(1), csc(1), hypot(3, 4), asinh(1), acosh(2), atanh(0.5);
SELECT ln(0), ln(-1), log10(0), sqrt(-1), log(0, 2), acos(2), typeof(sqrt(4)), typeof(pow(2,3)), pow(0, 0), sqrt(4);
SELECT greatest(1, 5, 3), least(1, 5, 3), greatest(1, null, 3), least(null, null), greatest('a', 'B', 'c'), least(1.5, 1), greatest(1, 2.5D), typeof(greatest(1, 2L)), typeof(greatest(1.5, 2)), greatest(DATE'2020-01-01', DATE'2021-01-01');
SELECT bin(10), bin(-1), hex(255), hex('Spark'), hex(X'0aff'), unhex('4D'), conv('100', 2, 10), conv(-10, 16, -10), conv('zz', 36, 10), conv('9223372036854775807', 10, 16), bit_count(7), bit_count(-1), bit_get(11, 0), getbit(11, 2), factorial(5), factorial(20), factorial(21), width_bucket(5.3, 0.2, 10.6, 5), rint(2.5), rint(3.5), rint(-1.5);
SELECT typeof(sum(c)), typeof(avg(c)), typeof(max(c)), typeof(count(c)) FROM VALUES (1), (2) AS t(c);
SELECT typeof(sum(c)), typeof(avg(c)), sum(c), avg(c) FROM VALUES (cast(1.50 as decimal(10,2))), (2.25) AS t(c);
SELECT typeof(sum(c)), typeof(avg(c)), sum(c), avg(c) FROM VALUES (1.5D), (2.25D) AS t(c);
-- floats
SELECT double('NaN'), double('Infinity'), double('-inf'), float('nan'), -0.0D, 0.0D, cast('-0' as double), 0.0D = -0.0D, 0.0D <=> -0.0D;
SELECT double('NaN') = double('NaN'), double('NaN') > double('Infinity'), double('NaN') < 1, isnan(double('NaN')), isnan(1D), isnan(null), nanvl(double('NaN'), 5), nanvl(3D, 5);
SELECT 1.0D / 3.0D, 1e308D * 10D, -1e308D * 10D, 1e-320D, 4.9E-324D, 1.7976931348623157E308D, 0.1D + 0.2D, 100D, 1e7D, 1e20D, 1.0E-5D, 123456.789D;
SELECT 0.1F, 1.1F, 16777217F, 3.4028235E38F, 1.4E-45F, 0.1F + 0.2F, cast(0.1F as double), 1e10F, 1.17549435E-38F;
SELECT double('NaN') IN (double('NaN')), double('Infinity') - double('Infinity'), double('Infinity') * 0, greatest(double('NaN'), 1D), least(double('NaN'), 1D);
SELECT x FROM VALUES (double('NaN')), (1D), (double('-Infinity')), (null), (double('Infinity')), (-0.0D), (0.0D) AS t(x) ORDER BY x NULLS LAST, 1;
SELECT try_add(1, 2), try_add(2147483647, 1), try_subtract(-2147483648, 1), try_multiply(2147483647, 2), try_divide(1, 0), try_divide(3, 2), try_divide(3.0, 2), try_mod(5, 0), try_mod(5, 3), try_divide(1D, 0D);
SELECT div(7, 2), 2147483647L + 1, 1Y + 127S, 32767S + 1, cast(5 as tinyint) * 20Y, 100Y + 27Y;
SELECT int(3.7), bigint('12'), double('1.5'), string(1.50), boolean('yes'), decimal(3), tinyint(5), smallint(6), float(1.5), date('2020-02-03'), timestamp('2020-02-03 04:05:06'), binary('ab');
SELECT hash(1), hash('Spark'), hash(1L), hash(1.5D), hash(null), hash(1, 'a', true), xxhash64('Spark'), xxhash64(1), xxhash64(1L, 'a'), hash(array(1,2)), hash(DATE'2020-01-01'), hash(1.50), hash(named_struct('a', 1, 'b', 'x'));
SELECT md5('Spark'), sha1('Spark'), sha('Spark'), sha2('Spark', 256), sha2('Spark', 0), sha2('Spark', 512), crc32('Spark');
SELECT uniform(1, 1), 1 AS `a b`, 2 AS `select`, 3 `x``y`;
SELECT CASE WHEN 1 > 2 THEN 'a' WHEN 2 > 1 THEN 'b' ELSE 'c' END, CASE 3 WHEN 1 THEN 'one' WHEN 3 THEN 'three' END, CASE WHEN false THEN 1 END, CASE WHEN null THEN 1 ELSE 2 END, typeof(CASE WHEN true THEN 1 ELSE 2.5 END), CASE WHEN true THEN 1 ELSE 2.5 END, if(1 = 1, 'yes', 'no'), if(null, 1, 2), iff(true, 1, 2);
SELECT typeof(if(true, 1, 2L)), typeof(coalesce(1, 2.5D)), typeof(nvl(1Y, 3)), coalesce(null, 1, 2), typeof(CASE WHEN true THEN DATE'2020-01-01' ELSE TIMESTAMP'2020-01-01 00:00:00' END), CASE WHEN true THEN DATE'2020-01-01' ELSE TIMESTAMP'2020-01-01 00:00:00' END;
SELECT 1 + '2', '3' * '4', '10' / 4, '7' % 4, -'5', typeof(1 + '2'), typeof(1.5 + '2'), typeof('3' * '4'), typeof(1D + '2'), 2 > '1', '10' > 9, '1.5' = 1.5, typeof(-'5');
