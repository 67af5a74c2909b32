"""Executable specification of MAYO (NIST round 3, and round 2) - slow, plain, checked.

An oracle to test an implementation against, not something to ship: it favours being obviously the
algorithm over everything else, and it is not constant time.

    python3 mayo_spec.py kat MAYO_1            # SHA-256 of the whole .rsp file and of its first record
    python3 mayo_spec.py kat MAYO_1 --count 2  # print the first two KAT records instead
    python3 mayo_spec.py trace MAYO_1          # every intermediate of one signature, as digests

MAYO_1 and so on are the round-3 sets; MAYO_1_ROUND_2 and so on those of round 2.

Needs numpy and cryptography. A field element is an int in 0..15: the polynomial
a0 + a1 x + a2 x^2 + a3 x^3 over GF(2) modulo x^4 + x + 1, with bit i holding a_i.
An m-vector holds one coefficient of each of the m public polynomials.
"""
import argparse
import functools
import hashlib
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


def counting_exponents(k):
    """Round 2: the power of z counts up from 0 along the pairs i <= j, i upwards, j downwards."""
    table, power = np.zeros((k, k), int), 0
    for i in range(k):
        for j in range(k - 1, i - 1, -1):
            table[i, j] = table[j, i] = power
            power += 1
    return table


# Round 3: fixed symmetric tables, chosen by the MAYO team so that every square submatrix of powers
# of z has full rank.
MDS_EXPONENTS = {k: np.array(rows.split(), int).reshape(k, k) for k, rows in {
    5: """11 13 3 4 6   13 0 14 10 2   3 14 8 1 5   4 10 1 12 9   6 2 5 9 7""",
    10: """10 25 7 44 40 24 12 32 5 27    25 6 45 50 19 0 11 14 37 52    7 45 51 16 42 30 53 8 21 4
           44 50 16 15 39 26 48 54 23 34  40 19 42 39 22 33 1 35 41 18   24 0 30 26 33 13 46 17 2 47
           12 11 53 48 1 46 36 20 49 43   32 14 8 54 35 17 20 38 29 9    5 37 21 23 41 2 49 29 3 31
           27 52 4 34 18 47 43 9 31 28""",
    11: """35 13 39 32 4 7 40 14 43 62 64     13 55 42 11 63 19 58 49 36 12 20   39 42 6 15 57 47 16 34 44 46 50
           32 11 15 18 5 21 28 10 51 24 31    4 63 57 5 38 0 56 29 54 60 23      7 19 47 21 0 22 27 61 3 48 8
           40 58 16 28 56 27 37 45 30 1 17    14 49 34 10 29 61 45 26 52 59 41   43 36 44 51 54 3 30 52 25 9 2
           62 12 46 24 60 48 1 59 9 53 65     64 20 50 31 23 8 17 41 2 65 33""",
    12: """62 30 52 53 24 0 25 12 71 20 57 32    30 7 37 55 43 70 31 47 35 9 69 15    52 37 64 26 76 45 54 10 40 34 11 19
           53 55 26 61 16 60 5 18 42 17 8 75     24 43 76 16 41 27 6 2 4 51 68 38     0 70 45 60 27 63 22 49 23 1 21 48
           25 31 54 5 6 22 14 29 44 65 77 72     12 47 10 18 2 49 29 58 67 59 39 56   71 35 40 42 4 23 44 67 33 73 36 74
           20 9 34 17 51 1 65 59 73 28 46 3      57 69 11 8 68 21 77 39 36 46 50 13   32 15 19 75 38 48 72 56 74 3 13 66""",
}.items()}


