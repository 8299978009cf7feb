#include "allocation_count.h"

#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define IS_SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(IS_SANITIZED)

#include <malloc.h>

// The functions that glibc's own names lead to. A program's definitions of malloc and the others
// take precedence in every library that it loads:
// https://www.gnu.org/software/libc/manual/html_node/Replacing-malloc.html
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

// This model needs no allocation on the first access of a thread.
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))

OF_THREAD int is_counting = 0;
OF_THREAD int64_t count = 0;
OF_THREAD int64_t kept = 0;
OF_THREAD int64_t kept_bytes = 0;

// Counts a block that comes, for 1, or that goes, for -1. glibc keeps its size in one word more.
static void note(void *block, int sign) {
  if (!is_counting || block == NULL) return;
  kept += sign;
  kept_bytes += sign * (int64_t)(malloc_usable_size(block) + sizeof(size_t));
}

void *malloc(size_t size) {
  count += is_counting;
  void *block = __libc_malloc(size);
  note(block, 1);
  return block;
}

void *calloc(size_t number, size_t size) {
  count += is_counting;
  void *block = __libc_calloc(number, size);
  note(block, 1);
  return block;
}

void *realloc(void *block, size_t size) {
  count += is_counting;
  note(block, -1);
  void *moved = __libc_realloc(block, size);
  note(moved, 1);
  return moved;
}

void free(void *block) {
  note(block, -1);
  __libc_free(block);
}

int allocation_count_begin(void) {
  count = 0;
  kept = 0;
  kept_bytes = 0;
  is_counting = 1;
  return 1;
}

int64_t allocation_count_end(void) {
  is_counting = 0;
  return count;
}

int64_t allocation_count_kept(void) { return kept; }

int64_t allocation_count_kept_bytes(void) { return kept_bytes; }

#else

int allocation_count_begin(void) { return 0; }

int64_t allocation_count_end(void) { return 0; }

int64_t allocation_count_kept(void) { return 0; }

int64_t allocation_count_kept_bytes(void) { return 0; }

#endif
