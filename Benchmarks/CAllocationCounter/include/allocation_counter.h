#pragma once

/// How many blocks this thread has asked the allocator for, by malloc, calloc or realloc; −1 where nobody counts.
long allocation_count(void);

/// Begins to count for all threads together; call it before they start.
void count_allocations_of_all_threads(void);

/// How many blocks all threads have asked for since then; −1 where nobody counts.
long allocation_count_of_all_threads(void);
