-- For which declarations the file was found in order. "declarations" is a digest of what a program
-- brings when it opens the file, "catalog" one of the store's own tables. A row counts while the
-- file has this schema version and its catalog this digest; then opening checks nothing else.

CREATE TABLE _ms_reconciled (
  declarations INTEGER NOT NULL PRIMARY KEY,
  schema_version INTEGER NOT NULL,
  catalog INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
