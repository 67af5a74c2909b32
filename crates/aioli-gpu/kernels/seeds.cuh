// The kernels that hash. Each item has a thread, which keeps the state of SHAKE256 in registers.
#pragma once
#include "shake.cuh"

// Derives seed_pk and O from secret keys. Secret: the keys, and the O in `oils`.
extern "C" __global__ void keygen_seeds(const u8* secret_keys, u32* oils, u32 count) {
    const u32 item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= count) return;
    const Input<SECRET_KEY_BYTES> in = {secret_keys + item * (u64)SECRET_KEY_STRIDE, nullptr, nullptr, 0};
    shake256<SEED_BYTES + O_BYTES>(in, oils + item * (u64)(OIL_STRIDE / 4));
}

// Derives the hashes of signing, for the items of `list` (for all items if it is null): the results
// of keygen_seeds; the salt; t with the key of the linear map; the vinegar and r of sample number
// `sample`.
//
// Secret: keys, oils, vinegars.
extern "C" __global__ void sign_seeds(
    const u32* list, const u8* secret_keys, const u8* digests, const u8* randomizers, u32 sample, u32* oils, u32* salts,
    u32* targets, u32* vinegars, u32 count
) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const u64 item = list ? list[i] : i;
    const u8 *key = secret_keys + item * SECRET_KEY_STRIDE, *digest = digests + item * DIGEST_STRIDE;
    const u8* randomizer = randomizers + item * SALT_STRIDE;
    u32* const salt = salts + item * (SALT_STRIDE / 4);
    const Input<SECRET_KEY_BYTES> of_key = {key, nullptr, nullptr, 0};
    shake256<SEED_BYTES + O_BYTES>(of_key, oils + item * (OIL_STRIDE / 4));
    const Input<DIGEST_BYTES, SALT_BYTES, SECRET_KEY_BYTES> of_salt = {digest, randomizer, key, 0};
    shake256<SALT_BYTES>(of_salt, salt);
    const Input<DIGEST_BYTES, SALT_BYTES> of_target = {digest, (const u8*)salt, nullptr, 0};
    shake256<TARGET_BYTES>(of_target, targets + item * (TARGET_STRIDE / 4));
    const Input<DIGEST_BYTES, SALT_BYTES, SECRET_KEY_BYTES, 1> of_vinegar = {digest, (const u8*)salt, key, (u8)sample};
    shake256<K * V_BYTES + R_BYTES>(of_vinegar, vinegars + item * (VINEGAR_STRIDE / 4));
}

// Derives t with the key of the linear map from digests and the salts of signatures.
extern "C" __global__ void verify_targets(const u8* digests, const u8* signatures, u32* targets, u32 count) {
    const u32 item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= count) return;
    const u8* salt = signatures + item * (u64)SIGNATURE_STRIDE + (SIGNATURE_BYTES - SALT_BYTES);
    const Input<DIGEST_BYTES, SALT_BYTES> in = {digests + item * (u64)DIGEST_STRIDE, salt, nullptr, 0};
    shake256<TARGET_BYTES>(in, targets + item * (u64)(TARGET_STRIDE / 4));
}
