/* The baseline's left product with its loop over the rows of X under OpenMP, as the published experiment has it. */

#include <stddef.h>
#include <stdint.h>

/* In GF(16) = GF(2)[x] / (x^4 + x + 1), without branches. */
static uint8_t mul(uint8_t a, uint8_t b) {
    uint8_t product = 0;
    for (int bit = 0; bit < 4; bit++) {
        product ^= (uint8_t)((a << bit) & -(b >> bit & 1));
    }
    uint8_t high = product >> 4;
    return (product ^ high ^ high << 1) & 15;
}

/* Row r of `out`, `stride` bytes apart, receives the sum over i of x[i * x_rows + r] times row i of the operand. That has
   `count` rows, one after another, the first of `row_bytes` bytes, each beginning `step` bytes further to the right. */
void aioli_lab_openmp_left_product(const uint8_t *x, size_t x_rows, const uint8_t *operand, size_t count, size_t row_bytes,
                                   size_t step, uint8_t *out, size_t stride, int threads) {
#pragma omp parallel for num_threads(threads)
    for (size_t r = 0; r < x_rows; r++) {
        const uint8_t *row = operand;
        for (size_t i = 0; i < count; i++) {
            uint8_t coefficient = x[i * x_rows + r];
            uint8_t *to = out + r * stride + i * step;
            size_t length = row_bytes - i * step;
            for (size_t b = 0; b < length; b++) {
                to[b] ^= (uint8_t)(mul(coefficient, row[b] & 15) | mul(coefficient, row[b] >> 4) << 4);
            }
            row += length;
        }
    }
}
