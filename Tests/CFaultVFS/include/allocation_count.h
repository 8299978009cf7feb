// Counts the allocations of a thread, so that a test can hold how many an operation makes.

#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Starts to count the allocations of the calling thread, from 0. Returns 0 where allocations
/// cannot be counted: outside glibc, and under a sanitizer, which replaces malloc itself.
int allocation_count_begin(void);

/// Stops counting. Returns how often the calling thread called malloc, calloc or realloc.
int64_t allocation_count_end(void);

/// Returns how many blocks the thread allocated while it counted and did not free meanwhile. Blocks
/// from before that were freed meanwhile are subtracted.
int64_t allocation_count_kept(void);

/// Returns the bytes of these blocks, with what glibc adds to each.
int64_t allocation_count_kept_bytes(void);

#ifdef __cplusplus
}
#endif

#endif
