-- Where transactions of stores end in the change journal, so that the next one is found without
-- reading everything that other programs have entered before it. The condition is in the words in
-- which it is asked for, or SQLite would not use the index.

CREATE INDEX _ms_journal_marks
ON _ms_journal (position)
WHERE layout = 0 AND entry = 1;
