// The package: keys, files, messages in pieces, and what it refuses.
//
//     AIOLI_PACKAGE=ENTRY.js node --test package.test.js
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";

const aioli = await import(pathToFileURL(process.env.AIOLI_PACKAGE));
const { ExpandedSigningKey, MessageDigest, MessageHasher, SignatureFile, SigningKey, VerifyingKey } = aioli;
const message = new TextEncoder().encode("a message");
const names = aioli.algorithms().map((info) => info.name);

/** Asserts that `call` throws an AioliError of this code, whose message matches. */
const refused = (call, code, expected) =>
  assert.throws(call, (error) => {
    assert.ok(error instanceof Error);
    assert.equal(error.name, "AioliError");
    assert.equal(error.code, code, error.message);
    assert.match(error.message, expected);
    return true;
  });

test("this build has the sets of round 3", () => {
  assert.deepEqual(names, ["mayo1", "mayo2", "mayo3", "mayo5"]);
  assert.deepEqual(aioli.algorithms()[1], {
    name: "mayo2", set: "MAYO_2", round: 3, level: 1, secretKeyBytes: 24, publicKeyBytes: 2928, signatureBytes: 239,
  });
});

test("the backend is the one that was built", () => {
  assert.equal(aioli.backend(), process.env.AIOLI_BACKEND);
});

for (const name of names) {
  test(`${name} signs and verifies, compact and expanded`, async () => {
    const key = SigningKey.generate(name);
    assert.equal(key.algorithm, name);
    const publicKey = key.verifyingKey();
    const [signer, checked, verifier] = [await key.expand(), await key.expand(true), await publicKey.expand()];
    const signatures = [key, signer, checked].map((signer) => signer.sign(message));
    assert.equal(new Set(signatures.map(String)).size, 3, "signatures are randomized");
    for (const signature of signatures) {
      for (const key of [publicKey, verifier]) {
        assert.equal(key.verify(signature, message), true);
        assert.equal(key.verify(signature, message.slice(1)), false);
        assert.equal(key.verify(signature.map((byte, i) => (i === 7 ? byte ^ 1 : byte)), message), false);
        refused(() => key.verify(signature.slice(1), message), "length", /^signature of mayo\d has \d+ bytes, not \d+$/);
      }
    }
    assert.ok(signer instanceof ExpandedSigningKey);
  });

  test(`${name}: a message in pieces is the message`, () => {
    const hasher = new MessageHasher(name);
    hasher.update(message.subarray(0, 3));
    hasher.update(message.buffer.slice(3));
    const key = SigningKey.generate(name);
    const publicKey = key.verifyingKey();
    assert.equal(publicKey.verify(key.signDigest(hasher.digest()), message), true);
    assert.equal(publicKey.verifyDigest(key.sign(message), MessageDigest.of(name, message)), true);
    hasher.update(message);
    assert.equal(publicKey.verifyDigest(key.sign(message), hasher.digest()), false);
  });

  test(`${name}: keys survive their files`, () => {
    const key = SigningKey.generate(name);
    const publicKey = key.verifyingKey();
    for (const copy of [
      SigningKey.read(key.toPem()),
      SigningKey.read(new TextEncoder().encode(key.toPem())),
      SigningKey.read(key.toDer()),
      SigningKey.read(key.toPem("pässword ⚿"), "pässword ⚿"),
      SigningKey.read(key.toDer("pässword ⚿"), new TextEncoder().encode("pässword ⚿")),
      SigningKey.fromSeed(name, key.seed()),
    ]) {
      assert.deepEqual(copy.seed(), key.seed());
    }
    for (const copy of [
      VerifyingKey.read(publicKey.toPem()),
      VerifyingKey.read(publicKey.toDer()),
      VerifyingKey.fromBytes(name, publicKey.toBytes().buffer),
    ]) {
      assert.equal(copy.fingerprint, publicKey.fingerprint);
      assert.deepEqual(copy.toBytes(), publicKey.toBytes());
    }
  });
}

test("keys are expanded by WebCrypto, and without it", async (context) => {
  const { subtle } = globalThis.crypto;
  const encrypt = context.mock.method(subtle, "encrypt");
  for (const name of names) {
    const key = SigningKey.generate(name);
    const publicKey = key.verifyingKey();
    const signature = key.sign(message);
    const before = encrypt.mock.callCount();
    const byWebCrypto = await publicKey.expand();
    assert.equal(encrypt.mock.callCount(), before + 1);
    context.mock.method(subtle, "importKey", () => Promise.reject(new Error("none here")));
    const byModule = await publicKey.expand();
    subtle.importKey.mock.restore();
    assert.equal(encrypt.mock.callCount(), before + 1);
    for (const expanded of [byWebCrypto, byModule]) {
      assert.equal(expanded.verify(signature, message), true);
      assert.equal(expanded.verify(signature, message.slice(1)), false);
    }
  }
});

test("a signature file says what it holds", () => {
  const key = SigningKey.generate("mayo2");
  const publicKey = key.verifyingKey();
  for (const bound of [false, true]) {
    const file = SignatureFile.read(new SignatureFile(publicKey, key.sign(message), bound).toText());
    assert.equal(file.algorithm, "mayo2");
    assert.equal(file.fingerprint, publicKey.fingerprint);
    assert.equal(file.bound, bound);
    assert.equal(publicKey.verify(file.signature, message), true);
  }
  assert.equal(new TextDecoder().decode(SignatureFile.prefix(publicKey)), `aioli bound key\n${publicKey.fingerprint}\n`);
  assert.equal(SignatureFile.isMeant(key.sign(message)), false);
});

