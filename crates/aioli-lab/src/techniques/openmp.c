/* A team of OpenMP's threads, which runs tasks of the lab in Rust. */

#include <stddef.h>

/*
 * Calls task(context, i) for each i below `count`, on `threads` threads. If there are as many tasks
 * as threads, each thread gets one.
 */
void aioli_lab_openmp(void (*task)(const void *, size_t), const void *context, size_t count, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (size_t i = 0; i < count; i++) {
        task(context, i);
    }
}
