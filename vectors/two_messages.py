"""Makes a key and a signature that is valid for two messages, as SECURITY.md says of round 3.

    python3 two_messages.py

W(s) = t must hold for the linear map and the t of both messages. The difference of the two equations
does not contain P, and it is linear in s, so it is solved for s. Then the first equation is linear
in an m-vector of P3, and it is solved for that. In round 2 the difference does not contain s.
"""
import numpy as np

import mayo_spec as spec


def times_z_power(p, a, exponent):
    for _ in range(exponent):
        a = spec.times_z(p, a)
    return a


def solution(p, a, y):
    x = spec.sample_solution(p, a, y, np.zeros(a.shape[1], np.uint8))
    assert x is not None, "the system is singular: take another random source"
    return x


def key_and_signature(p, messages, random):
    """-> public key, signature."""
    salt = bytes(p.salt_bytes)
    targets = [spec.hash_to_target(p, spec.shake256(p.digest_bytes, message), salt) for message in messages]
    (t, linear), (other_t, other_linear) = targets

    # The sum over i of z^e(i,0) (Lambda(s_i) - Lambda'(s_i)) is t - t'.
    s = random.integers(0, 16, p.k * p.n, dtype=np.uint8)
    differences = (linear ^ other_linear).T
    columns = np.concatenate([times_z_power(p, differences, p.exponents[i, 0]) for i in range(p.k)], axis=1)
    s ^= solution(p, columns, spec.dot(columns.T, s[:, None]) ^ t ^ other_t)
    s = s.reshape(p.k, p.n)

    # The m-vector of P3 at (0, 0) enters W(s) times a polynomial in z, the sum of z^e(i,i)
    # s_i[v]^2.
    seed_pk = random.bytes(p.pk_seed_bytes)
    p3 = random.integers(0, 16, (p.o * (p.o + 1) // 2, p.m), dtype=np.uint8)
    public_key = lambda: seed_pk + spec.encode(p3.reshape(-1))
    products = spec.right_multiply(spec.left_multiply_powers(s, spec.expand_pk(p, public_key())), s.T)
    missing = t ^ spec.whip(p, products, spec.left_multiply(s, linear))
    factor = np.zeros(p.m, np.uint8)
    for i in range(p.k):
        square = np.zeros(p.m, np.uint8)
        square[0] = spec.MUL[s[i, p.v], s[i, p.v]]
        factor ^= times_z_power(p, square, p.exponents[i, i])
    multiples = np.stack([times_z_power(p, factor, exponent) for exponent in range(p.m)], axis=1)
    p3[0] ^= solution(p, multiples, missing)
    return public_key(), spec.encode(s.reshape(-1)) + salt


def main():
    messages = b"I owe you 1", b"I owe you 1000000"
    for p in spec.PARAMETERS.values():
        if p.round == 3:
            public_key, signature = key_and_signature(p, messages, np.random.default_rng(1))
            assert all(spec.verify(p, public_key, message, signature) for message in messages), p.name
            assert not spec.verify(p, public_key, b"I owe you nothing", signature), p.name
            print(f"{p.name}: one signature of two messages")


if __name__ == "__main__":
    main()
