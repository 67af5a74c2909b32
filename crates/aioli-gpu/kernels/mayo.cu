// All kernels of one parameter set.
#include "seeds.cuh"
#include "maps.cuh"
#include "solve.cuh"

// The needs of a launch, which the host reads (`Launch` of src/device.rs): bytes of shared memory
// of a block, by kernel; threads of a block; bytes of the products of an item.
struct Launch { u32 keygen_map, sign_map, verify_map, expand_map, sign_solve, map_threads, solve_threads, products; };
FUNCTION Launch launch() {
    return {keygen::L::WORDS * 4, signing::L::WORDS * 4, verifying::L::WORDS * 4, expanding::WORDS * 4, solving::WORDS * 4,
            THREADS, SOLVE_THREADS, signing::PRODUCT_WORDS * 4};
}
#ifdef __CUDACC__
extern "C" __constant__
#else
extern "C" const
#endif
Launch aioli_launch = launch();
