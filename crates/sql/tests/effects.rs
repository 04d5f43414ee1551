//! What is known of statements, and what servers read in another way.

use spindle_sql::Dialect::{MySql, Postgres, Sqlite, Unknown};
use spindle_sql::{Dialect, Effect, effect};

const ALL: &[Dialect] = &[MySql, Postgres, Sqlite];

fn of(text: &str, dialect: Dialect) -> Effect {
    effect(text.as_bytes(), dialect, &|_| false)
}

#[track_caller]
fn all_are(expected: Effect, dialects: &[Dialect], texts: &[&str]) {
    for text in texts {
        for dialect in dialects {
            assert_eq!(of(text, *dialect), expected, "{dialect:?}: {text}");
        }
    }
}

#[test]
fn plain_statements() {
    all_are(
        Effect::Nothing,
        ALL,
        &[
            "",
            "  -- nothing\n",
            "select 1",
            " SELECT * FROM users WHERE id = ? ; ; -- end\n",
            "(select 1) union (select 2)",
            "select count(*), max(a), coalesce(b, 'x;y') from t where a in (1, 2) and (b = 'it''s' or c between 1 and 2)",
            "select \"a;b\" from t group by a having count(distinct b) > 1",
            "insert into t (a, b) values (1, 'x'), (2, 'set @a := 1; lock tables')",
            "insert into main.t (a) select replace(b, 'a', 'b') from t",
            "INSERT INTO \"t\" (\"a\") VALUES (:a)",
            "replace into t (a) values (1)",
            "insert or replace into t(a) values(1)",
            "update t set a = a + 1, b = lower(b) where id = 3",
            "delete from t where exists (select 1 from u where u.id = t.id)",
            "with a as (select 1 as x) select * from a",
            "with recursive a (n) as (select 1 union all select n + 1 from a where n < 5) select * from a",
            "with a as (select 1) insert into t (x) select * from a",
            "create table t (a int primary key, b varchar(255) not null default 'x', c decimal(10, 2), unique (b), check (a > 0))",
            "create table if not exists t (a int references u (id), foreign key (a) references u (id))",
            "create unique index i on t (lower(b), c)",
            "create index if not exists i on t (a)",
            "create view v (a) as select 1",
            "drop table t",
            "drop table if exists a, b",
            "drop index i",
            "alter table t add column c varchar(20)",
            "explain select * from t",
            "select /* set x = 1; */ 1",
            "/* leading */ select 1",
            "select cast(a as varchar(10)) from t order by row_number() over (partition by a order by b)",
            "select 1.5, 1e10, 2e-3",
            "select 'unclosed",
            "select * from (values (1, 2)) as t (a, b)",
        ],
    );
    all_are(
        Effect::Nothing,
        &[MySql],
        &[
            "insert ignore into t (a) values (1) on duplicate key update a = values(a)",
            "insert low_priority t (a) values (1)",
            "select 'O\\'Brien'",
            "select \"a\\\"b c\", 'd'",
            "select 1 -1 --1",
            "select 1 # set @a = 1\n, 2",
            "select @@version, @@session.sql_mode, @@global.time_zone",
            "update t set id = last_insert_id(id + 1)",
            "create table t (`key` int(11), KEY `k` (`key`), fulltext key f (b)) engine=innodb default charset=utf8mb4",
            "create table other.t (a enum('a', 'b'))",
            "explain format=json select 1",
            "desc t",
            "describe other.t",
            "show tables",
            "truncate table t",
            "rename table a to b",
            "select if(a > 1, date_format(b, '%Y'), now()) from t force index (i)",
            "select `a;b` from t for update",
            "select /*+ max_execution_time(10) */ 1",
        ],
    );
    all_are(
        Effect::Nothing,
        &[Postgres],
        &[
            "select a #> '{b}', c @> d, e @@ f, g::numeric(10, 2) from t where h = any(array[1, 2]) and i = $1",
            "select $$ set x = 1; $$, $tag$ it's $$ $tag$, E'a\\'b; c', 'C:\\'",
            "select /* a /* nested */ set x */ 1",
            "insert into public.t (a) values (1) on conflict (a) do update set a = excluded.a returning id",
            "create table public.t (a serial primary key, b numeric(10, 2))",
            "create index concurrently i on public.t using gin (b)",
            "explain (analyze, buffers) select 1",
            "show search_path",
            "select * from generate_series(1, 3) as s (n)",
            "select pg_advisory_xact_lock(1)",
            "notify channel, 'text'",
            "select a -- comment; set x\r, b from t",
        ],
    );
    all_are(
        Effect::Nothing,
        &[Sqlite],
        &[
            "select [a;b], `c`, 'x\\' from t where a = :a and b = @b and c = $c",
            "create virtual table t using fts5 (a, b)",
            "create table main.t (a)",
            "explain query plan select 1",
            "select strftime('%s', 'now')",
        ],
    );
}

