-- Changes that a worker gave up on, so that it could go on with others. "letter" is the change as
-- JSON, because the journal may be trimmed. "replays" is 1 when a person or program has asked the
-- worker to try again. Times are in microseconds since 1970-01-01 00:00:00 UTC.

CREATE TABLE _ms_dead_letters (
  consumer TEXT NOT NULL,
  position INTEGER NOT NULL,
  letter TEXT NOT NULL,
  error TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  failed_at INTEGER NOT NULL,
  replays INTEGER NOT NULL CHECK (replays IN (0, 1)),
  PRIMARY KEY (consumer, position)
) STRICT, WITHOUT ROWID;

-- Which process works for a consumer, when it last took or renewed its lease, and when the lease
-- ends otherwise.

CREATE TABLE _ms_workers (
  consumer TEXT NOT NULL PRIMARY KEY,
  holder TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
