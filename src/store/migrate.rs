//! The tables' versions: pairs of SQL files with one number and name, embedded, applied forward only.

use sqlx::{
    SqlSafeStr,
    migrate::{Migration, MigrationType, Migrator},
};

/// Number, name, and the text for each engine.
type Pair = (i64, &'static str, &'static str, &'static str);

macro_rules! pair {
    ($number:literal, $name:literal) => {
        (
            $number,
            $name,
            include_str!(concat!("../../migrations/sqlite/000", $number, "_", $name, ".sql")),
            include_str!(concat!("../../migrations/postgres/000", $number, "_", $name, ".sql")),
        )
    };
}

const PAIRS: &[Pair] = &[
    pair!(1, "log"),
    pair!(2, "documents"),
    pair!(3, "registry"),
    pair!(4, "review"),
    pair!(5, "access"),
    pair!(6, "witness"),
];

pub(super) fn sqlite() -> Migrator {
    migrator(|&(_, _, sqlite, _)| sqlite)
}

pub(super) fn postgres() -> Migrator {
    migrator(|&(_, _, _, postgres)| postgres)
}

fn migrator(text: fn(&Pair) -> &'static str) -> Migrator {
    let migration =
        |pair: &Pair| Migration::new(pair.0, pair.1.into(), MigrationType::Simple, text(pair).into_sql_str(), false);
    Migrator::with_migrations(PAIRS.iter().map(migration).collect())
}

impl super::Conn {
    /// Every column of every table: table, column, whether it may be null; sorted. For comparing the engines.
    ///
    /// # Errors
    /// [`super::StoreError`] if the database doesn't answer.
    pub async fn schema(&mut self) -> super::Result<Vec<(String, String, bool)>> {
        const SQLITE: &str = "SELECT t.name, c.name, c.\"notnull\" = 0 FROM sqlite_schema t, pragma_table_info(t.name) c \
             WHERE t.type = 'table' AND t.name NOT GLOB '_sqlx*' AND t.name NOT GLOB 'sqlite*' ORDER BY 1, 2";
        const POSTGRES: &str = "SELECT table_name::text, column_name::text, is_nullable = 'YES' \
             FROM information_schema.columns WHERE table_schema = current_schema() AND left(table_name, 5) <> '_sqlx' \
             ORDER BY table_name::text COLLATE \"C\", column_name::text COLLATE \"C\"";
        Ok(match &mut self.0 {
            super::On::Sqlite(c) => sqlx::query_as(SQLITE).fetch_all(&mut **c).await?,
            super::On::Postgres(c) => sqlx::query_as(POSTGRES).fetch_all(&mut **c).await?,
        })
    }
}