#[test]
fn statements_that_may_change_the_connection() {
    all_are(
        Effect::Changes,
        ALL,
        &[
            "create\ttemporary\ttable t (a int)",
            "create\ntemp\ntable t (a int)",
            "CREATE/**/TEMPORARY/* a */TABLE t (a int)",
            "create -- comment\n temp table t (a int)",
            "create temp view v as select 1",
            "create or replace temp view v as select 1",
            "drop temporary table t",
            "select 1 into t",
            "select 1 into temp t",
            "select 1 replace into temp t",
            "select (1) replace into temp t",
            "with a as (select 1) select (1) replace into temp t",
            "with a as (select 1) select * into t from a",
            "set a = 1",
            "set local a = 1; set b = 2",
            "select 1; set a = 1",
            "select 1;;set a = 1",
            "select '1';-- end\nset a = 1",
            "insert into t values (1); insert into t values (2)",
            "select get_lock('a', 1)",
            "select get_lock ('a', 1)",
            "select get_lock/**/('a', 1)",
            "select get_lock\n('a', 1)",
            "select a.get_lock('a', 1)",
            "select \"get_lock\"('a', 1)",
            "select * from t where release_all_locks()",
            "insert into t values (get_lock('a', 1))",
            "insert into t (a) values (my_function(1))",
            "select set_config('a', 'b', false)",
            "select setseed(0.5)",
            "select pg_advisory_lock(1)",
            "select pg_catalog.set_config('a', 'b', false)",
            "select dblink_connect('x')",
            "unlock tables",
            "prepare p as select 1",
            "prepare p from 'select 1'",
            "execute p",
            "deallocate p",
            "listen channel",
            "unlisten *",
            "discard all",
            "reset all",
            "do $$ begin perform set_config('a', 'b', false); end $$",
            "do 1",
            "call p()",
            "call p",
            "use other",
            "pragma foreign_keys = on",
            "attach 'x' as y",
            "load data infile 'x' into table t",
            "copy t from stdin",
            "declare c cursor with hold for select 1",
            "handler t open",
            "flush tables with read lock",
            "xa start 'x'",
            "selec",
            "?",
            "'select 1'",
            "alter session set x = 1",
            "alter database d set x = 1",
            "explain analyze execute p",
            "explain (analyze) create table t as select 1",
            "create table t as select get_lock('a', 1)",
            "create table t (a int default get_lock('a', 1))",
            "commit and chain",
            "rollback and chain",
            "commit; set a = 1",
            "select 1 /* ; */ ; set a = 1",
            "select a from t where b = 'x\0y'",
        ],
    );
    all_are(
        Effect::Changes,
        &[MySql],
        &[
            "lock tables t write",
            "select 1 into @_x",
            "select 1 into @`x`",
            "select 1 into @'x'",
            "select 1 into @\"x\"",
            "select 1 into @.x",
            "select 1 into @$x",
            "select 1 into@x",
            "select @x := 1",
            "select @_x:=1",
            "select @x",
            "select /*! get_lock('a', 1) */",
            "select 1 /*!50000 into @x */",
            "select 1 /*M! into @x */",
            "select 1 --1; set a = 1",
            "select '\\'; set a = 1 -- '",
            "select \"\\\"; set @a = '\\'; select \"1",
            "select @@rand_seed1",
            // Two statements, if the server takes backslashes for letters.
            "select 'it\\'s; ok'",
            "drop database d",
            "select $count(1)",
            "select 1 # comment\n into @x",
            "set statement max_statement_time = 1 for select 1",
            "grant all on *.* to 'a'@'b'",
        ],
    );
    all_are(
        Effect::Changes,
        &[Postgres],
        &[
            "update pg_settings set setting = 'b' where name = 'a'",
            "with a as (update pg_catalog.\"pg_settings\" set setting = 'b' returning 1) select 1",
            "create table pg_temp.t (a int)",
            "create table \"pg_temp\".t (a int)",
            "create table U&\"pg_\\0074emp\".t (a int)",
            "create table U&\"pg_\\0074emp\".t as select 1",
            "select $1$a$'$a$ || set_config('a', 'b', false) || ''",
            "select 1a$b$, set_config('a', 'b', false) as c$b$",
            "select E'\\'' || set_config('a', 'b', false) || ''",
            "select '\\' || set_config('a', 'b', false) || ''",
            "select /* /* */ 1 */ 2; set a = 1",
            "select 1 # 2 ; set a = 1",
            "select * from set_config('a', 'b', false) as t (a)",
            "select 1 --\r; set a = 1",
            "select U&\"s\\0065t_config\"('a', 'b', false)",
        ],
    );
    all_are(
        Effect::Changes,
        &[Sqlite],
        &[
            "create table temp.t (a)",
            "create table 'temp'.t (a)",
            "create table if not exists temp.t (a)",
            "select :count(')'), load_extension('x'), ':",
            "select $count(') , load_extension('x') , ')",
            "vacuum into 'file'",
            "select 'a\\'; attach 'x' as y; --'",
        ],
    );
    assert_eq!(effect(b"select '\xbf\\' into @x -- '", MySql, &|_| false), Effect::Changes);
}

