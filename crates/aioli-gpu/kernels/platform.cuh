// The platform of the kernels: CUDA C++, or its stand-ins on a CPU (tests/harness/shim.h).
#pragma once

#ifdef __CUDACC__
#define UNROLL _Pragma("unroll")
#define DEVICE __device__ __forceinline__
// Evaluated by the compiler, for host and device.
#define FUNCTION __host__ __device__ constexpr

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// The shared memory of a block.
extern __shared__ uint4 shared_memory[];

// All ones if the top bit of byte `i` of the word is set, else zero. This is one PRMT: a selector
// with its top bit set repeats the sign of the byte.
DEVICE u32 sign_mask(u32 word, int i) {
    u32 mask;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(mask) : "r"(word), "r"(0x8888 + 0x1111 * i));
    return mask;
}

// Rotates `word` left by whole bytes.
DEVICE u32 rotate_bytes(u32 word, int bytes) {
    return __funnelshift_l(word, word, 8 * bytes);
}
#else
#include "shim.h"
#endif
