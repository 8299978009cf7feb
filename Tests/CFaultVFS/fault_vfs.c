// The pass-through VFS: see CFaultVFS.h for what callers may rely on.

#include "CFaultVFS.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <string.h>

#include "fault_rules.h"

static pthread_mutex_t registration = PTHREAD_MUTEX_INITIALIZER;

// Set once by fault_vfs_register(), before SQLite can call into this file.
static sqlite3_vfs *base;

static atomic_int skips_syncs;

void fault_vfs_skip_syncs(int enabled) { atomic_store(&skips_syncs, enabled); }

int fault_vfs_seed_randomness(int seed) {
  return sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, seed, (sqlite3 *)0);
}

typedef struct fault_file {
  sqlite3_file head;
  const char *name;  // SQLite keeps it valid until xClose; NULL for a temporary file
  sqlite3_file *real;
} fault_file;

// For calls that acquire or change something: `call` is evaluated unless the fault replaces it. A
// real error wins over a planted one.
#define PASS(op, name, call)                                                           \
  do {                                                                                 \
    verdict planned = fault_rules_announce(op, name);                                  \
    if (planned.fails && planned.effect != fault_vfs_effect_full) return planned.code; \
    int rc = (call);                                                                   \
    return rc == SQLITE_OK && planned.fails ? planned.code : rc;                       \
  } while (0)

// For calls that give something back: leaving them out would leak what the fault is not about.
#define RELEASE(op, name, call)                                  \
  do {                                                           \
    verdict planned = fault_rules_announce(op, name);            \
    int rc = (call);                                             \
    return rc == SQLITE_OK && planned.fails ? planned.code : rc; \
  } while (0)

static fault_file *own(sqlite3_file *file) { return (fault_file *)file; }
static sqlite3_file *real(sqlite3_file *file) { return own(file)->real; }
static const char *name_of(sqlite3_file *file) { return own(file)->name; }

static int file_close(sqlite3_file *file) {
  RELEASE(fault_vfs_op_close, name_of(file), real(file)->pMethods->xClose(real(file)));
}

static int file_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
  verdict planned = fault_rules_announce(fault_vfs_op_read, name_of(file));
  sqlite3_file *below = real(file);
  if (!planned.fails) return below->pMethods->xRead(below, bytes, size, offset);
  if (planned.effect == fault_vfs_effect_none) return planned.code;
  int wanted = planned.effect == fault_vfs_effect_half ? size / 2 : size;
  int rc = below->pMethods->xRead(below, bytes, wanted, offset);
  if (rc != SQLITE_OK) return rc;
  // SQLite trusts the tail of a short read to be zero: https://sqlite.org/c3ref/io_methods.html
  memset((char *)bytes + wanted, 0, (size_t)(size - wanted));
  return planned.code;
}

static int file_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
  verdict planned = fault_rules_announce(fault_vfs_op_write, name_of(file));
  sqlite3_file *below = real(file);
  if (!planned.fails) return below->pMethods->xWrite(below, bytes, size, offset);
  if (planned.effect == fault_vfs_effect_none) return planned.code;
  int wanted = planned.effect == fault_vfs_effect_half ? size / 2 : size;
  int rc = below->pMethods->xWrite(below, bytes, wanted, offset);
  return rc == SQLITE_OK ? planned.code : rc;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
  PASS(fault_vfs_op_truncate, name_of(file), real(file)->pMethods->xTruncate(real(file), size));
}

static int file_sync(sqlite3_file *file, int flags) {
  if (atomic_load(&skips_syncs)) return SQLITE_OK;
  PASS(fault_vfs_op_sync, name_of(file), real(file)->pMethods->xSync(real(file), flags));
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  PASS(fault_vfs_op_file_size, name_of(file), real(file)->pMethods->xFileSize(real(file), size));
}

static int file_lock(sqlite3_file *file, int level) {
  // A lock reported as not taken must not stay taken.
  verdict planned = fault_rules_announce(fault_vfs_op_lock, name_of(file));
  return planned.fails ? planned.code : real(file)->pMethods->xLock(real(file), level);
}

static int file_unlock(sqlite3_file *file, int level) {
  RELEASE(fault_vfs_op_unlock, name_of(file), real(file)->pMethods->xUnlock(real(file), level));
}

static int file_check_reserved_lock(sqlite3_file *file, int *reserved) {
  PASS(
      fault_vfs_op_check_reserved_lock, name_of(file),
      real(file)->pMethods->xCheckReservedLock(real(file), reserved));
}

static int file_control(sqlite3_file *file, int request, void *argument) {
  verdict planned = fault_rules_announce(fault_vfs_op_file_control, name_of(file));
  if (planned.fails && planned.effect != fault_vfs_effect_full) return planned.code;
  int rc = real(file)->pMethods->xFileControl(real(file), request, argument);
  if (rc == SQLITE_OK && request == SQLITE_FCNTL_VFSNAME) {
    char **name = argument;
    *name = sqlite3_mprintf("fault/%z", *name);
  }
  return rc == SQLITE_OK && planned.fails ? planned.code : rc;
}

static int file_sector_size(sqlite3_file *file) {
  return real(file)->pMethods->xSectorSize(real(file));
}

static int file_device_characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int file_shm_map(
    sqlite3_file *file, int region, int size, int extend, void volatile **memory) {
  verdict planned = fault_rules_announce(fault_vfs_op_shm_map, name_of(file));
  if (planned.fails && planned.effect != fault_vfs_effect_full) {
    *memory = NULL;
    return planned.code;
  }
  int rc = real(file)->pMethods->xShmMap(real(file), region, size, extend, memory);
  return rc == SQLITE_OK && planned.fails ? planned.code : rc;
}

