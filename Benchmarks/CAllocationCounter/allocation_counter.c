#include "allocation_counter.h"
#include <stdlib.h>

// glibc lets a program put its own functions in front of the allocator's, which keep their inner names. Only the
// benchmark program links this; the count costs it one addition.
#ifdef __GLIBC__

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static __thread long count;
// Off but in the one program run that asks for it: threads that share a counter hinder each other.
static int counts_all_threads;
static long all_count;

static inline void add_one(void) {
    count++;
    if (counts_all_threads) __atomic_fetch_add(&all_count, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size) {
    add_one();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    add_one();
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    add_one();
    return __libc_realloc(block, size);
}

long allocation_count(void) { return count; }

void count_allocations_of_all_threads(void) { counts_all_threads = 1; }

long allocation_count_of_all_threads(void) { return __atomic_load_n(&all_count, __ATOMIC_RELAXED); }

#else

long allocation_count(void) { return -1; }

void count_allocations_of_all_threads(void) {}

long allocation_count_of_all_threads(void) { return -1; }

#endif
