// Stand-ins for the built-ins of CUDA that the kernels use, on a CPU.
//
// Blocks run one after another. The threads of a block are fibers, which run from barrier to
// barrier. With SHIM_THREADS they are threads of the operating system, so that a race detector sees
// their accesses.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>
#ifdef SHIM_THREADS
#include <pthread.h>
#include <thread>
#else
#include <ucontext.h>
#endif

#define DEVICE inline
#define FUNCTION constexpr
#define UNROLL
#define __global__
#define __launch_bounds__(...)

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

struct alignas(16) uint4 { u32 x, y, z, w; };
inline uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }

namespace shim {
struct Index { u32 x; };

// The thread that is running.
struct Thread {
    Index thread, block, block_size, grid;
    uint4* shared;
};
inline thread_local Thread now;

// Runs `kernel` in blocks of `threads` threads, with exactly `shared_bytes` bytes of shared memory
// each.
void launch(u32 blocks, u32 threads, u32 shared_bytes, const std::function<void()>& kernel);
// Waits until all threads of the block are here.
void barrier();
}  // namespace shim

#define threadIdx (shim::now.thread)
#define blockIdx (shim::now.block)
#define blockDim (shim::now.block_size)
#define gridDim (shim::now.grid)
#define shared_memory (shim::now.shared)
inline void __syncthreads() { shim::barrier(); }

inline u32 __funnelshift_l(u32 low, u32 high, u32 by) { return (u32)((((u64)high << 32 | low) << (by & 31)) >> 32); }
inline u32 __funnelshift_r(u32 low, u32 high, u32 by) { return (u32)(((u64)high << 32 | low) >> (by & 31)); }
inline u32 __byte_perm(u32 low, u32 high, u32 selector) {
    const u64 bytes = (u64)high << 32 | low;
    u32 result = 0;
    for (int i = 0; i < 4; i++) result |= (u32)(bytes >> (8 * (selector >> (4 * i) & 7)) & 255) << (8 * i);
    return result;
}
inline void atomicXor(u32* address, u32 value) { __atomic_fetch_xor(address, value, __ATOMIC_RELAXED); }
inline void atomicOr(u32* address, u32 value) { __atomic_fetch_or(address, value, __ATOMIC_RELAXED); }
inline u32 sign_mask(u32 word, int i) { return 0u - (word >> (8 * i + 7) & 1); }
inline u32 rotate_bytes(u32 word, int bytes) { return __funnelshift_l(word, word, 8 * bytes); }