static int file_shm_lock(sqlite3_file *file, int offset, int n, int flags) {
  sqlite3_file *below = real(file);
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    RELEASE(
        fault_vfs_op_shm_unlock, name_of(file),
        below->pMethods->xShmLock(below, offset, n, flags));
  }
  // SQLite would never release a lock reported as not taken.
  verdict planned = fault_rules_announce(fault_vfs_op_shm_lock, name_of(file));
  return planned.fails ? planned.code : below->pMethods->xShmLock(below, offset, n, flags);
}

static void file_shm_barrier(sqlite3_file *file) {
  fault_rules_announce(fault_vfs_op_shm_barrier, name_of(file));
  real(file)->pMethods->xShmBarrier(real(file));
}

static int file_shm_unmap(sqlite3_file *file, int delete) {
  RELEASE(
      fault_vfs_op_shm_unmap, name_of(file), real(file)->pMethods->xShmUnmap(real(file), delete));
}

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int size, void **page) {
  verdict planned = fault_rules_announce(fault_vfs_op_fetch, name_of(file));
  if (planned.fails) {
    *page = NULL;
    return planned.code;
  }
  return real(file)->pMethods->xFetch(real(file), offset, size, page);
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
  RELEASE(
      page == NULL ? fault_vfs_op_unmap : fault_vfs_op_unfetch, name_of(file),
      real(file)->pMethods->xUnfetch(real(file), offset, page));
}

// SQLite decides by iVersion what it may call, so a file offers what the file below it offers.
#define METHODS(version)                                                                   \
  {version, file_close, file_read, file_write, file_truncate, file_sync, file_size,        \
   file_lock, file_unlock, file_check_reserved_lock, file_control, file_sector_size,       \
   file_device_characteristics, file_shm_map, file_shm_lock, file_shm_barrier,             \
   file_shm_unmap, file_fetch, file_unfetch}
static const sqlite3_io_methods methods[] = {METHODS(1), METHODS(2), METHODS(3)};

static int vfs_open(
    sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags) {
  (void)vfs;
  fault_file *opened = own(file);
  // SQLite calls xClose exactly when pMethods is set: https://sqlite.org/c3ref/vfs.html
  opened->head.pMethods = NULL;
  opened->name = name;
  opened->real = (sqlite3_file *)(opened + 1);
  opened->real->pMethods = NULL;

  verdict planned = fault_rules_announce(fault_vfs_op_open, name);
  if (planned.fails && planned.effect != fault_vfs_effect_full) return planned.code;
  int rc = base->xOpen(base, name, opened->real, flags, out_flags);
  if (rc == SQLITE_OK && planned.fails) rc = planned.code;
  if (rc != SQLITE_OK) {
    if (opened->real->pMethods != NULL) opened->real->pMethods->xClose(opened->real);
    return rc;
  }
  int version = opened->real->pMethods->iVersion;
  opened->head.pMethods = &methods[(version > 3 ? 3 : version) - 1];
  return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_directory) {
  (void)vfs;
  PASS(fault_vfs_op_delete, name, base->xDelete(base, name, sync_directory));
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  (void)vfs;
  PASS(fault_vfs_op_access, name, base->xAccess(base, name, flags, result));
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *path) {
  (void)vfs;
  return base->xFullPathname(base, name, size, path);
}

static void *vfs_dl_open(sqlite3_vfs *vfs, const char *name) {
  (void)vfs;
  return base->xDlOpen(base, name);
}

static void vfs_dl_error(sqlite3_vfs *vfs, int size, char *message) {
  (void)vfs;
  base->xDlError(base, size, message);
}

static void (*vfs_dl_sym(sqlite3_vfs *vfs, void *library, const char *symbol))(void) {
  (void)vfs;
  return base->xDlSym(base, library, symbol);
}

static void vfs_dl_close(sqlite3_vfs *vfs, void *library) {
  (void)vfs;
  base->xDlClose(base, library);
}

static int vfs_randomness(sqlite3_vfs *vfs, int size, char *bytes) {
  (void)vfs;
  return base->xRandomness(base, size, bytes);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return base->xSleep(base, microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, double *julian_day) {
  (void)vfs;
  return base->xCurrentTime(base, julian_day);
}

static int vfs_last_error(sqlite3_vfs *vfs, int size, char *message) {
  (void)vfs;
  return base->xGetLastError(base, size, message);
}

static int vfs_current_time_int64(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds) {
  (void)vfs;
  return base->xCurrentTimeInt64(base, milliseconds);
}

static sqlite3_vfs fault = {
    .iVersion = 2,
    .zName = "fault",
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_pathname,
    .xDlOpen = vfs_dl_open,
    .xDlError = vfs_dl_error,
    .xDlSym = vfs_dl_sym,
    .xDlClose = vfs_dl_close,
    .xRandomness = vfs_randomness,
    .xSleep = vfs_sleep,
    .xCurrentTime = vfs_current_time,
    .xGetLastError = vfs_last_error,
    .xCurrentTimeInt64 = vfs_current_time_int64,
};

int fault_vfs_register(void) {
  pthread_mutex_lock(&registration);
  int rc = SQLITE_OK;
  if (base == NULL) {
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);
    if (below == NULL || below->iVersion < 2) {
      rc = SQLITE_NOTFOUND;
    } else {
      base = below;
      fault.szOsFile = (int)sizeof(fault_file) + below->szOsFile;
      fault.mxPathname = below->mxPathname;
      rc = sqlite3_vfs_register(&fault, 0);
      if (rc != SQLITE_OK) base = NULL;
    }
  }
  pthread_mutex_unlock(&registration);
  return rc;
}

int fault_vfs_make_default(int enabled) {
  int rc = fault_vfs_register();
  return rc == SQLITE_OK ? sqlite3_vfs_register(enabled ? &fault : base, 1) : rc;
}
