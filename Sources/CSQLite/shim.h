// The only file that includes <sqlite3.h>. It contains only what Swift cannot import: macros with
// casts and variadic functions.
#ifndef MODELSTORE_CSQLITE_SHIM_H
#define MODELSTORE_CSQLITE_SHIM_H

// The preupdate hook is declared only under this macro: https://sqlite.org/c3ref/preupdate_blobwrite.html
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#ifdef __linux__
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
// <unistd.h> declares it too, with types that Swift then looks for in this module.
extern long syscall(long number, ...);
#else
#include <stdio.h>
#include <unistd.h>
#endif

static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }

static inline int csqlite_db_config_set(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}

// The error number of the log's latest failed call. sqlite3_system_errno() does not return it after
// a COMMIT. 0 without a log.
static inline int csqlite_log_errno(sqlite3 *db) {
  sqlite3_file *log = 0;
  int number = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code == SQLITE_OK && log != 0 && log->pMethods != 0) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
  }
  return number;
}

// Whether the system started the program with rights that its user does not have.
static inline int csqlite_is_elevated(void) {
#ifdef __linux__
  return getauxval(AT_SECURE) != 0;
#else
  return issetugid();
#endif
}

// Reads the beginning of the database's own file, without its log. Returns an SQLite result code.
static inline int csqlite_read_file(sqlite3 *db, void *buffer, int count) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK) return code;
  if (file == 0 || file->pMethods == 0) return SQLITE_CANTOPEN;
  return file->pMethods->xRead(file, buffer, count, 0);
}

// Reads the beginning of the database's log. Returns an SQLite result code.
static inline int csqlite_read_log(sqlite3 *db, void *buffer, int count) {
  sqlite3_file *log = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code != SQLITE_OK) return code;
  if (log == 0 || log->pMethods == 0) return SQLITE_CANTOPEN;
  return log->pMethods->xRead(log, buffer, count, 0);
}

// Whether every frame of the log is copied into the database, so that the next frame may restart
// the log: mxFrame and nBackfill of https://sqlite.org/walformat.html#wal_index_format. -1 if
// unknown. The connection must hold the write lock in WAL mode.
static inline int csqlite_log_is_copied(sqlite3 *db) {
  sqlite3_file *file = 0;
  void volatile *index = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK || file == 0 || file->pMethods == 0) return -1;
  if (file->pMethods->iVersion < 2) return -1;
  if (file->pMethods->xShmMap(file, 0, 32768, 0, &index) != SQLITE_OK || index == 0) return -1;
  const volatile unsigned int *words = (const volatile unsigned int *)index;
  return words[4] == words[24];
}

// A number that changes with every change of the file, by this connection or another; -1 if unknown.
// The connection notices others' changes when it begins to read:
// https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntldataversion
static inline long long csqlite_data_version(sqlite3 *db) {
  unsigned int version = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
  return code == SQLITE_OK ? (long long)version : -1;
}

// Acquires or releases the lock that every checkpoint of the file needs, in any program: byte 121 of
// the "-shm" file, https://sqlite.org/walformat.html#wal_locks. The connection must have a
// transaction open in WAL mode, so that it has mapped the wal-index.
static inline int csqlite_checkpoint_lock(sqlite3 *db, int is_taking) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK) return code;
  if (file == 0 || file->pMethods == 0 || file->pMethods->iVersion < 2) return SQLITE_MISUSE;
  int action = is_taking ? SQLITE_SHM_LOCK : SQLITE_SHM_UNLOCK;
  return file->pMethods->xShmLock(file, 1, 1, action | SQLITE_SHM_EXCLUSIVE);
}

// Reads as pread() does, but only what the system has in memory. Returns -1 with EAGAIN where it would
// wait for the disk, and with another error where it cannot tell:
// https://man7.org/linux/man-pages/man2/preadv2.2.html
//
// Linux 5.9 and 5.10 may return 0 although the file goes on there. SQLite would take that for zeros, so
// the end of the file counts as something to wait for.
static inline long csqlite_read_cached(int descriptor, void *buffer, size_t count, long offset) {
#if defined(__linux__) && defined(__LP64__) && defined(SYS_preadv2)
  const int without_waiting = 8;
  struct iovec part = {buffer, count};
  long read = syscall(SYS_preadv2, descriptor, &part, 1L, offset, 0L, without_waiting);
  if (read != 0 || count == 0) return read;
  errno = EAGAIN;
  return -1;
#else
  (void)descriptor;
  (void)buffer;
  (void)count;
  (void)offset;
  errno = ENOSYS;
  return -1;
#endif
}

// pread(), on a system of 64 bits: a file system of SQLite reads with it.
typedef long (*csqlite_read)(int descriptor, void *buffer, size_t count, long offset);