test("any file is described", () => {
  const key = SigningKey.generate("mayo1");
  const publicKey = key.verifyingKey();
  const signature = new SignatureFile(publicKey, key.sign(message)).toText();
  const set = ["set", "MAYO_1 of round 3 (mayo1), NIST level 1"];
  const fingerprint = ["fingerprint", publicKey.fingerprint];
  const ofPublic = ["fingerprint", `${publicKey.fingerprint} (of its public key)`];
  const encryption = "PBES2 with scrypt (N = 16384, r = 8, p = 1) and 256 bit cipher keys";
  for (const [file, passphrase, what, facts] of [
    [publicKey.toPem(), undefined, "MAYO public key (SubjectPublicKeyInfo, PEM)", [set, ["size", "1456 bytes"], fingerprint]],
    [key.toDer(), undefined, "MAYO private key (PKCS#8, DER, not encrypted)", [set, ofPublic]],
    [key.toPem("secret"), "secret", `MAYO private key (PKCS#8, PEM, encrypted: ${encryption})`, [set, ofPublic]],
    [signature, undefined, "MAYO signature (envelope, version 1)", [set, ["size", "464 bytes"], ["key", publicKey.fingerprint]]],
    [key.seed(), undefined, "raw bytes, judged by their number alone (24)", undefined],
  ]) {
    const [description, ...more] = aioli.describe(file, passphrase);
    assert.equal(more.length, 0);
    assert.equal(description.what, what);
    if (facts) assert.deepEqual(description.facts, facts);
  }
  refused(() => aioli.describe("nothing of ours"), "unknown-file", /neither a key nor a signature/);
  refused(() => aioli.describe("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "certificate", /not a certificate/);
  refused(() => aioli.describe(`${signature}x`), "signature-file", /envelope/);
  refused(() => aioli.describe(key.toPem("secret"), "Secret"), "decryption", /wrong passphrase or damaged/);
});

test("what is wrong is named", () => {
  const key = SigningKey.generate("mayo1");
  refused(() => SigningKey.generate("mayo4"), "unknown-set", /unknown set; the sets are mayo1, mayo2/);
  refused(() => SigningKey.generate(1), "type", /the name of the set is not a string/);
  refused(() => SigningKey.fromSeed("mayo1", new Uint8Array(23)), "length", /has 24 bytes, not 23/);
  refused(() => SigningKey.read("nothing"), "key-format", /not a key in PEM or DER/);
  refused(() => SigningKey.read(key.toPem("secret")), "encrypted", /no passphrase was given/);
  refused(() => SigningKey.read(key.toPem("secret"), "Secret"), "decryption", /wrong passphrase or damaged/);
  refused(() => key.toPem(""), "type", /passphrase/);
  refused(() => VerifyingKey.read(key.toPem()), "key-format", /expected the label PUBLIC KEY/);
  refused(() => VerifyingKey.fromBytes("mayo1", new Uint8Array(3)), "length", /public key of mayo1 has 1456 bytes, not 3/);
  refused(() => key.sign("text"), "type", /the message is not an ArrayBuffer or a view of one/);
  refused(() => key.sign([1, 2, 3]), "type", /the message is not/);
  refused(() => key.signDigest(MessageDigest.of("mayo3", message)), "algorithm-mismatch", /is for mayo1, but .* mayo3/);
  refused(() => SignatureFile.read("aioli-signature: 2\n"), "signature-file", /this program knows version 1/);
});

test("a key that is freed cannot be used", () => {
  const key = SigningKey.generate("mayo1");
  key.free();
  assert.throws(() => key.sign(message), /null pointer/);
});

test("nothing secret is shown or copied by accident", () => {
  const key = SigningKey.generate("mayo1");
  const shown = inspect(key, { showHidden: true, depth: 9 }) + JSON.stringify(key) + String(key);
  assert.ok(!shown.includes(key.seed().join(", ")) && shown.length < 500, shown);
});

/** The number of times that the bytes occur in all memory of the module. */
function occurrences(memory, bytes) {
  const all = Buffer.from(memory.buffer);
  let count = 0;
  for (let at = all.indexOf(bytes); at >= 0; at = all.indexOf(bytes, at + 1)) count++;
  return count;
}

test("freed keys leave no seed, no passphrase and no file in memory", async () => {
  const { memory } = aioli.initSync();
  const seed = crypto.getRandomValues(new Uint8Array(24));
  const passphrase = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");
  const key = SigningKey.fromSeed("mayo1", seed);
  assert.ok(occurrences(memory, seed) > 0, "the search finds a key in use");
  const pem = key.toPem();
  const body = pem.split("\n")[1];
  const copy = SigningKey.read(key.toPem(passphrase), passphrase);
  const third = SigningKey.read(pem);
  const expanded = await key.expand(true);
  key.sign(message);
  expanded.sign(message);
  for (const file of [seed, pem, key.toDer()]) aioli.describe(file);
  aioli.describe(key.toPem(passphrase), passphrase);
  for (const object of [key, copy, third, expanded]) object.free();
  assert.equal(occurrences(memory, seed), 0, "seed");
  assert.equal(occurrences(memory, Buffer.from(passphrase)), 0, "passphrase");
  assert.equal(occurrences(memory, Buffer.from(body)), 0, "key file");
});
