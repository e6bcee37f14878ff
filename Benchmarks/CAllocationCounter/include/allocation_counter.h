#pragma once

/// How many blocks this thread has asked the allocator for, by malloc, calloc or realloc; −1 where nobody counts.
long allocation_count(void);
