/* The baseline's left product, with its loop over the rows of `left` under OpenMP as in the published experiment. */

#include <stddef.h>
#include <stdint.h>

/* The product in GF(16) = GF(2)[x] / (x^4 + x + 1), without branches. */
static uint8_t mul(uint8_t a, uint8_t b) {
    uint8_t product = 0;
    for (int bit = 0; bit < 4; bit++) {
        product ^= (uint8_t)((a << bit) & -(b >> bit & 1));
    }
    uint8_t high = product >> 4;
    return (product ^ high ^ high << 1) & 15;
}

/* Adds left * right to `out`: row r of `out` receives the sum over i of left[i * left_rows + r] times row i of `right`.
   The rows of `out` are `stride` bytes apart. `right` has `count` rows, one after another. Its first row has `row_bytes`
   bytes; each later row begins `step` bytes further to the right, and is that much shorter. */
void aioli_lab_openmp_left_product(const uint8_t *left, size_t left_rows, const uint8_t *right, size_t count,
                                   size_t row_bytes, size_t step, uint8_t *out, size_t stride, int threads) {
#pragma omp parallel for num_threads(threads)
    for (size_t r = 0; r < left_rows; r++) {
        const uint8_t *row = right;
        for (size_t i = 0; i < count; i++) {
            uint8_t coefficient = left[i * left_rows + r];
            uint8_t *to = out + r * stride + i * step;
            size_t length = row_bytes - i * step;
            for (size_t b = 0; b < length; b++) {
                to[b] ^= (uint8_t)(mul(coefficient, row[b] & 15) | mul(coefficient, row[b] >> 4) << 4);
            }
            row += length;
        }
    }
}
