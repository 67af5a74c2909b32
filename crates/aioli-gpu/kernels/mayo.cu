// All kernels of one parameter set.
#include "seeds.cuh"
#include "maps.cuh"
#include "solve.cuh"

// What the host needs to launch them: bytes of shared memory and threads of a block, bytes of a record of sign_map.
struct Launch { u32 keygen_map, sign_map, verify_map, expand_map, sign_solve, threads, solve_threads, record; };
FUNCTION Launch launch() {
    return {keygen::L::WORDS * 4, signing::L::WORDS * 4, verifying::L::WORDS * 4, expanding::WORDS * 4, solving::WORDS * 4,
            THREADS, SOLVE_THREADS, signing::RECORD_WORDS * 4};
}
#ifdef __CUDACC__
extern "C" __constant__
#else
extern "C" const
#endif
Launch aioli_launch = launch();
