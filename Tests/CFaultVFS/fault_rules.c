// Counters, faults and hooks: which calls of the VFS are to fail, and what runs before them.

#include "fault_rules.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { operation_count = fault_vfs_op_unmap + 1, rule_capacity = 64 };

typedef struct rule {
  fault_vfs_rule id;    // 0: the slot is free
  fault_vfs_op op;
  char *suffix;         // NULL: every file
  fault_vfs_hook hook;  // NULL: the rule is a fault
  void *context;
  int64_t nth;
  int code;
  fault_vfs_effect effect;
  fault_vfs_repeat repeat;
  int64_t seen;
  int64_t fired;
} rule;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static rule rules[rule_capacity];
static fault_vfs_rule last_rule;
static fault_vfs_rule plain_hooks[operation_count];
static int64_t counts[operation_count];
static _Thread_local bool in_hook;

static bool ends_with(const char *name, const char *suffix) {
  if (suffix == NULL) return true;
  if (name == NULL) return false;
  size_t name_length = strlen(name), suffix_length = strlen(suffix);
  return name_length >= suffix_length
      && memcmp(name + name_length - suffix_length, suffix, suffix_length) == 0;
}

verdict fault_rules_announce(fault_vfs_op op, const char *name) {
  verdict result = {false, SQLITE_OK, fault_vfs_effect_none};
  struct { fault_vfs_hook run; void *context; } hooks[rule_capacity];
  int hook_total = 0;
  fault_vfs_rule decided_by = 0;

  pthread_mutex_lock(&mutex);
  counts[op]++;
  for (int i = 0; i < rule_capacity; i++) {
    rule *each = &rules[i];
    if (each->id == 0 || each->op != op || !ends_with(name, each->suffix)) continue;
    each->seen++;
    if (each->hook != NULL) {
      if (in_hook) continue;
      each->fired++;
      hooks[hook_total].run = each->hook;
      hooks[hook_total++].context = each->context;
      continue;
    }
    bool due = each->nth > 0
        && (each->repeat == fault_vfs_repeat_sticky ? each->seen >= each->nth
                                                    : each->seen == each->nth);
    if (!due) continue;
    each->fired++;
    // Slots are reused, so the order of arming is the order of identifiers, not of slots.
    if (result.fails && decided_by < each->id) continue;
    decided_by = each->id;
    result = (verdict){true, each->code, each->effect};
  }
  pthread_mutex_unlock(&mutex);

  if (hook_total > 0) {
    in_hook = true;
    for (int i = 0; i < hook_total; i++) hooks[i].run(hooks[i].context);
    in_hook = false;
  }
  return result;
}

static void clear(rule *each) {
  free(each->suffix);
  *each = (rule){0};
}

void fault_vfs_reset(void) {
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < rule_capacity; i++) clear(&rules[i]);
  memset(counts, 0, sizeof counts);
  memset(plain_hooks, 0, sizeof plain_hooks);
  pthread_mutex_unlock(&mutex);
}

int64_t fault_vfs_count(fault_vfs_op op) {
  pthread_mutex_lock(&mutex);
  int64_t count = counts[op];
  pthread_mutex_unlock(&mutex);
  return count;
}

// Stores the rule in a free slot, its suffix copied. Called with the mutex held.
static fault_vfs_rule add(rule wanted) {
  for (int i = 0; i < rule_capacity; i++) {
    if (rules[i].id != 0) continue;
    if (wanted.suffix != NULL && (wanted.suffix = strdup(wanted.suffix)) == NULL) return 0;
    wanted.id = ++last_rule;
    rules[i] = wanted;
    return wanted.id;
  }
  return 0;
}

static rule *find(fault_vfs_rule id) {
  for (int i = 0; i < rule_capacity; i++) {
    if (id != 0 && rules[i].id == id) return &rules[i];
  }
  return NULL;
}

fault_vfs_rule fault_vfs_arm(
    fault_vfs_op op, const char *suffix, int64_t nth, int code, fault_vfs_effect effect,
    fault_vfs_repeat repeat) {
  if (nth < 0 || (nth > 0 && (code == SQLITE_OK || op == fault_vfs_op_shm_barrier))) return 0;
  pthread_mutex_lock(&mutex);
  fault_vfs_rule id = add((rule){
      .op = op, .suffix = (char *)suffix, .nth = nth, .code = code, .effect = effect,
      .repeat = repeat});
  pthread_mutex_unlock(&mutex);
  return id;
}

fault_vfs_rule fault_vfs_add_hook(
    fault_vfs_op op, const char *suffix, fault_vfs_hook hook, void *context) {
  pthread_mutex_lock(&mutex);
  fault_vfs_rule id =
      add((rule){.op = op, .suffix = (char *)suffix, .hook = hook, .context = context});
  pthread_mutex_unlock(&mutex);
  return id;
}

void fault_vfs_disarm(fault_vfs_rule id) {
  pthread_mutex_lock(&mutex);
  rule *found = find(id);
  if (found != NULL) clear(found);
  pthread_mutex_unlock(&mutex);
}

int64_t fault_vfs_seen(fault_vfs_rule id) {
  pthread_mutex_lock(&mutex);
  rule *found = find(id);
  int64_t seen = found != NULL ? found->seen : -1;
  pthread_mutex_unlock(&mutex);
  return seen;
}

int64_t fault_vfs_fired(fault_vfs_rule id) {
  pthread_mutex_lock(&mutex);
  rule *found = find(id);
  int64_t fired = found != NULL ? found->fired : -1;
  pthread_mutex_unlock(&mutex);
  return fired;
}

fault_vfs_rule fault_vfs_set_hook(fault_vfs_op op, fault_vfs_hook hook, void *context) {
  pthread_mutex_lock(&mutex);
  rule *previous = find(plain_hooks[op]);
  if (previous != NULL) clear(previous);
  plain_hooks[op] = hook != NULL ? add((rule){.op = op, .hook = hook, .context = context}) : 0;
  fault_vfs_rule id = plain_hooks[op];
  pthread_mutex_unlock(&mutex);
  return id;
}
