// A program's own malloc takes precedence over the one of libc, for all libraries that the program has loaded.

#include "CountingMalloc.h"

#include <stdatomic.h>

static _Atomic(_Bool) isCounting;
static _Atomic(int64_t) blocks, bytes, live, peak;

void startCountingAllocations(void) {
    blocks = bytes = live = peak = 0;
    isCounting = 1;
}

struct AllocationCounts stopCountingAllocations(void) {
    isCounting = 0;
    return (struct AllocationCounts){blocks, bytes, peak};
}

#if defined(__linux__)
#include <malloc.h>

void keepFreedMemory(void) {
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
}
#else
void keepFreedMemory(void) {}
#endif

#if defined(__linux__) && defined(__GLIBC__)
#include <errno.h>
#include <stddef.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static _Bool counts(void) { return atomic_load_explicit(&isCounting, memory_order_relaxed); }

static void *counted(void *block) {
    if (block && counts()) {
        int64_t size = malloc_usable_size(block);
        atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
        int64_t now = atomic_fetch_add_explicit(&live, size, memory_order_relaxed) + size;
        int64_t most = atomic_load_explicit(&peak, memory_order_relaxed);
        while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {}
    }
    return block;
}

static void dropped(void *block) {
    if (block && counts()) atomic_fetch_sub_explicit(&live, malloc_usable_size(block), memory_order_relaxed);
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }

void *realloc(void *block, size_t size) {
    dropped(block);
    return counted(__libc_realloc(block, size));
}

void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    void *block = memalign(alignment, size);
    if (!block) return ENOMEM;
    *result = block;
    return 0;
}

void free(void *block) {
    dropped(block);
    __libc_free(block);
}
#endif
