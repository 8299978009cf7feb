// A SQLite VFS for tests. It is named "fault", passes every call through to the default unix VFS,
// and on request counts calls, makes chosen calls fail, and runs a callback before them.
// How a VFS works: https://sqlite.org/vfs.html
//
// allocation_count.h is here because the C code of the tests is one module.
//
// All functions may be called from any thread. Rules and counters are shared by the whole process:
// tests that run in parallel give the full path of their own file as the suffix, remove their own
// rules, and leave fault_vfs_reset() to tests that run alone.

#ifndef CFAULTVFS_H
#define CFAULTVFS_H

#include <stddef.h>
#include <stdint.h>

#include "allocation_count.h"

#pragma clang assume_nonnull begin

#ifdef __cplusplus
extern "C" {
#endif

/// The VFS calls that can be counted, failed and hooked. xSectorSize, xDeviceCharacteristics and
/// the calls about time, randomness and extensions pass through unseen.
///
/// SQLite addresses shared memory through the database's handle, so the shm operations carry the
/// name of the database, not of the "-shm" file.
typedef enum __attribute__((enum_extensibility(closed))) fault_vfs_op {
  fault_vfs_op_open __attribute__((swift_name("open"))),
  /// The file is always closed; a fault only changes the result.
  fault_vfs_op_close __attribute__((swift_name("close"))),
  fault_vfs_op_delete __attribute__((swift_name("delete"))),
  fault_vfs_op_access __attribute__((swift_name("access"))),
  fault_vfs_op_read __attribute__((swift_name("read"))),
  fault_vfs_op_write __attribute__((swift_name("write"))),
  fault_vfs_op_truncate __attribute__((swift_name("truncate"))),
  fault_vfs_op_sync __attribute__((swift_name("sync"))),
  fault_vfs_op_file_size __attribute__((swift_name("fileSize"))),
  fault_vfs_op_file_control __attribute__((swift_name("fileControl"))),
  fault_vfs_op_lock __attribute__((swift_name("lock"))),
  /// The lock is always released; a fault only changes the result.
  fault_vfs_op_unlock __attribute__((swift_name("unlock"))),
  fault_vfs_op_check_reserved_lock __attribute__((swift_name("checkReservedLock"))),
  fault_vfs_op_shm_map __attribute__((swift_name("shmMap"))),
  /// xShmLock that acquires.
  fault_vfs_op_shm_lock __attribute__((swift_name("shmLock"))),
  /// xShmLock that releases. Always happens; a fault only changes the result.
  fault_vfs_op_shm_unlock __attribute__((swift_name("shmUnlock"))),
  /// Has no result, so it can be counted and hooked but not failed.
  fault_vfs_op_shm_barrier __attribute__((swift_name("shmBarrier"))),
  /// Always happens; a fault only changes the result.
  fault_vfs_op_shm_unmap __attribute__((swift_name("shmUnmap"))),
  fault_vfs_op_fetch __attribute__((swift_name("fetch"))),
  /// xUnfetch of one page. Always happens; a fault only changes the result.
  fault_vfs_op_unfetch __attribute__((swift_name("unfetch"))),
  /// xUnfetch(0, NULL): the whole mapping is dropped. SQLite calls it, whether or not it maps
  /// anything, when it finds that another connection has changed the WAL. Always happens; SQLite
  /// ignores the result.
  fault_vfs_op_unmap __attribute__((swift_name("unmap"))),
} fault_vfs_op;

/// What a failing call does to the file before it reports its result code.
typedef enum __attribute__((enum_extensibility(closed))) fault_vfs_effect {
  /// Nothing: the call is not made.
  fault_vfs_effect_none __attribute__((swift_name("none"))),
  /// Everything: the call is made and succeeds, and an error is reported nevertheless. An fsync
  /// that failed after the data reached the disk. Locks and fetched pages cannot be had this way:
  /// what is reported as failed is not held.
  fault_vfs_effect_full __attribute__((swift_name("full"))),
  /// Half: a write stores the first half of its bytes; a read fills the first half and zeroes the
  /// rest. Any other call behaves as with `none`, except those that always happen.
  fault_vfs_effect_half __attribute__((swift_name("half"))),
} fault_vfs_effect;

/// How often a rule fires.
typedef enum __attribute__((enum_extensibility(closed))) fault_vfs_repeat {
  /// On the nth matching call only.
  fault_vfs_repeat_once __attribute__((swift_name("once"))),
  /// On the nth matching call and every later one, until disarmed.
  fault_vfs_repeat_sticky __attribute__((swift_name("sticky"))),
} fault_vfs_repeat;

/// Identifies an armed fault or an added hook. Positive, never reused. 0 means "refused".
typedef int64_t fault_vfs_rule;

/// Runs on the thread that made the VFS call, before the call takes effect, with no lock of this
/// VFS held. It may use SQLite freely, except for the connection that is in the call. A hook's own
/// VFS calls are counted and can fail, but run no hooks.
typedef void (*fault_vfs_hook)(void *_Nullable context);

/// Registers the VFS "fault" over the current default VFS. Later calls do nothing. Returns
/// SQLITE_OK, or SQLite's result code, or SQLITE_NOTFOUND when there is no default VFS.
int fault_vfs_register(void);

/// Makes "fault" (non-zero) or the VFS below it (zero) the process's default, so that code that
/// names no VFS is tested too. Affects later opens only. Registers the VFS when needed. Returns a
/// SQLite result code.
int fault_vfs_make_default(int enabled);

/// Makes every later sync report success without doing anything (non-zero), or sync again (zero):
/// a disk that lies, the negative control of the power cuts.
void fault_vfs_skip_syncs(int enabled);

/// Seeds SQLite's own randomness in this process, as of the salts of a write-ahead log. Returns a
/// SQLite result code.
int fault_vfs_seed_randomness(int seed);

/// Removes every fault and hook and zeroes every counter. Files stay open.
void fault_vfs_reset(void);

/// How many calls of an operation were made since the last reset, in the whole process.
int64_t fault_vfs_count(fault_vfs_op op);

/// Makes the nth next matching call (1 = the very next) return `code`, an extended SQLite result
/// code such as SQLITE_IOERR_FSYNC.
///
/// `suffix` restricts the fault to files whose name ends with it ("-wal", a whole path); NULL
/// matches every file, also temporary files without a name. `nth` 0 never fires: the rule only
/// counts, see fault_vfs_seen(). Several armed faults may match one call: each counts it, the one
/// armed first decides the result.
///
/// Returns 0 when the operation has no result to change, when `nth` is negative, when `code` is
/// SQLITE_OK and the rule could fire, or when memory or the table of 64 rules is exhausted.
fault_vfs_rule fault_vfs_arm(
    fault_vfs_op op, const char *_Nullable suffix, int64_t nth, int code, fault_vfs_effect effect,
    fault_vfs_repeat repeat);

/// Runs `hook` before every call of `op` on files whose name ends with `suffix` (NULL: any file).
/// Returns 0 when memory or the table of rules is exhausted.
fault_vfs_rule fault_vfs_add_hook(
    fault_vfs_op op, const char *_Nullable suffix, fault_vfs_hook hook, void *_Nullable context);

/// Removes one fault or hook; an unknown rule is ignored. A hook that another thread has already
/// entered still finishes: keep its context alive until that thread is done.
void fault_vfs_disarm(fault_vfs_rule rule);

/// Matching calls since the rule was made, the failed ones included; -1 when the rule is unknown.
int64_t fault_vfs_seen(fault_vfs_rule rule);

/// Calls that the fault made fail, or that the hook ran for; -1 when the rule is unknown.
int64_t fault_vfs_fired(fault_vfs_rule rule);

/// Sets the one hook of an operation that matches any file, in place of the hook set by the last
/// such call. NULL removes it. Returns 0 when it was not set or was removed.
fault_vfs_rule fault_vfs_set_hook(
    fault_vfs_op op, fault_vfs_hook _Nullable hook, void *_Nullable context);

/// Copies `path`, `path`-wal and `path`-journal, as far as they exist, to the same names under
/// `copy`: what a kill -9 at this moment would leave behind. The wal-index is left out because the
/// next process to open the file rebuilds it.
///
/// A child process does the copying. Closing a file drops every POSIX lock that the closing process
/// holds on it (https://sqlite.org/howtocorrupt.html, section 2.2), so this process must not do it.
/// The copy is not atomic: make it while no thread writes. Existing files under `copy` are
/// replaced or removed. Returns 0 or an errno value.
int fault_vfs_snapshot(const char *path, const char *copy);

/// How the WAL-reset race ended.
typedef enum __attribute__((enum_extensibility(closed))) fault_vfs_wal_reset {
  /// The scenario could not be set up or checked; it proves nothing. The report says why.
  fault_vfs_wal_reset_failed __attribute__((swift_name("failed"))),
  /// The checkpoint never reached the window, so nothing was raced; it proves nothing.
  fault_vfs_wal_reset_not_reached __attribute__((swift_name("notReached"))),
  /// The rival committed inside the window and the file was damaged: the library has the bug and
  /// nothing guarded the checkpoint.
  fault_vfs_wal_reset_damaged __attribute__((swift_name("damaged"))),
  /// The rival committed inside the window and the file is intact: the library is fixed.
  fault_vfs_wal_reset_survived __attribute__((swift_name("survived"))),
  /// The rival got SQLITE_BUSY inside the window and the file is intact: the checkpoint is guarded.
  fault_vfs_wal_reset_excluded __attribute__((swift_name("excluded"))),
} fault_vfs_wal_reset;

/// Makes one checkpoint of the database at the scenario's path and returns its SQLite result code.
typedef int (*fault_vfs_checkpoint)(void *_Nullable context);

/// Races a log reset against a second checkpoint, the order of events in which SQLite 3.7.0 to
/// 3.51.2 lose frames (https://sqlite.org/wal.html, "The WAL-Reset Bug").
///
/// `path` is a database, or is created as one; its directory exists. The scenario keeps its rows in
/// a table of its own, `wal_reset_row`. With `guarded` the checkpoint runs while another connection
/// holds BEGIN IMMEDIATE, else alone. `report` receives at most `n` bytes of text, NUL included:
/// library version, what happened, the first problem of integrity_check. Deterministic; takes less
/// than a second. An outcome of `damaged` leaves the damaged file in place.
fault_vfs_wal_reset fault_vfs_wal_reset_scenario(
    const char *path, int guarded, char *report, size_t n);

/// The same race around the caller's own checkpoint of `path`. It must be PASSIVE, finish before
/// the callback returns, and run on a connection that was opened through "fault" (see
/// fault_vfs_make_default()) and has read the database before this call: only a connection whose
/// view of the log is out of date passes through the window. While this function runs nothing else
/// may read or write the file.
fault_vfs_wal_reset fault_vfs_wal_reset_scenario_around(
    const char *path, fault_vfs_checkpoint checkpoint, void *_Nullable context, char *report,
    size_t n);

/// Makes one commit that rewrites the first four rows of `wal_reset_row` with `sql`, and returns
/// its SQLite result code.
typedef int (*fault_vfs_rival)(void *_Nullable context, const char *sql);

/// The same race between an unguarded checkpoint, as another program makes it, and the caller's own
/// writer, which commits inside the window. `SQLITE_BUSY` from `rival` means that it waited for the
/// checkpoint in vain.
fault_vfs_wal_reset fault_vfs_wal_reset_scenario_against(
    const char *path, fault_vfs_rival rival, void *_Nullable context, char *report, size_t n);

/// Forks, runs `body` in the child and returns what it returned, from 0 to 254; -1 when the child
/// could not be made, crashed or took longer than 20 seconds. The child ends without cleaning up.
int fault_vfs_in_child(int (*body)(void *_Nullable context), void *_Nullable context);

#ifdef __cplusplus
}
#endif

#pragma clang assume_nonnull end

#endif
