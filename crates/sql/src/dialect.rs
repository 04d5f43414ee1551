//! The languages of servers.

/// A language of SQL.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// MySQL and MariaDB.
    MySql,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
    /// An unknown dialect: only transaction statements are recognised, everything else changes the connection.
    #[default]
    Unknown,
}

impl Dialect {
    /// Returns the language of a driver of PDO.
    #[must_use]
    pub fn of_driver(name: &[u8]) -> Dialect {
        match name {
            b"mysql" => Dialect::MySql,
            b"pgsql" => Dialect::Postgres,
            b"sqlite" => Dialect::Sqlite,
            _ => Dialect::Unknown,
        }
    }
}