#[test]
fn results_about_earlier_statements() {
    all_are(
        Effect::Reads,
        &[MySql],
        &[
            "select last_insert_id()",
            "select LAST_INSERT_ID( /* none */ )",
            "insert into t (a) values (last_insert_id())",
            "select row_count(), found_rows()",
            "select @@identity",
            "select @@last_insert_id, @@warning_count",
            "show warnings",
            "show status",
            "SHOW SESSION STATUS LIKE 'Handler%'",
            "show local status where variable_name = 'Questions'",
            "show count(*) errors",
            "select previous value for s",
        ],
    );
    all_are(Effect::Reads, &[Postgres], &["select lastval()", "select currval('s')"]);
    all_are(Effect::Reads, &[Sqlite], &["select last_insert_rowid()", "select changes()", "select total_changes()"]);
}

#[test]
fn names_like_those_of_reads_are_names() {
    all_are(
        Effect::Nothing,
        ALL,
        &["select currval from t", "insert into t (currval) values (1)", "select changes from t"],
    );
    all_are(Effect::Nothing, &[Postgres, Sqlite], &["select t.lastval, t.currval from t"]);
    all_are(
        Effect::Nothing,
        &[MySql],
        &[
            "show columns from errors",
            "show index from profile",
            "show create table warnings",
            "show global status",
            "show table status",
            "show session variables",
            "show tables from count",
        ],
    );
    // Of users, in these languages.
    all_are(Effect::Changes, &[Postgres], &["select last_insert_id()", "select changes()", "select row_count()"]);
    all_are(Effect::Changes, &[MySql], &["select changes()", "select currval(1)"]);
    // Variables of a scope are those that they are without it.
    all_are(
        Effect::Reads,
        &[MySql],
        &["select @@session.last_insert_id", "select @@session . warning_count", "select @@local.identity"],
    );
    all_are(Effect::Nothing, &[MySql], &["select @@global.version, @@session.sql_mode"]);
    all_are(
        Effect::Changes,
        &[MySql],
        &["select @@session.`identity`", "select @@session.unknown", "select @@session.@x"],
    );
}

#[test]
fn functions_that_other_languages_have_are_users_own() {
    all_are(
        Effect::Changes,
        &[Postgres],
        &["select total(1)", "select hex('a')", "select instr(1)", "select year(1)", "select json(1)"],
    );
    all_are(Effect::Changes, &[MySql], &["select total(1)", "select string_agg(1)", "select random()"]);
    all_are(
        Effect::Nothing,
        &[Postgres],
        &["select count(*) filter (where a) over (partition by (b)) from t", "select random()"],
    );
    all_are(
        Effect::Nothing,
        &[Postgres],
        &["insert into t (a) values (1) on conflict (a) do update set (a, b) = (1, 2)"],
    );
}

