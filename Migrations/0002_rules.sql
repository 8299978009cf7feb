-- Rules that were added to models, beside those in their tables' definitions. Each is kept by the
-- triggers or the index whose names begin with "_ms_rule_" and its own.

CREATE TABLE _ms_rules (
  name TEXT NOT NULL PRIMARY KEY,
  format INTEGER NOT NULL,
  definition TEXT NOT NULL
) STRICT, WITHOUT ROWID;
