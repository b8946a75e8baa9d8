#pragma once

#include <stdint.h>

/// What the process has allocated since the last start of counting.
struct AllocationCounts {
    /// How many blocks.
    int64_t blocks;
    /// How many bytes, those of blocks that were freed again among them.
    int64_t bytes;
    /// The most bytes that were in use at once, beyond those at the start.
    int64_t peak;
};

/// Starts counting from zero. Without a call of it, an allocation costs one comparison more than usual.
void startCountingAllocations(void);

/// Stops counting, and returns the counts. All are 0 where allocations cannot be counted (Linux with glibc only).
struct AllocationCounts stopCountingAllocations(void);

/// Keeps memory that was freed for later use. Otherwise libc gives large blocks back to the system by chance, and what
/// allocates them again pays for new pages.
void keepFreedMemory(void);
