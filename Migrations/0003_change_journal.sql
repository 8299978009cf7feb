-- The change journal: what every writer changed, in the order of commits. The triggers whose names
-- begin with "_ms_journal_" fill it, in the transaction of the change itself.
--
-- "layout" is a number in _ms_journal_layouts, or 0 for an entry about a transaction or about the
-- journal itself. "entry" says what happened and, with "layout", what c0 and so on hold. The newest
-- row is never removed, so that positions are never used again.

CREATE TABLE _ms_journal (
  position INTEGER NOT NULL PRIMARY KEY,
  layout INTEGER NOT NULL,
  entry INTEGER NOT NULL,
  c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11
);

-- Records that an insertion or update of the running statement may evict, or that one before it
-- might have.

CREATE TABLE _ms_journal_evicted (
  layout INTEGER NOT NULL,
  entry INTEGER NOT NULL,
  c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11
);

-- How the records of a model stand in the journal's rows. The current layout of a model is the one
-- that its triggers fill in now.

CREATE TABLE _ms_journal_layouts (
  number INTEGER NOT NULL PRIMARY KEY,
  model TEXT NOT NULL,
  is_current INTEGER NOT NULL CHECK (is_current IN (0, 1)),
  format INTEGER NOT NULL,
  definition TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX _ms_journal_layouts_current
ON _ms_journal_layouts (model)
WHERE is_current = 1;

-- How far the durable readers of the journal have come. "epoch" is another number each time that a
-- reader is made or moved by hand: what was read before then cannot be acknowledged any more. Times
-- are in microseconds since 1970-01-01 00:00:00 UTC.

CREATE TABLE _ms_journal_consumers (
  name TEXT NOT NULL PRIMARY KEY,
  position INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  acknowledged_at INTEGER
) STRICT, WITHOUT ROWID;
