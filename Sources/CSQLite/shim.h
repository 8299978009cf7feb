// The only place that includes <sqlite3.h>: what Swift cannot import (macros with casts,
// variadic functions) is spelled out here, and nothing else.
#ifndef MODELSTORE_CSQLITE_SHIM_H
#define MODELSTORE_CSQLITE_SHIM_H

// The preupdate hook is declared only under this macro: https://sqlite.org/c3ref/preupdate_blobwrite.html
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>

#ifdef __linux__
#include <sys/vfs.h>
#endif

static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }

static inline int csqlite_db_config_set(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}

// The error number of the log's latest failed call. COMMIT does not note it where
// sqlite3_system_errno() looks. 0 without a log.
static inline int csqlite_log_errno(sqlite3 *db) {
  sqlite3_file *log = 0;
  int number = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code == SQLITE_OK && log != 0 && log->pMethods != 0) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
  }
  return number;
}

// In Swift the structure hides the function of the same name. 0 where the system cannot tell.
static inline unsigned int csqlite_file_system_type(const char *path) {
#ifdef __linux__
  struct statfs status;
  return statfs(path, &status) == 0 ? (unsigned int)status.f_type : 0;
#else
  (void)path;
  return 0;
#endif
}

#endif
