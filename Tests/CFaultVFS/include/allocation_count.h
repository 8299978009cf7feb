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

#ifdef __cplusplus
}
#endif

#endif
