#include <sqlite3.h>

#ifdef __APPLE__
#include <malloc/malloc.h>

/* The bytes that malloc has given out. */
static inline unsigned long bytes_in_use(void) {
  malloc_statistics_t statistics;
  malloc_zone_statistics(0, &statistics);
  return statistics.size_in_use;
}
#else
#include <malloc.h>

/* The bytes that malloc has given out, those of its own bookkeeping included. */
static inline unsigned long bytes_in_use(void) {
  struct mallinfo2 use = mallinfo2();
  return use.uordblks + use.hblkhd;
}
#endif
