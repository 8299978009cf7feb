-- Which write-ahead log the database was written through last. The first transaction of a log writes
-- the row, so that the log says which state of the database it continues. A log that continues
-- another state is refused before SQLite applies it.

CREATE TABLE _ms_log (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  link BLOB NOT NULL
) STRICT, WITHOUT ROWID;
