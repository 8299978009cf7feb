// Between the VFS and the rules that tests arm.

#ifndef FAULT_RULES_H
#define FAULT_RULES_H

#include <stdbool.h>

#include "CFaultVFS.h"

// What one call has to do, decided under the mutex and carried out outside it.
typedef struct verdict {
  bool fails;
  int code;
  fault_vfs_effect effect;
} verdict;

// Counts the call, runs its hooks on this thread, and says whether it is to fail. `name` may be
// NULL.
verdict fault_rules_announce(fault_vfs_op op, const char *name);

#endif
