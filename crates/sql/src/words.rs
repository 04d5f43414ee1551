//! Words that are known, in lower case.

use crate::dialect::Dialect;

/// The longest word that is known.
const LONGEST: usize = 40;

/// A word in lower case. One that is too long to be known is empty.
#[derive(Clone, Copy)]
pub struct Name {
    bytes: [u8; LONGEST],
    length: usize,
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Name {}

impl Name {
    pub fn new(word: &[u8]) -> Name {
        let mut bytes = [0; LONGEST];
        let length = if word.len() <= LONGEST { word.len() } else { 0 };
        bytes[..length].copy_from_slice(&word[..length]);
        bytes.make_ascii_lowercase();
        Name { bytes, length }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns the word, which is empty if it is no text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or("")
    }

    pub fn is(&self, word: &str) -> bool {
        self.as_bytes() == word.as_bytes()
    }

    pub fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

/// Returns `true` if a word, or a name in quotes, is this name.
pub fn is_name(word: &[u8], name: &str) -> bool {
    let word = word.strip_prefix(b"\"").and_then(|word| word.strip_suffix(b"\"")).unwrap_or(word);
    word.eq_ignore_ascii_case(name.as_bytes())
}

/// Statements that leave nothing on their connection, if their parts do not.
pub const STATEMENTS: &[&str] = &[
    "select", "insert", "update", "delete", "replace", "merge", "with", "values", "table", "show", "truncate",
    "analyze", "vacuum", "optimize", "reindex", "grant", "revoke", "comment", "notify",
];

/// Statements that can be explained.
pub const QUERIES: &[&str] = &["select", "insert", "update", "delete", "replace", "merge", "with", "values", "table"];

/// What is created and dropped for all connections.
pub const OBJECTS: &[&str] = &[
    "table",
    "index",
    "view",
    "materialized",
    "sequence",
    "schema",
    "database",
    "trigger",
    "function",
    "procedure",
    "type",
    "extension",
];

/// What can be altered without effect on the connection.
pub const ALTERED: &[&str] = &["table", "index", "view", "materialized", "sequence", "type"];

/// What stands between `CREATE` and the kind of object.
pub const OPTIONS_OF_CREATE: &[&str] = &["or", "replace", "unique", "fulltext", "spatial", "unlogged", "virtual"];

/// Statements that explain others.
pub const EXPLAIN: &[&str] = &["explain", "describe", "desc", "analyze"];

/// What stands between `EXPLAIN` and a statement.
pub const OPTIONS_OF_EXPLAIN: &[&str] =
    &["analyze", "verbose", "extended", "partitions", "query", "plan", "format", "json", "tree", "traditional"];

/// What stands between `INSERT` and `INTO`.
pub const OPTIONS_OF_INSERT: &[&str] =
    &["low_priority", "high_priority", "delayed", "ignore", "or", "replace", "abort", "fail", "rollback"];

/// Words that stand before a name whose columns follow in parentheses.
pub const BEFORE_COLUMNS: &[&str] = &[
    "into",
    "table",
    "view",
    "as",
    "references",
    "recursive",
    "key",
    "index",
    "with",
    "insert",
    "low_priority",
    "high_priority",
    "delayed",
    "ignore",
];

/// Of a function that reads what earlier statements have left.
#[derive(Clone, Copy)]
pub struct Reading {
    /// It does with arguments, too.
    pub with_arguments: bool,
}

/// Returns `None` for a function that does not read what earlier statements have left.
pub fn reads(name: Name, dialect: Dialect) -> Option<Reading> {
    let names: &[&str] = match dialect {
        Dialect::MySql if name.is("last_insert_id") => return Some(Reading { with_arguments: false }),
        Dialect::MySql => &["row_count", "found_rows", "lastval"],
        Dialect::Postgres => &["lastval", "currval"],
        Dialect::Sqlite => &["last_insert_rowid", "changes", "total_changes"],
        Dialect::Unknown => &[],
    };
    name.is_one_of(names).then_some(Reading { with_arguments: true })
}

/// Returns whether a variable of MySQL is about earlier statements; `None` for one that is not known.
pub fn variable(name: Name) -> Option<bool> {
    const PLAIN: &[&str] = &[
        "autocommit",
        "basedir",
        "character_set_client",
        "character_set_connection",
        "character_set_database",
        "character_set_results",
        "character_set_server",
        "collation_connection",
        "collation_database",
        "collation_server",
        "datadir",
        "default_storage_engine",
        "hostname",
        "lower_case_table_names",
        "max_allowed_packet",
        "max_connections",
        "port",
        "read_only",
        "server_id",
        "socket",
        "sql_mode",
        "system_time_zone",
        "time_zone",
        "transaction_isolation",
        "tx_isolation",
        "version",
        "version_comment",
        "version_compile_os",
        "wait_timeout",
    ];
    match name.as_str() {
        "identity" | "last_insert_id" | "insert_id" | "warning_count" | "error_count" => Some(true),
        _ if name.is_one_of(PLAIN) => Some(false),
        _ => None,
    }
}

/// Returns `true` for a word before a parenthesis that is no function, or one that changes nothing. Functions of users may have
/// the names of keywords; those of MySQL 8 may be users' in MariaDB.
pub fn is_harmless(name: Name, dialect: Dialect) -> bool {
    let own = match dialect {
        Dialect::MySql => MYSQL,
        Dialect::Postgres => POSTGRES,
        Dialect::Sqlite => SQLITE,
        Dialect::Unknown => &[],
    };
    own.binary_search(&name.as_str()).is_ok()
}

/// Keywords, types and functions of MySQL and MariaDB. Sorted.
#[rustfmt::skip]
const MYSQL: &[&str] = &[
    "abs", "acos", "adddate", "addtime", "aes_decrypt", "aes_encrypt", "against", "all", "analyze", "and", "any",
    "any_value", "as", "ascii", "asin", "atan", "atan2", "avg", "between", "bigint", "bin", "bin_to_uuid", "binary",
    "bit", "bit_and", "bit_count", "bit_length", "bit_or", "bit_xor", "blob", "by", "case", "cast", "ceil", "ceiling",
    "char", "char_length", "character", "character_length", "check", "coalesce", "collate", "columns", "compress",
    "concat", "concat_ws", "connection_id", "conv", "convert", "convert_tz", "cos", "count", "crc32", "cume_dist",
    "curdate", "current_date", "current_time", "current_timestamp", "current_user", "curtime", "database", "date",
    "date_add", "date_format", "date_sub", "datediff", "datetime", "day", "dayname", "dayofmonth", "dayofweek",
    "dayofyear", "dec", "decimal", "default", "degrees", "delete", "dense_rank", "distinct", "div", "double", "else",
    "elt", "enum", "except", "exists", "exp", "explain", "export_set", "extract", "extractvalue", "field",
    "find_in_set", "first_value", "fixed", "float", "floor", "force", "format", "from", "from_base64", "from_days",
    "from_unixtime", "greatest", "group", "group_concat", "grouping", "hash", "having", "hex", "hour", "if", "ifnull",
    "ignore", "in", "index", "inet6_aton", "inet6_ntoa", "inet_aton", "inet_ntoa", "insert", "instr", "int",
    "integer", "intersect", "interval", "is", "is_ipv4", "is_ipv6", "isnull", "join", "json", "json_array",
    "json_arrayagg", "json_compact", "json_contains", "json_contains_path", "json_depth", "json_detailed",
    "json_exists", "json_extract", "json_insert", "json_keys", "json_length", "json_merge", "json_merge_patch",
    "json_merge_preserve", "json_object", "json_objectagg", "json_overlaps", "json_pretty", "json_query",
    "json_quote", "json_remove", "json_replace", "json_search", "json_set", "json_table", "json_type", "json_unquote",
    "json_valid", "json_value", "key", "lag", "last_day", "last_value", "lateral", "lcase", "lead", "least", "left",
    "length", "like", "limit", "linestring", "list", "ln", "localtime", "localtimestamp", "locate", "log", "log10",
    "log2", "lower", "lpad", "ltrim", "make_set", "makedate", "maketime", "match", "max", "md5", "median",
    "mediumint", "microsecond", "mid", "min", "minute", "mod", "month", "monthname", "nchar", "nextval", "not", "now",
    "nth_value", "ntile", "nullif", "number", "numeric", "nvarchar", "oct", "octet_length", "offset", "on", "or",
    "ord", "over", "partition", "percent_rank", "percentile_cont", "period_add", "period_diff", "pi", "point",
    "polygon", "position", "pow", "power", "primary", "quarter", "quote", "radians", "rand", "range", "rank", "real",
    "regexp", "regexp_instr", "regexp_like", "regexp_replace", "regexp_substr", "repeat", "replace", "returning",
    "reverse", "right", "rlike", "round", "row", "row_number", "rows", "rpad", "rtrim", "schema", "sec_to_time",
    "second", "select", "separator", "session_user", "set", "sha", "sha1", "sha2", "sign", "sin", "sleep", "smallint",
    "some", "soundex", "space", "sqrt", "st_astext", "st_contains", "st_distance", "st_distance_sphere",
    "st_geomfromtext", "st_within", "st_x", "st_y", "std", "stddev", "stddev_pop", "stddev_samp", "str_to_date",
    "strcmp", "subdate", "substr", "substring", "substring_index", "subtime", "sum", "sysdate", "system_user",
    "table", "tan", "text", "than", "then", "time", "time_format", "time_to_sec", "timediff", "timestamp",
    "timestampadd", "timestampdiff", "tinyint", "tinytext", "to_base64", "to_days", "to_seconds", "trim", "truncate",
    "ucase", "uncompress", "unhex", "union", "unique", "unix_timestamp", "update", "upper", "use", "user", "using",
    "utc_date", "utc_time", "utc_timestamp", "uuid", "uuid_short", "uuid_to_bin", "value", "values", "var_pop",
    "var_samp", "varbinary", "varchar", "variance", "varying", "version", "week", "weekday", "weekofyear",
    "weight_string", "when", "where", "xor", "year", "yearweek",
];

/// Those of PostgreSQL. Sorted.
#[rustfmt::skip]
const POSTGRES: &[&str] = &[
    "abs", "acos", "age", "all", "always", "analyze", "and", "any", "array", "array_agg", "array_append", "array_cat",
    "array_length", "array_lower", "array_ndims", "array_position", "array_positions", "array_prepend",
    "array_remove", "array_replace", "array_to_json", "array_to_string", "array_upper", "as", "ascii", "asin", "atan",
    "atan2", "avg", "bernoulli", "between", "bigint", "binary", "bit", "bit_and", "bit_length", "bit_or", "bool_and",
    "bool_or", "bpchar", "btrim", "by", "cardinality", "case", "cast", "cbrt", "ceil", "ceiling", "char",
    "char_length", "character", "character_length", "check", "chr", "clock_timestamp", "coalesce", "col_description",
    "collate", "concat", "concat_ws", "conflict", "convert", "convert_from", "convert_to", "corr", "cos", "cosh",
    "count", "covar_pop", "covar_samp", "cube", "cume_dist", "current_database", "current_date", "current_schema",
    "current_schemas", "current_setting", "current_time", "current_timestamp", "current_user", "date", "date_bin",
    "date_part", "date_trunc", "daterange", "dec", "decimal", "decode", "default", "degrees", "delete", "dense_rank",
    "distinct", "div", "double", "else", "encode", "enum", "every", "except", "exclude", "exists", "exp", "explain",
    "extract", "factorial", "filter", "first_value", "float", "floor", "format", "format_type", "from", "gcd",
    "gen_random_uuid", "generate_series", "generate_subscripts", "generated", "get_byte", "greatest", "group",
    "has_table_privilege", "hash", "having", "ilike", "in", "include", "index", "initcap", "insert", "int",
    "int4range", "int8range", "integer", "intersect", "interval", "is", "isempty", "isfinite", "join", "json_agg",
    "json_array_elements", "json_array_elements_text", "json_array_length", "json_build_array", "json_build_object",
    "json_each", "json_each_text", "json_extract_path", "json_extract_path_text", "json_object", "json_object_agg",
    "json_object_keys", "json_populate_record", "json_populate_recordset", "json_strip_nulls", "json_to_record",
    "json_to_recordset", "json_typeof", "jsonb_agg", "jsonb_array_elements", "jsonb_array_elements_text",
    "jsonb_array_length", "jsonb_build_array", "jsonb_build_object", "jsonb_each", "jsonb_each_text", "jsonb_exists",
    "jsonb_extract_path", "jsonb_extract_path_text", "jsonb_insert", "jsonb_object", "jsonb_object_agg",
    "jsonb_object_keys", "jsonb_path_exists", "jsonb_path_match", "jsonb_path_query", "jsonb_path_query_array",
    "jsonb_path_query_first", "jsonb_populate_record", "jsonb_populate_recordset", "jsonb_pretty", "jsonb_set",
    "jsonb_strip_nulls", "jsonb_to_record", "jsonb_to_recordset", "jsonb_typeof", "justify_days", "justify_hours",
    "justify_interval", "key", "lag", "last_value", "lateral", "lcm", "lead", "least", "left", "length", "like",
    "limit", "list", "ln", "localtime", "localtimestamp", "log", "log10", "lower", "lower_inc", "lpad", "ltrim",
    "make_date", "make_interval", "make_time", "make_timestamp", "make_timestamptz", "materialized", "max", "md5",
    "min", "mod", "mode", "nchar", "nextval", "normalize", "not", "now", "nth_value", "ntile", "nullif",
    "num_nonnulls", "num_nulls", "numeric", "numrange", "obj_description", "octet_length", "offset", "on", "or",
    "ordinality", "over", "overlaps", "overlay", "parse_ident", "partition", "percent_rank", "percentile_cont",
    "percentile_disc", "pg_advisory_xact_lock", "pg_advisory_xact_lock_shared", "pg_backend_pid", "pg_column_size",
    "pg_database_size", "pg_get_constraintdef", "pg_get_expr", "pg_get_indexdef", "pg_get_serial_sequence",
    "pg_get_userbyid", "pg_get_viewdef", "pg_is_in_recovery", "pg_notify", "pg_postmaster_start_time",
    "pg_relation_size", "pg_size_pretty", "pg_sleep", "pg_table_is_visible", "pg_table_size",
    "pg_total_relation_size", "pg_try_advisory_xact_lock", "pg_try_advisory_xact_lock_shared", "pg_typeof",
    "phraseto_tsquery", "pi", "plainto_tsquery", "position", "pow", "power", "primary", "quote_ident",
    "quote_literal", "quote_nullable", "radians", "random", "range", "range_agg", "rank", "real", "regexp_count",
    "regexp_instr", "regexp_like", "regexp_match", "regexp_matches", "regexp_replace", "regexp_split_to_array",
    "regexp_split_to_table", "regexp_substr", "regr_count", "repeat", "replace", "returning", "reverse", "right",
    "rollup", "round", "row", "row_number", "row_to_json", "rows", "rpad", "rtrim", "scale", "select", "session_user",
    "set", "sets", "setval", "sha224", "sha256", "sha384", "sha512", "sign", "sin", "sinh", "smallint", "some",
    "split_part", "sqrt", "starts_with", "statement_timestamp", "stddev", "stddev_pop", "stddev_samp", "string_agg",
    "string_to_array", "string_to_table", "strpos", "substr", "substring", "sum", "symmetric", "table", "tablesample",
    "tan", "tanh", "text", "then", "time", "timeofday", "timestamp", "timestamptz", "timetz", "timezone", "to_ascii",
    "to_char", "to_date", "to_hex", "to_json", "to_jsonb", "to_number", "to_timestamp", "to_tsquery", "to_tsvector",
    "transaction_timestamp", "translate", "trim", "trim_array", "trunc", "ts_headline", "ts_rank", "ts_rank_cd",
    "tsrange", "tstzrange", "txid_current", "union", "unique", "unnest", "update", "upper", "upper_inc", "using",
    "vacuum", "values", "var_pop", "var_samp", "varchar", "variance", "varying", "version", "websearch_to_tsquery",
    "when", "where", "width", "width_bucket", "xmlagg", "xmlelement", "xmlforest", "xpath",
];

/// Those of SQLite, and what user code may have registered: its functions are PHP's. Sorted.
#[rustfmt::skip]
const SQLITE: &[&str] = &[
    "abs", "acos", "all", "analyze", "and", "any", "array", "as", "ascii", "asin", "atan", "atan2", "autoincrement",
    "avg", "between", "bigint", "binary", "bit", "bit_length", "blob", "bm25", "boolean", "by", "case", "cast",
    "ceil", "ceiling", "char", "char_length", "character", "character_length", "check", "clob", "coalesce", "collate",
    "concat", "concat_ws", "conflict", "convert", "cos", "cosh", "count", "cube", "cume_dist", "current_date",
    "current_time", "current_timestamp", "date", "date_add", "date_sub", "datetime", "dec", "decimal", "default",
    "degrees", "delete", "dense_rank", "distinct", "double", "else", "enum", "except", "exists", "exp", "explain",
    "extract", "filter", "first_value", "fixed", "float", "floor", "format", "from", "glob", "greatest", "group",
    "group_concat", "having", "hex", "highlight", "ifnull", "iif", "ilike", "in", "include", "index", "insert",
    "instr", "int", "integer", "intersect", "interval", "is", "join", "json", "json_array", "json_array_length",
    "json_arrayagg", "json_each", "json_error_position", "json_extract", "json_group_array", "json_group_object",
    "json_insert", "json_object", "json_objectagg", "json_patch", "json_pretty", "json_quote", "json_remove",
    "json_replace", "json_set", "json_table", "json_tree", "json_type", "json_valid", "jsonb", "jsonb_array",
    "jsonb_object", "julianday", "key", "lag", "last_value", "lateral", "lead", "least", "left", "length", "like",
    "likelihood", "likely", "limit", "ln", "log", "log10", "log2", "lower", "lpad", "ltrim", "match", "materialized",
    "max", "md5", "mediumint", "min", "mod", "nchar", "not", "now", "nth_value", "ntile", "nullif", "number",
    "numeric", "nvarchar", "octet_length", "offset", "on", "or", "over", "overlay", "partition", "percent_rank", "pi",
    "position", "pow", "power", "primary", "printf", "quote", "radians", "random", "randomblob", "range", "rank",
    "real", "regexp", "repeat", "replace", "replace_ignore", "returning", "reverse", "right", "rollup", "round",
    "row", "row_number", "rows", "rpad", "rtrim", "select", "set", "sets", "sha1", "sign", "sin", "sinh", "smallint",
    "snippet", "some", "sqlite_source_id", "sqlite_version", "sqrt", "strftime", "string_agg", "substr", "substring",
    "sum", "table", "tan", "tanh", "text", "than", "then", "time", "timediff", "timestamp", "tinyint", "total",
    "trim", "trunc", "typeof", "unhex", "unicode", "union", "unique", "unixepoch", "unlikely", "update", "upper",
    "using", "vacuum", "value", "values", "varbinary", "varchar", "varying", "when", "where", "year", "zeroblob",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        for list in [MYSQL, POSTGRES, SQLITE] {
            assert!(list.is_sorted());
        }
    }

    #[test]
    fn known_words_are_not_too_long() {
        let lists = [MYSQL, POSTGRES, SQLITE, STATEMENTS, OBJECTS, OPTIONS_OF_INSERT];
        assert!(lists.iter().flat_map(|list| list.iter()).all(|word| word.len() <= LONGEST));
    }
}
