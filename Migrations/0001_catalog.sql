-- What the file says about itself, so that a program without the Swift types knows the models.
-- "format" is the form of the JSON beside it: a library leaves entries of a higher one alone.

CREATE TABLE _ms_models (
  name TEXT NOT NULL PRIMARY KEY,
  format INTEGER NOT NULL,
  definition TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE _ms_bindings (
  name TEXT NOT NULL PRIMARY KEY,
  format INTEGER NOT NULL,
  definition TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE _ms_validators (
  name TEXT NOT NULL PRIMARY KEY,
  format INTEGER NOT NULL,
  definition TEXT NOT NULL
) STRICT, WITHOUT ROWID;