#[test]
fn what_only_looks_like_a_plain_statement() {
    all_are(
        Effect::Changes,
        &[Postgres],
        &[
            "create table postgres.pg_temp.t (a int)",
            "create view a.\"pg_temp\".v as select 1",
            "select plan replace into temp t from (select 1 as plan) x",
            "select format merge into temp t from x",
            "select a as json insert into temp t from x",
            "create table index as select 1 from a join b on set_config('a.b', 'c', false) <> ''",
            "select E'\u{4e2d}\\', set_config('a.b', 'gbk', false)",
        ],
    );
    all_are(
        Effect::Nothing,
        &[Postgres],
        &["create table a.b.t (a int)", "explain analyze verbose insert into t values (1)"],
    );
    all_are(Effect::Changes, &[MySql], &["create or replace database d", "create or replace schema d", "start slave"]);
    all_are(
        Effect::Nothing,
        &[MySql],
        &["create or replace table t (a int)", "create database d", "create or replace view v as select 1"],
    );
    for text in [b"select 1 --\xa0'\n, get_lock('a',1) -- '".as_slice(), b"select \x83`, get_lock('b',1), \x83` from t"]
    {
        assert_eq!(effect(text, MySql, &|_| false), Effect::Changes);
    }
}

#[test]
fn transactions() {
    let any = &[MySql, Postgres, Sqlite, Unknown];
    all_are(Effect::Begins, any, &["begin", "BEGIN;", "start transaction", " begin work "]);
    all_are(Effect::Begins, ALL, &["begin immediate"]);
    all_are(Effect::Ends, any, &["commit", "COMMIT ;", "end", "rollback", "rollback work", "commit transaction"]);
    all_are(
        Effect::InTransaction,
        ALL,
        &["savepoint a", "release savepoint a", "rollback to a", "rollback work to savepoint a"],
    );
    all_are(
        Effect::InTransaction,
        &[Postgres],
        &["set local a = 1", "set transaction isolation level serializable", "lock table t"],
    );
    all_are(Effect::Changes, &[MySql], &["set transaction isolation level serializable", "set local a = 1"]);
    all_are(Effect::Changes, any, &["commit work transaction", "rollback prepared 'x'", "commit 'x'", "end if"]);
}

#[test]
fn unknown_languages() {
    all_are(Effect::Changes, &[Unknown], &["select 1", "select 1 use x", "insert into t values (1)", "begin; set a"]);
    // Nothing has to stand between two statements.
    let two = ["begin transaction set nocount on", "begin set nocount on end", "start x set y", "rollback to x set y"];
    all_are(Effect::Changes, &[Unknown], &two);
}

#[test]
fn functions_that_a_program_knows() {
    let known = |name: &[u8]| name == b"twice";
    assert_eq!(effect(b"select TWICE(2)", Sqlite, &known), Effect::Nothing);
    assert_eq!(effect(b"select thrice(2)", Sqlite, &known), Effect::Changes);
    assert_eq!(effect(b"select a.twice(2)", Postgres, &known), Effect::Changes);
}

proptest::proptest! {
    /// Spaces and comments between the parts of a statement change nothing.
    #[test]
    fn comments_between_parts(parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..12)) {
        for dialect in ALL {
            let plain = of(&parts.join(" "), *dialect);
            for between in ["\t", "\n", " /* ; */ ", "/**/", " -- x; '\n"] {
                let text = parts.join(between);
                proptest::prop_assert_eq!(of(&text, *dialect), plain, "{:?}: {}", dialect, text);
            }
        }
    }

    /// No text panics.
    #[test]
    fn any_bytes(text in proptest::collection::vec(proptest::sample::select(b"aeE01$@'\"`\\[]()./*-#;! \n\xbf".as_slice()), 0..40)) {
        for dialect in ALL {
            let _ = effect(&text, *dialect, &|_| false);
        }
    }
}

const PARTS: &[&str] = &[
    "select",
    "insert",
    "into",
    "t",
    "(",
    ")",
    "set",
    "create",
    "temp",
    "table",
    "count",
    "get_lock",
    "'a;b'",
    "\"c\"",
    "1",
    "as",
    ",",
    "with",
    "replace",
    "explain",
    "begin",
    "commit",
    "savepoint",
    "last_insert_id",
    "from",
    "where",
    "exists",
    ";",
];
