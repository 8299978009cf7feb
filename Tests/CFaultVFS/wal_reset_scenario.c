// The WAL-reset race, made deterministic.
//
// A checkpoint first reads the wal-index header and then the mark up to which the log is already
// copied. Between the two, and only if its header was out of date, it calls xUnfetch(0, NULL). A
// log that is completely copied may be restarted by any writer at that moment: the checkpoint then
// sees a copied mark of zero, takes its old header for current, and finally stores the old length
// as the mark of the new, shorter log. Frames below that mark are never read again.

#include "CFaultVFS.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { row_count = 400, row_width = 300, sql_capacity = 512 };

typedef struct text {
  char *bytes;
  size_t capacity;
  size_t length;
} text;

typedef struct race {
  const char *path;
  sqlite3 *rival;
  fault_vfs_rival write;  // NULL: the rival writes through its own connection
  void *write_context;
  text report;
  int windows;
  int rival_result;
} race;

static void say(text *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(text *report, const char *format, ...) {
  if (report->length + 1 >= report->capacity) return;
  va_list arguments;
  va_start(arguments, format);
  int wanted = vsnprintf(
      report->bytes + report->length, report->capacity - report->length, format, arguments);
  va_end(arguments);
  if (wanted < 0) return;
  report->length += (size_t)wanted;
  if (report->length >= report->capacity) report->length = report->capacity - 1;
}

static bool run(sqlite3 *db, text *report, const char *sql) {
  int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
  if (rc == SQLITE_OK) return true;
  say(report, "%s: %s (%d)\n", sql, sqlite3_errmsg(db), sqlite3_extended_errcode(db));
  return false;
}

// A connection that never checkpoints by itself and never waits for a lock. It has opened its log:
// one that has not reads the schema, and so the current header, at the start of a checkpoint.
static sqlite3 *connect(const char *path, text *report) {
  sqlite3 *db = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
  int rc = sqlite3_open_v2(path, &db, flags, "fault");
  if (rc == SQLITE_OK && run(db, report, "PRAGMA journal_mode = WAL")
      && run(db, report, "PRAGMA wal_autocheckpoint = 0")
      && run(
          db, report,
          "CREATE TABLE IF NOT EXISTS wal_reset_row (id INTEGER PRIMARY KEY, value TEXT)")) {
    return db;
  }
  if (rc != SQLITE_OK) say(report, "open %s: %s\n", path, sqlite3_errstr(rc));
  sqlite3_close(db);
  return NULL;
}

// The statement that rewrites the rows up to `last`, index entries included.
static void spell_generation(char *sql, const char *generation, int last) {
  snprintf(
      sql, sql_capacity,
      "UPDATE wal_reset_row SET value = printf('%s-%%0%dd', id) WHERE id <= %d", generation,
      row_width, last);
}

static int write_generation(sqlite3 *db, const char *generation, int last) {
  char sql[sql_capacity];
  spell_generation(sql, generation, last);
  return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int passive(sqlite3 *db, int *frames, int *copied) {
  return sqlite3_wal_checkpoint_v2(db, "main", SQLITE_CHECKPOINT_PASSIVE, frames, copied);
}

static void enter_window(void *context) {
  race *each = context;
  if (each->windows++ > 0) return;
  if (each->write == NULL) {
    each->rival_result = write_generation(each->rival, "rival", 4);
    return;
  }
  char sql[sql_capacity];
  spell_generation(sql, "rival", 4);
  each->rival_result = each->write(each->write_context, sql);
}

static int plain_checkpoint(void *context) {
  int frames = 0, copied = 0;
  return passive(context, &frames, &copied);
}

typedef struct guarded_connections {
  sqlite3 *guard;
  sqlite3 *checkpointer;
} guarded_connections;

static int guarded_checkpoint(void *context) {
  guarded_connections *both = context;
  int rc = sqlite3_exec(both->guard, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  if (rc != SQLITE_OK) return rc;
  int checkpoint = plain_checkpoint(both->checkpointer);
  rc = sqlite3_exec(both->guard, "ROLLBACK", NULL, NULL, NULL);
  return checkpoint != SQLITE_OK ? checkpoint : rc;
}

// Copies the first column of the first row into `answer`.
static bool ask(sqlite3 *db, text *report, const char *sql, char *answer, size_t capacity) {
  sqlite3_stmt *statement = NULL;
  bool found = sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK
      && sqlite3_step(statement) == SQLITE_ROW;
  if (found) {
    snprintf(answer, capacity, "%s", (const char *)sqlite3_column_text(statement, 0));
  } else {
    say(report, "%s: %s\n", sql, sqlite3_errmsg(db));
  }
  sqlite3_finalize(statement);
  return found;
}

// Leaves the log completely copied, so that the next writer restarts it.
static bool prepare(sqlite3 *db, text *report) {
  char fill[sql_capacity];
  snprintf(
      fill, sizeof fill,
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
      "INSERT INTO wal_reset_row SELECT i, printf('first-%%0%dd', i) FROM n",
      row_count, row_width);
  if (!run(db, report, "DELETE FROM wal_reset_row")
      || !run(db, report, "CREATE INDEX IF NOT EXISTS wal_reset_value ON wal_reset_row (value)")
      || !run(db, report, fill)) {
    return false;
  }
  int frames = -1, copied = -1;
  int rc = passive(db, &frames, &copied);
  if (rc == SQLITE_OK && frames == copied) {
    // A short log of its own, so that the frames lost later belong to one transaction in part.
    rc = write_generation(db, "second", row_count / 8);
    if (rc == SQLITE_OK) rc = passive(db, &frames, &copied);
  }
  say(report, "log before the race: %d frames, %d copied\n", frames, copied);
  if (rc != SQLITE_OK) say(report, "first checkpoint: %s\n", sqlite3_errstr(rc));
  return rc == SQLITE_OK && frames > 4 && frames == copied;
}

// A connection without cached pages, so that it sees what the files hold.
static bool inspect(race *each, bool *intact) {
  sqlite3 *fresh = connect(each->path, &each->report);
  if (fresh == NULL) return false;
  char integrity[256], missing[32], stale[32];
  static const char count_missing[] =
      "SELECT count(*) FROM pragma_integrity_check "
      "WHERE integrity_check LIKE 'row % missing from index %'";
  char count_stale[sql_capacity];
  snprintf(
      count_stale, sizeof count_stale,
      "SELECT count(*) FROM wal_reset_row NOT INDEXED "
      "WHERE value IS NOT printf('last-%%0%dd', id)", row_width);
  bool checked = ask(fresh, &each->report, "PRAGMA integrity_check", integrity, sizeof integrity)
      && ask(fresh, &each->report, count_missing, missing, sizeof missing)
      && ask(fresh, &each->report, count_stale, stale, sizeof stale);
  if (checked) {
    say(&each->report, "integrity_check: %s\n", integrity);
    say(&each->report, "rows missing from the index, among the first 100 problems: %s\n", missing);
    say(&each->report, "rows without the last committed value: %s of %d\n", stale, row_count);
    *intact = strcmp(integrity, "ok") == 0 && strcmp(stale, "0") == 0;
  }
  sqlite3_close(fresh);
  return checked;
}

static fault_vfs_wal_reset judge(const race *each, bool intact) {
  if (!intact) return fault_vfs_wal_reset_damaged;
  if (each->rival_result == SQLITE_OK) return fault_vfs_wal_reset_survived;
  return each->rival_result == SQLITE_BUSY ? fault_vfs_wal_reset_excluded
                                           : fault_vfs_wal_reset_failed;
}

static const char *const outcomes[] = {
    "failed: nothing was proved",
    "not reached: nothing was proved",
    "damaged: this library has the WAL-reset bug and the checkpoint was not guarded",
    "survived: this library is fixed",
    "excluded: the checkpoint was guarded, the rival had to wait",
};

static fault_vfs_wal_reset race_against(
    race *each, fault_vfs_checkpoint checkpoint, void *context) {
  text *report = &each->report;
  char name[PATH_MAX];
  // Hooks match by the end of the name that SQLite passes, which is absolute and link-free.
  if (realpath(each->path, name) == NULL) return fault_vfs_wal_reset_failed;
  fault_vfs_rule hook = fault_vfs_add_hook(fault_vfs_op_unmap, name, enter_window, each);
  if (hook == 0) return fault_vfs_wal_reset_failed;
  int rc = checkpoint(context);
  fault_vfs_disarm(hook);

  say(report, "checkpoint: %s\n", sqlite3_errstr(rc));
  if (each->windows == 0) return fault_vfs_wal_reset_not_reached;
  say(report, "rival's commit in the window: %s\n", sqlite3_errstr(each->rival_result));
  if (rc != SQLITE_OK && rc != SQLITE_BUSY) return fault_vfs_wal_reset_failed;

  bool intact = false;
  rc = write_generation(each->rival, "last", row_count);
  if (rc != SQLITE_OK) {
    say(report, "commit after the race: %s\n", sqlite3_errstr(rc));
    return rc == SQLITE_CORRUPT ? fault_vfs_wal_reset_damaged : fault_vfs_wal_reset_failed;
  }
  return inspect(each, &intact) ? judge(each, intact) : fault_vfs_wal_reset_failed;
}

static fault_vfs_wal_reset conclude(race *each, fault_vfs_wal_reset outcome) {
  say(&each->report, "%s\n", outcomes[outcome]);
  return outcome;
}

// Opens the rival, which also writes the rows, and brings the log into the state to be raced.
static bool begin(race *each) {
  if (each->report.capacity > 0) each->report.bytes[0] = '\0';
  say(&each->report, "SQLite %s %s\n", sqlite3_libversion(), sqlite3_sourceid());
  int rc = fault_vfs_register();
  if (rc != SQLITE_OK) {
    say(&each->report, "VFS: %s\n", sqlite3_errstr(rc));
    return false;
  }
  each->rival = connect(each->path, &each->report);
  return each->rival != NULL && prepare(each->rival, &each->report);
}

fault_vfs_wal_reset fault_vfs_wal_reset_scenario_around(
    const char *path, fault_vfs_checkpoint checkpoint, void *context, char *report, size_t n) {
  race each = {.path = path, .report = {report, n, 0}};
  fault_vfs_wal_reset outcome = fault_vfs_wal_reset_failed;
  if (begin(&each)) outcome = race_against(&each, checkpoint, context);
  outcome = conclude(&each, outcome);
  sqlite3_close(each.rival);
  return outcome;
}

fault_vfs_wal_reset fault_vfs_wal_reset_scenario_against(
    const char *path, fault_vfs_rival rival, void *context, char *report, size_t n) {
  race each = {
      .path = path, .write = rival, .write_context = context, .report = {report, n, 0}};
  fault_vfs_wal_reset outcome = fault_vfs_wal_reset_failed;
  if (fault_vfs_register() != SQLITE_OK) return outcome;
  sqlite3 *checkpointer = connect(path, &each.report);
  if (checkpointer != NULL && begin(&each)) {
    outcome = race_against(&each, plain_checkpoint, checkpointer);
  }
  outcome = conclude(&each, outcome);
  sqlite3_close(each.rival);
  sqlite3_close(checkpointer);
  return outcome;
}

fault_vfs_wal_reset fault_vfs_wal_reset_scenario(
    const char *path, int guarded, char *report, size_t n) {
  text trouble = {report, n, 0};
  if (n > 0) report[0] = '\0';
  if (fault_vfs_register() != SQLITE_OK) return fault_vfs_wal_reset_failed;
  fault_vfs_wal_reset outcome = fault_vfs_wal_reset_failed;
  sqlite3 *checkpointer = connect(path, &trouble);
  guarded_connections both = {guarded ? connect(path, &trouble) : NULL, checkpointer};
  if (checkpointer != NULL && !guarded) {
    outcome = fault_vfs_wal_reset_scenario_around(path, plain_checkpoint, checkpointer, report, n);
  } else if (checkpointer != NULL && both.guard != NULL) {
    outcome = fault_vfs_wal_reset_scenario_around(path, guarded_checkpoint, &both, report, n);
  }
  sqlite3_close(both.guard);
  sqlite3_close(checkpointer);
  return outcome;
}
