// Runs a function in a forked child: Swift has no fork of its own.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CFaultVFS.h"

int fault_vfs_in_child(int (*body)(void *), void *context) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    // A child that waits for a lock nobody holds any more must not wait for ever. The thread that
    // forked may have blocked the signal.
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    signal(SIGALRM, SIG_DFL);
    alarm(20);
    _exit(body(context));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}
