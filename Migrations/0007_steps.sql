-- How each migration came into the list, and what takes it back, so that a program without the
-- migration can revert it. "duration" is in microseconds. "replaced" is a JSON array of the versions
-- for which the migration stands.

ALTER TABLE _ms_migrations ADD COLUMN kind TEXT NOT NULL DEFAULT 'run'
CHECK (kind IN ('run', 'skip', 'baseline', 'squash', 'repair'));

ALTER TABLE _ms_migrations ADD COLUMN reverse TEXT;

ALTER TABLE _ms_migrations ADD COLUMN duration INTEGER;

ALTER TABLE _ms_migrations ADD COLUMN program TEXT;

ALTER TABLE _ms_migrations ADD COLUMN replaced TEXT;
