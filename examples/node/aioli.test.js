// AIOLI_VECTORS is the folder of the test vectors.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AioliError, SigningKey, verify } from "aioli-koffi";

const SETS = ["mayo1", "mayo2", "mayo3", "mayo5"].flatMap((set) => [set, `${set}-round2`]);
const message = new TextEncoder().encode("a message");
const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));

/** Asserts that `call` throws an AioliError of this code, whose message matches. */
const refused = (call, code, expected) =>
  assert.throws(call, (error) => {
    assert.ok(error instanceof AioliError, `${error}`);
    assert.equal(error.code, `AIOLI_STATUS_${code}`);
    assert.match(error.message, expected);
    return true;
  });

for (const set of SETS) {
  test(`${set} signs and verifies`, () => {
    const key = SigningKey.generate(set);
    const publicKey = key.publicKey();
    const signature = key.sign(message);
    assert.notDeepEqual(key.sign(message), signature, "signatures are randomized");
    assert.equal(verify(set, publicKey, message, signature), true);
    assert.equal(verify(set, publicKey, message.subarray(1), signature), false);
    refused(() => verify(set, publicKey, message, signature.subarray(1)), "WRONG_LENGTH", /has \d+ bytes, not \d+$/);
    refused(() => verify(set, publicKey.subarray(1), message, signature), "WRONG_LENGTH", /has \d+ bytes, not \d+$/);
    signature[7] ^= 1;
    assert.equal(verify(set, publicKey, message, signature), false);
    assert.equal(verify(set, publicKey, new Uint8Array(), key.sign(new Uint8Array())), true);
    const copy = SigningKey.fromSeed(set, key.seed());
    assert.deepEqual(copy.publicKey(), publicKey);
    key.free();
    copy.free();
  });
}

test("what is wrong is named", () => {
  refused(() => SigningKey.generate("mayo4"), "UNKNOWN_ALGORITHM", /mayo5-round2/);
  refused(() => SigningKey.fromSeed("mayo1", new Uint8Array(23)), "WRONG_LENGTH", /24 bytes, not 23/);
  assert.throws(() => SigningKey.generate(1), /the name of the set is not a string/);
  const key = SigningKey.generate("mayo1");
  assert.throws(() => key.sign("text"), /the message is not a Uint8Array/);
  assert.throws(() => verify("mayo1", [1], message, message), /the public key is not a Uint8Array/);
  key.free();
  key.free();
  refused(() => key.sign(message), "NULL_POINTER", /key is NULL/);
});

const vectors = (name) => {
  assert.ok(process.env.AIOLI_VECTORS, "AIOLI_VECTORS does not name the folder of the test vectors");
  const file = JSON.parse(readFileSync(join(process.env.AIOLI_VECTORS, `${name}.json`)));
  assert.equal(file.testGroups.flatMap((group) => group.tests).length, file.numberOfTests);
  return file.testGroups;
};

/** The bytes cut to a length, or extended to it by zeros. */
function resized(bytes, length) {
  const copy = new Uint8Array(length);
  copy.set(bytes.subarray(0, length));
  return copy;
}

/** The bytes with one bit flipped. */
function flipped(bytes, bit) {
  const copy = bytes.slice();
  copy[bit >> 3] ^= 1 << (bit & 7);
  return copy;
}

/** The cases that a test stands for: pairs of a key and a signature. */
function* variants(key, sig, { sigLengths, keyLengths, sigBits, keyBits }) {
  for (const length of sigLengths ?? []) yield [key, resized(sig, length)];
  for (const length of keyLengths ?? []) yield [resized(key, length), sig];
  for (const bit of sigBits ?? []) yield [key, flipped(sig, bit)];
  for (const bit of keyBits ?? []) yield [flipped(key, bit), sig];
  if (!sigLengths && !keyLengths && !sigBits && !keyBits) yield [key, sig];
}

for (const set of SETS) {
  test(`vectors verify-${set}`, () => {
    let count = 0;
    for (const group of vectors(`verify-${set}`)) {
      assert.equal(group.set, set);
      for (const vector of group.tests) {
        for (const [key, sig] of variants(bytes(group.publicKey), bytes(vector.sig), vector)) {
          let valid = false;
          try {
            valid = verify(set, key, bytes(vector.msg), sig);
          } catch (error) {
            assert.equal(error.code, "AIOLI_STATUS_WRONG_LENGTH", `${error}`);
          }
          assert.equal(valid, vector.result === "valid", `test ${vector.tcId}: ${vector.comment}`);
          count++;
        }
      }
    }
    assert.ok(count > 250, `only ${count} signatures`);
  });
}

// The library draws randomizers itself, so most of these signatures are verified only; the
// deterministic one of each set is made.
test("vectors sign", () => {
  const made = [];
  for (const { set, seed, tests } of vectors("sign")) {
    const key = SigningKey.fromSeed(set, bytes(seed));
    assert.deepEqual(key.seed(), bytes(seed));
    for (const { tcId, msg, sig, flags } of tests) {
      assert.ok(verify(set, key.publicKey(), bytes(msg), bytes(sig)), `${set}, test ${tcId}`);
      if (flags.includes("Deterministic")) {
        assert.deepEqual(key.signDeterministic(bytes(msg)), bytes(sig), `${set}, test ${tcId}`);
        made.push(set);
      }
    }
    key.free();
  }
  assert.deepEqual(made.sort(), SETS.toSorted());
});
