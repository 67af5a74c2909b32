// What a key or signature file holds, in the words of `aioli inspect`.
import { algorithms, SignatureFile, SigningKey, VerifyingKey } from "aioli-wasm";
import { Refusal } from "./files.js";

/** A title, and pairs of names and values. */
export function describe(bytes, passphrase) {
  if (SignatureFile.isMeant(bytes)) {
    const file = SignatureFile.read(bytes);
    return ["MAYO signature (envelope, version 1)", [
      ...set(file.algorithm),
      ["size", `${file.signature.length} bytes`],
      [file.bound ? "bound key" : "key", file.fingerprint],
    ]];
  }
  const isPem = new TextDecoder("latin1").decode(bytes).includes("-----BEGIN ");
  const encoding = isPem ? "PEM" : "DER";
  const readers = [
    () => publicKey(VerifyingKey.read(bytes), encoding),
    () => privateKey(bytes, passphrase, encoding),
  ];
  const refusals = [];
  for (const reader of readers) {
    try {
      return reader();
    } catch (error) {
      if (error.name !== "AioliError") throw error;
      refusals.push(error);
    }
  }
  const facts = isPem ? [] : raw(bytes.byteLength);
  if (facts.length > 0) return [`Raw bytes, judged by their number alone (${bytes.byteLength})`, facts];
  // Of the two kinds of key, the structure or label of the file rules one out.
  const telling = refusals.find((error) => !/^(not a key|PEM of something else)/.test(error.message));
  if (telling ?? isPem) throw telling ?? refusals[0];
  throw new Refusal("neither a key nor a signature: not PEM, DER or an envelope, and no raw one has this length");
}

function publicKey(key, encoding) {
  return [`MAYO public key (SubjectPublicKeyInfo, ${encoding})`, [
    ...set(key.algorithm),
    ["size", `${key.toBytes().length} bytes`],
    ["fingerprint", key.fingerprint],
  ]];
}

function privateKey(bytes, passphrase, encoding) {
  let key;
  try {
    key = SigningKey.read(bytes, passphrase || undefined);
  } catch (error) {
    if (error.code !== "encrypted") throw error;
    return [`Encrypted private key (PKCS#8, ${encoding})`, [["set", "not known without the passphrase"]]];
  }
  try {
    return [`MAYO private key (PKCS#8, ${encoding})`, [
      ...set(key.algorithm),
      ["fingerprint", `${key.verifyingKey().fingerprint} (of its public key)`],
    ]];
  } finally {
    key.free();
  }
}

function set(name) {
  const { set, round, level } = algorithms().find((set) => set.name === name);
  return [["set", `${set} of round ${round} (${name}), NIST level ${level}`]];
}

/** Every raw key or signature of round 3 that has this many bytes. */
function raw(bytes) {
  const kinds = [["secret key", "secretKeyBytes"], ["public key", "publicKeyBytes"], ["signature", "signatureBytes"]];
  return algorithms().flatMap((set) =>
    kinds.filter(([, size]) => set[size] === bytes).map(([what]) => ["can be", `${what} of ${set.set} (${set.name})`]));
}
