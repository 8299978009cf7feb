-- What the file says about itself, so that a program without the Swift types knows the models.

CREATE TABLE _ms_models (
  name TEXT NOT NULL PRIMARY KEY,
  schema TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE _ms_bindings (
  name TEXT NOT NULL PRIMARY KEY,
  definition TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE _ms_validators (
  name TEXT NOT NULL PRIMARY KEY,
  model TEXT NOT NULL
) STRICT, WITHOUT ROWID;
