// The JSON vectors of this repository, all but those of round 2, by the package.
//
//     AIOLI_PACKAGE=ENTRY.js AIOLI_VECTORS=FOLDER node --test vectors.test.js
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const { algorithms, SigningKey, VerifyingKey } = await import(pathToFileURL(process.env.AIOLI_PACKAGE));
const names = algorithms().map((info) => info.name);
const vectors = (name) => JSON.parse(readFileSync(join(process.env.AIOLI_VECTORS, `${name}.json`)));
const bytes = (hex) => new Uint8Array(Buffer.from(hex, "hex"));

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

/** The pairs of a key and a signature that a test stands for. */
function* variants(key, sig, { sigLengths, keyLengths, sigBits, keyBits }) {
  for (const length of sigLengths ?? []) yield [key, resized(sig, length)];
  for (const length of keyLengths ?? []) yield [resized(key, length), sig];
  for (const bit of sigBits ?? []) yield [key, flipped(sig, bit)];
  for (const bit of keyBits ?? []) yield [flipped(key, bit), sig];
  if (!sigLengths && !keyLengths && !sigBits && !keyBits) yield [key, sig];
}

/** Runs a test of a vector; an AioliError is a refusal, and anything else is a failure of ours. */
function holds(call) {
  try {
    return call();
  } catch (error) {
    assert.equal(error.name, "AioliError", `${error}`);
    return false;
  }
}

for (const name of names) {
  test(`verify-${name}`, () => {
    let count = 0;
    for (const group of vectors(`verify-${name}`).testGroups) {
      assert.equal(group.set, name);
      for (const vector of group.tests) {
        for (const [key, sig] of variants(bytes(group.publicKey), bytes(vector.sig), vector)) {
          const valid = holds(() => VerifyingKey.fromBytes(name, key).verify(sig, bytes(vector.msg)));
          assert.equal(valid, vector.result === "valid", `test ${vector.tcId}: ${vector.comment}`);
          count++;
        }
      }
    }
    assert.ok(count > 100, `only ${count} signatures`);
  });
}

/** Whether a key file is read as the key of a seed; `Key` is its class. */
function readsAs(Key, set, vector, expected) {
  const { raw, der, pem, passphrase } = vector;
  const fromRaw = Key === SigningKey ? "fromSeed" : "fromBytes";
  return holds(() => {
    const key = raw === undefined ? Key.read(pem ?? bytes(der), passphrase || undefined) : Key[fromRaw](set, bytes(raw));
    return key.algorithm === set && expected(key);
  });
}

for (const [file, Key] of [["public-keys", VerifyingKey], ["private-keys", SigningKey]]) {
  test(file, () => {
    let count = 0;
    for (const group of vectors(file).testGroups.filter((group) => names.includes(group.set))) {
      const seed = bytes(group.seed);
      const fingerprint = SigningKey.fromSeed(group.set, seed).verifyingKey().fingerprint;
      const isOfSeed = (key) => (Key === SigningKey ? Buffer.from(key.seed()).equals(seed) : key.fingerprint === fingerprint);
      for (const vector of group.tests) {
        const read = readsAs(Key, group.set, vector, isOfSeed);
        assert.equal(read, vector.result === "valid", `${group.set}, test ${vector.tcId}: ${vector.comment}`);
        count++;
      }
    }
    assert.ok(count >= 30, `only ${count} files`);
  });
}
