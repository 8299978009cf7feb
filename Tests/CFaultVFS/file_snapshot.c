// Copies a live database without touching this process's POSIX locks.

#include "CFaultVFS.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { path_capacity = 4096, part_count = 3 };
static const char *const parts[part_count] = {"", "-wal", "-journal"};

// Runs in the forked child, where only async-signal-safe calls are allowed: other threads may have
// held any lock at the moment of the fork. Returns 0 or an errno value.
static int copy_file(const char *from, const char *to) {
  int source = open(from, O_RDONLY | O_CLOEXEC);
  if (source < 0) {
    if (errno != ENOENT) return errno;
    return unlink(to) == 0 || errno == ENOENT ? 0 : errno;
  }
  int target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (target < 0) return errno;
  char buffer[65536];
  for (;;) {
    ssize_t size = read(source, buffer, sizeof buffer);
    if (size == 0) return close(target) == 0 ? 0 : errno;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    for (ssize_t done = 0; done < size;) {
      ssize_t written = write(target, buffer + done, (size_t)(size - done));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return errno;
      done += written;
    }
  }
}

int fault_vfs_snapshot(const char *path, const char *copy) {
  char from[part_count][path_capacity];
  char to[part_count][path_capacity];
  for (int i = 0; i < part_count; i++) {
    int from_length = snprintf(from[i], path_capacity, "%s%s", path, parts[i]);
    int to_length = snprintf(to[i], path_capacity, "%s%s", copy, parts[i]);
    if (from_length >= path_capacity || to_length >= path_capacity) return ENAMETOOLONG;
  }
  if (access(path, F_OK) != 0) return errno;

  pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    int code = 0;
    for (int i = 0; i < part_count && code == 0; i++) code = copy_file(from[i], to[i]);
    _exit(code);  // errno values on Linux and Darwin fit into an exit status
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return errno;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}