// The function that the file system knows by `name`; null if it has none.
static inline csqlite_read csqlite_system_read(sqlite3_vfs *system, const char *name) {
#if defined(__linux__) && defined(__LP64__)
  if (system->iVersion < 3 || system->xGetSystemCall == 0) return 0;
  return (csqlite_read)system->xGetSystemCall(system, name);
#else
  (void)system;
  (void)name;
  return 0;
#endif
}

// Lets the file system read with another function. Returns an SQLite result code.
static inline int csqlite_set_system_read(sqlite3_vfs *system, const char *name, csqlite_read read) {
  if (system->iVersion < 3 || system->xSetSystemCall == 0) return SQLITE_MISUSE;
  return system->xSetSystemCall(system, name, (sqlite3_syscall_ptr)read);
}

// Renames a file, unless a file already has the new name. Returns 0 or an error number: EINVAL or
// ENOSYS where the system or the file system cannot do both in one step.
static inline int csqlite_rename_new(const char *from, const char *to) {
#if defined(__linux__) && defined(SYS_renameat2)
  const int at_working_directory = -100;
  const unsigned int no_replace = 1;
  return syscall(SYS_renameat2, at_working_directory, from, at_working_directory, to, no_replace) == 0
             ? 0
             : errno;
#elif defined(__APPLE__)
  return renamex_np(from, to, RENAME_EXCL) == 0 ? 0 : errno;
#else
  (void)from;
  (void)to;
  return ENOSYS;
#endif
}

// A database file that is open and locked, but not read.
typedef struct csqlite_sole_lock {
  sqlite3_file *file;
  const char *name;
} csqlite_sole_lock;

// Releases the lock of csqlite_lock_alone().
static inline void csqlite_unlock_alone(csqlite_sole_lock *lock) {
  if (lock->file != 0) {
    if (lock->file->pMethods != 0) {
      lock->file->pMethods->xUnlock(lock->file, SQLITE_LOCK_NONE);
      lock->file->pMethods->xClose(lock->file);
    }
    sqlite3_free(lock->file);
  }
  if (lock->name != 0) sqlite3_free_filename((char *)lock->name);
  memset(lock, 0, sizeof *lock);
}

// Locks an existing file as a connection does that wants it for itself, without reading it. SQLite's
// own file system does so. It closes a descriptor only when no other connection of this process
// needs the locks on the file: https://sqlite.org/c3ref/io_methods.html. Returns SQLITE_OK;
// SQLITE_BUSY if any connection holds a lock of the file; another code if that cannot be found out.
static inline int csqlite_lock_alone(const char *path, csqlite_sole_lock *lock) {
  memset(lock, 0, sizeof *lock);
  sqlite3_vfs *system = sqlite3_vfs_find(0);
  if (system == 0) return SQLITE_CANTOPEN;
  lock->name = sqlite3_create_filename(path, "", "", 0, 0);
  lock->file = (sqlite3_file *)sqlite3_malloc(system->szOsFile);
  int code = SQLITE_NOMEM;
  if (lock->name != 0 && lock->file != 0) {
    memset(lock->file, 0, (size_t)system->szOsFile);
    int flags = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READWRITE, opened = 0;
    code = system->xOpen(system, lock->name, lock->file, flags, &opened);
    if (code == SQLITE_OK && (opened & SQLITE_OPEN_READONLY) != 0) code = SQLITE_READONLY;
    if (code == SQLITE_OK) {
      errno = 0;
      code = lock->file->pMethods->xLock(lock->file, SQLITE_LOCK_SHARED);
      // SQLite calls a file busy whose file system has no locks.
      if (code == SQLITE_BUSY && errno == ENOLCK) code = SQLITE_IOERR;
    }
    if (code == SQLITE_OK) code = lock->file->pMethods->xLock(lock->file, SQLITE_LOCK_EXCLUSIVE);
  }
  if (code != SQLITE_OK) csqlite_unlock_alone(lock);
  return code;
}

// Locks an open directory for this process, until it closes the descriptor. Returns 0 or -1. In
// Swift the structure hides the function of the same name. <sys/file.h> also declares types that
// Swift would then look for in this module.
extern int flock(int descriptor, int operation);
static inline int csqlite_lock_directory(int descriptor) {
  const int exclusive = 2, without_waiting = 4;
  return flock(descriptor, exclusive | without_waiting);
}

// In Swift the structure hides the function of the same name. 0 if the type is unknown.
static inline unsigned int csqlite_file_system_type(const char *path) {
#ifdef __linux__
  struct statfs status;
  return statfs(path, &status) == 0 ? (unsigned int)status.f_type : 0;
#else
  (void)path;
  return 0;
#endif
}

// The bytes that this user may still allocate on the file system of `path`; -1 if unknown.
static inline long long csqlite_free_byte_count(const char *path) {
  struct statvfs status;
  if (statvfs(path, &status) != 0) return -1;
  double bytes = (double)status.f_bavail * (double)status.f_frsize;
  return bytes < 9e18 ? (long long)bytes : 9000000000000000000LL;
}

#endif