@dataclass(frozen=True)
class Parameters:
    name: str
    round: int
    n: int            # variables
    m: int            # equations
    o: int            # dimension of the oil space
    k: int            # whipping parameter: vectors per signature
    f_tail: tuple     # f(z) = z^m + f_tail[3] z^3 + f_tail[2] z^2 + f_tail[1] z + f_tail[0]
    salt_bytes: int
    digest_bytes: int
    sk_seed_bytes: int
    pk_seed_bytes: int = 16

    v = property(lambda p: p.n - p.o)
    m_bytes = property(lambda p: p.m // 2)
    o_bytes = property(lambda p: (p.v * p.o + 1) // 2)
    v_bytes = property(lambda p: (p.v + 1) // 2)
    r_bytes = property(lambda p: (p.k * p.o + 1) // 2)
    p1_bytes = property(lambda p: p.v * (p.v + 1) // 2 * p.m_bytes)
    p2_bytes = property(lambda p: p.v * p.o * p.m_bytes)
    p3_bytes = property(lambda p: p.o * (p.o + 1) // 2 * p.m_bytes)
    pk_bytes = property(lambda p: p.pk_seed_bytes + p.p3_bytes)
    sig_bytes = property(lambda p: (p.n * p.k + 1) // 2 + p.salt_bytes)
    exponents = property(lambda p: MDS_EXPONENTS[p.k] if p.round == 3 else counting_exponents(p.k))


PARAMETERS = {p.name: p for p in (
    Parameters("MAYO_1", 3, 88, 80, 8, 10, (2, 0, 4, 2), 24, 32, 24),
    Parameters("MAYO_2", 3, 86, 64, 13, 5, (8, 0, 2, 8), 24, 32, 24),
    Parameters("MAYO_3", 3, 118, 108, 10, 11, (8, 0, 1, 7), 32, 48, 32),
    Parameters("MAYO_5", 3, 154, 142, 12, 12, (4, 0, 8, 1), 40, 64, 40),
    Parameters("MAYO_1_ROUND_2", 2, 86, 78, 8, 10, (8, 1, 1, 0), 24, 32, 24),
    Parameters("MAYO_2_ROUND_2", 2, 81, 64, 17, 4, (8, 0, 2, 8), 24, 32, 24),
    Parameters("MAYO_3_ROUND_2", 2, 118, 108, 10, 11, (8, 0, 1, 7), 32, 48, 32),
    Parameters("MAYO_5_ROUND_2", 2, 154, 142, 12, 12, (4, 0, 8, 1), 40, 64, 40),
)}


def _multiply(a, b):
    product = 0
    for bit in range(4):
        if b >> bit & 1:
            product ^= a << bit
    for bit in (6, 5, 4):
        if product >> bit & 1:
            product ^= 0b10011 << (bit - 4)
    return product


MUL = np.array([[_multiply(a, b) for b in range(16)] for a in range(16)], dtype=np.uint8)
INV = np.array([0] + [next(b for b in range(16) if _multiply(a, b) == 1) for a in range(1, 16)], dtype=np.uint8)


def dot(a, b):
    """Sum over the shared leading axis of a[i] * b[i] (broadcasting the trailing axes)."""
    return np.bitwise_xor.reduce(MUL[a, b], axis=0)


def decode(data, count):
    """bytes -> count elements; the low nibble of a byte comes first."""
    raw = np.frombuffer(data, dtype=np.uint8)
    return np.stack([raw & 15, raw >> 4], axis=1).reshape(-1)[:count].copy()


def encode(elements):
    padded = np.concatenate([elements, np.zeros(len(elements) % 2, np.uint8)])
    return bytes(padded[0::2] | padded[1::2] << 4)


def shake256(length, *parts):
    return hashlib.shake_256(b"".join(parts)).digest(length)


def aes128_ctr(key, length):
    """AES-128 of the 128-bit big-endian block counters 0, 1, 2, ... concatenated."""
    cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    return cipher.update(bytes(length))


def unpack_upper(p, data, size):
    """Row-major upper-triangular m-vectors -> array [size, size, m], zero below the diagonal."""
    out = np.zeros((size, size, p.m), np.uint8)
    vectors = decode(data, size * (size + 1) // 2 * p.m).reshape(-1, p.m)
    out[np.triu_indices(size)] = vectors
    return out


def expand_p(p, seed_pk):
    """P1 [v, v, m] (upper triangular) and P2 [v, o, m] from one AES-CTR stream."""
    stream = aes128_ctr(seed_pk, p.p1_bytes + p.p2_bytes)
    p1 = unpack_upper(p, stream[:p.p1_bytes], p.v)
    p2 = decode(stream[p.p1_bytes:], p.v * p.o * p.m).reshape(p.v, p.o, p.m)
    return p1, p2


def powers(m_vectors):
    """The products with 1, x, x^2 and x^3, of which every product is a sum."""
    return np.stack([np.ascontiguousarray(MUL[1 << bit][m_vectors]) for bit in range(4)])


def left_multiply(matrix, m_vectors):
    """[r, c] times [c, ..., m] -> [r, ..., m]."""
    return left_multiply_powers(matrix, powers(m_vectors))


def left_multiply_powers(matrix, m_vector_powers):
    """left_multiply, by the powers of the m-vectors."""
    out = np.zeros((len(matrix), *m_vector_powers.shape[2:]), np.uint8)
    for row, total in zip(matrix, out):
        for bit in range(4):
            for i in np.flatnonzero(row >> bit & 1):
                total ^= m_vector_powers[bit, i]
    return out


def right_multiply(m_vectors, matrix):
    """[r, c, m] times [c, w] -> [r, w, m]."""
    return left_multiply(matrix.T, m_vectors.transpose(1, 0, 2)).transpose(1, 0, 2)


def secret_seeds(p, seed_sk):
    s = shake256(p.pk_seed_bytes + p.o_bytes, seed_sk)
    return s[:p.pk_seed_bytes], decode(s[p.pk_seed_bytes:], p.v * p.o).reshape(p.v, p.o)


def keygen(p, seed_sk):
    """-> compact public key. The compact secret key is seed_sk itself."""
    seed_pk, oil = secret_seeds(p, seed_sk)
    p1, p2 = expand_p(p, seed_pk)
    p3 = left_multiply(oil.T, right_multiply(p1, oil) ^ p2)           # [o, o, m]
    upper = [p3[i, j] ^ p3[j, i] if i != j else p3[i, i] for i in range(p.o) for j in range(i, p.o)]
    return seed_pk + encode(np.concatenate(upper))


def expand_sk(p, seed_sk):
    """-> oil [v, o], P1 [v, v, m], L = (P1 + P1^T) oil + P2 [v, o, m]."""
    seed_pk, oil = secret_seeds(p, seed_sk)
    p1, p2 = expand_p(p, seed_pk)
    return oil, p1, right_multiply(p1 ^ p1.transpose(1, 0, 2), oil) ^ p2


@functools.lru_cache(maxsize=2)
def expand_pk(p, pk):
    """-> the powers of P = [[P1, P2], [0, P3]], each [n, n, m]."""
    p1, p2 = expand_p(p, pk[:p.pk_seed_bytes])
    full = np.zeros((p.n, p.n, p.m), np.uint8)
    full[:p.v, :p.v], full[:p.v, p.v:], full[p.v:, p.v:] = p1, p2, unpack_upper(p, pk[p.pk_seed_bytes:], p.o)
    return powers(full)


def times_z(p, a):
    """Multiply, along axis 0, the polynomial with coefficients a[0..m) by z modulo f(z)."""
    top = a[-1]
    out = np.concatenate([np.zeros_like(a[:1]), a[:-1]])
    for i, tail in enumerate(p.f_tail):
        out[i] ^= MUL[tail, top]
    return out


def whipping_pairs(p):
    return [(i, j) for i in range(p.k) for j in range(i, p.k)]


def sum_of_powers(p, by_exponent):
    """The sum over e of z^e times by_exponent[e], each [m, ...]."""
    total = np.zeros_like(by_exponent[0])
    for coefficient in by_exponent[::-1]:
        total = times_z(p, total) ^ coefficient
    return total


def sample_solution(p, a, y, r):
    """x with a x = y, built from the randomizer r; None when a has rank below m.

    Row-reduce (a | y - a r) taking pivots left to right; free variables of the correction are zero.
    """
    rows = np.concatenate([a, (y ^ dot(a.T, r[:, None]))[:, None]], axis=1)
    pivots, row = [], 0
    for col in range(a.shape[1]):
        candidates = [i for i in range(row, p.m) if rows[i, col]]
        if not candidates:
            continue
        rows[[row, candidates[0]]] = rows[[candidates[0], row]]
        rows[row] = MUL[INV[rows[row, col]], rows[row]]
        for i in range(p.m):
            if i != row:
                rows[i] ^= MUL[rows[i, col], rows[row]]
        pivots.append(col)
        row += 1
        if row == p.m:
            break
    if row < p.m:
        return None
    x = r.copy()
    for i, col in enumerate(pivots):
        x[col] ^= rows[i, -1]
    return x


def hash_to_target(p, digest, salt):
    """-> t [m], and the linear map lambda [n, m] (round 3; zero in round 2)."""
    stream = shake256(p.m_bytes + 32, digest, salt)
    t = decode(stream, p.m)
    if p.round == 2:
        return t, np.zeros((p.n, p.m), np.uint8)
    key, iv = stream[p.m_bytes:][:16], int.from_bytes(stream[p.m_bytes + 16:], "big")
    counters = b"".join((iv ^ j).to_bytes(16, "big") for j in range((p.n * p.m_bytes + 15) // 16))
    keystream = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(counters)
    return t, decode(keystream, p.n * p.m).reshape(p.n, p.m)


def whip(p, quadratic, linear):
    """The sum over i <= j of z^e(i,j) u_ij, plus the sum over i of z^e(i,0) linear[i].

    Here u_ii = quadratic[i, i] and u_ij = quadratic[i, j] + quadratic[j, i].
    quadratic [k, k, m], linear [k, m] -> [m]."""
    by_exponent = np.zeros((p.exponents.max() + 1, p.m), np.uint8)
    for i, j in whipping_pairs(p):
        by_exponent[p.exponents[i, j]] ^= quadratic[i, i] if i == j else quadratic[i, j] ^ quadratic[j, i]
    for i in range(p.k):
        by_exponent[p.exponents[i, 0]] ^= linear[i]
    return sum_of_powers(p, by_exponent)


def sign(p, seed_sk, message, randomizer, trace=lambda name, value: None):
    """randomizer: salt_bytes random bytes (all zero for deterministic signing)."""
    oil, p1, l = expand_sk(p, seed_sk)
    trace("oil", oil), trace("l", l)
    digest = shake256(p.digest_bytes, message)
    salt = shake256(p.salt_bytes, digest, randomizer, seed_sk)
    t, lam = hash_to_target(p, digest, salt)
    oil_linear = left_multiply(oil.T, lam[:p.v]) ^ lam[p.v:]              # [o, m]
    trace("t", t), trace("lambda", lam)
    for ctr in range(256):
        stream = shake256(p.k * p.v_bytes + p.r_bytes, digest, salt, seed_sk, bytes([ctr]))
        v = np.stack([decode(stream[i * p.v_bytes:(i + 1) * p.v_bytes], p.v) for i in range(p.k)])
        r = decode(stream[p.k * p.v_bytes:], p.k * p.o)
        m_mats = left_multiply(v, l)                                    # [k, o, m]
        vpv = right_multiply(left_multiply(v, p1), v.T)                 # [k, k, m]
        trace("v", v), trace("m", m_mats), trace("vpv", vpv)
        y = t ^ whip(p, vpv, left_multiply(v, lam[:p.v]))
        by_exponent = np.zeros((p.exponents.max() + 1, p.m, p.k, p.o), np.uint8)
        for i, j in whipping_pairs(p):
            by_exponent[p.exponents[i, j], :, i] ^= m_mats[j].T
            if i != j:
                by_exponent[p.exponents[i, j], :, j] ^= m_mats[i].T
        for i in range(p.k):
            by_exponent[p.exponents[i, 0], :, i] ^= oil_linear.T
        a = sum_of_powers(p, by_exponent)
        a = a.reshape(p.m, p.k * p.o)
        trace("y", y), trace("a", a)
        x = sample_solution(p, a, y, r)
        if x is not None:
            break
    else:
        raise RuntimeError("no vinegar sample in 256 gave a solvable system")
    trace("x", x)
    x = x.reshape(p.k, p.o)
    s = np.concatenate([np.concatenate([v[i] ^ dot(oil.T, x[i][:, None]), x[i]]) for i in range(p.k)])
    return encode(s) + salt


def verify(p, pk, message, signature):
    if len(pk) != p.pk_bytes or len(signature) != p.sig_bytes:
        return False
    salt = signature[-p.salt_bytes:]
    s = decode(signature[:-p.salt_bytes], p.n * p.k).reshape(p.k, p.n)
    sps = right_multiply(left_multiply_powers(s, expand_pk(p, pk)), s.T)
    t, lam = hash_to_target(p, shake256(p.digest_bytes, message), salt)
    return bool((whip(p, sps, left_multiply(s, lam)) == t).all())


class Drbg:
    """NIST's KAT generator: AES-256 CTR_DRBG without derivation function, no personalisation."""

    def __init__(self, seed48):
        self.key, self.v = bytes(32), bytes(16)
        self._update(seed48)

    def _block(self):
        self.v = ((int.from_bytes(self.v, "big") + 1) % 2**128).to_bytes(16, "big")
        return Cipher(algorithms.AES(self.key), modes.ECB()).encryptor().update(self.v)

    def _update(self, data=bytes(48)):
        mixed = bytes(a ^ b for a, b in zip(self._block() + self._block() + self._block(), data))
        self.key, self.v = mixed[:32], mixed[32:]

    def bytes(self, length):
        out = b""
        while len(out) < length:
            out += self._block()
        self._update()
        return out[:length]


def kat_records(p, count=100):
    """The records of PQCsignKAT_<sk bytes>_<name>.rsp, as (seed, msg, pk, sk, sm)."""
    master = Drbg(bytes(range(48)))
    for i in range(count):
        seed = master.bytes(48)
        msg = master.bytes(33 * (i + 1))
        rng = Drbg(seed)
        seed_sk = rng.bytes(p.sk_seed_bytes)
        pk = keygen(p, seed_sk)
        signature = sign(p, seed_sk, msg, rng.bytes(p.salt_bytes))
        yield seed, msg, pk, seed_sk, signature + msg


def kat_record(i, seed, msg, pk, sk, sm):
    fields = [("count", i), ("seed", seed.hex().upper()), ("mlen", len(msg)), ("msg", msg.hex().upper()),
              ("pk", pk.hex().upper()), ("sk", sk.hex().upper()), ("smlen", len(sm)), ("sm", sm.hex().upper())]
    return "".join(f"{name} = {value}\n" for name, value in fields)


def kat_text(p, count=100):
    """The .rsp file, headed "# MAYO-1" in round 3 and "# MAYO_1" in round 2."""
    heading = p.name.removesuffix("_ROUND_2") if p.round == 2 else p.name.replace("_", "-")
    return f"# {heading}\n\n" + "".join(kat_record(i, *r) + "\n" for i, r in enumerate(kat_records(p, count)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["kat", "trace"])
    parser.add_argument("parameters", choices=PARAMETERS)
    parser.add_argument("--count", type=int, default=100)
    args = parser.parse_args()
    p = PARAMETERS[args.parameters]
    if args.command == "trace":
        def show(name, value):
            digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:32]
            print(f"{name:6} shape {value.shape} sha256 {digest} (one byte an element, C order)")
        seed_sk, message, randomizer = bytes(range(p.sk_seed_bytes)), b"trace", bytes(p.salt_bytes)
        signature = sign(p, seed_sk, message, randomizer, show)
        assert verify(p, keygen(p, seed_sk), message, signature)
        print("sig  sha256", hashlib.sha256(signature).hexdigest())
    elif args.count < 100:
        print(kat_text(p, args.count), end="")
    else:
        text = kat_text(p)
        first = text.split("\n\n")[1] + "\n"
        for what, value in (("file of 100 records", text), ("first record alone", first)):
            print(hashlib.sha256(value.encode()).hexdigest(), p.name, what)


if __name__ == "__main__":
    main()
