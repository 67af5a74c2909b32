// MAYO signatures by the library for C, which koffi calls.
import koffi from "koffi";

const library = koffi.load("libaioli.so.0.1");
koffi.opaque("Key");
const INPUT = "const uint8_t *, size_t";
const OUTPUT = "uint8_t *, _Inout_ size_t *";
const named = (name, result, parameters) => library.func(`${result} aioli_${name}(${parameters})`);
const statusName = named("status_name", "const char *", "uint32_t");
const errorMessage = named("error_message", "uint32_t", OUTPUT);
const algorithmFromName = named("algorithm_from_name", "uint32_t", "const char *, _Out_ uint32_t *");
const generate = named("signing_key_generate", "uint32_t", "uint32_t, _Out_ Key **");
const fromSeed = named("signing_key_from_seed", "uint32_t", `uint32_t, ${INPUT}, _Out_ Key **`);
const free = named("signing_key_free", "void", "Key *");
const publicKey = named("signing_key_public", "uint32_t", `Key *, ${OUTPUT}`);
const seed = named("signing_key_seed", "uint32_t", `Key *, ${OUTPUT}`);
const sign = named("sign", "uint32_t", `Key *, ${INPUT}, ${OUTPUT}`);
const signDeterministic = named("sign_deterministic", "uint32_t", `Key *, ${INPUT}, ${OUTPUT}`);
const verifyBytes = named("verify", "uint32_t", `uint32_t, ${INPUT}, ${INPUT}, ${INPUT}`);

const OK = 0;
const INVALID_SIGNATURE = 1;
const BUFFER_TOO_SMALL = 3;

/** A failure: `code` is a status of aioli.h, such as "AIOLI_STATUS_WRONG_LENGTH". */
export class AioliError extends Error {
  constructor(code, message) {
    super(message);
    this.name = "AioliError";
    this.code = code;
  }
}

/** Throws unless the call that has just ended succeeded. */
function check(status) {
  if (status !== OK) {
    const text = new Uint8Array(500);
    const length = [text.length];
    errorMessage(text, length);
    throw new AioliError(statusName(status), new TextDecoder().decode(text.subarray(0, length[0])));
  }
}

/** An input as a pointer and a length. koffi would take a text or an array for bytes, too. */
function input(what, bytes) {
  if (!(bytes instanceof Uint8Array)) throw new TypeError(`${what} is not a Uint8Array`);
  return [bytes, bytes.length];
}

/** The bytes that a function writes, after it has told how much room it needs. */
function output(call, ...parameters) {
  const length = [0];
  const status = call(...parameters, null, length);
  if (status !== BUFFER_TOO_SMALL) check(status);
  const bytes = new Uint8Array(length[0]);
  check(call(...parameters, bytes, length));
  return bytes;
}

function number(set) {
  if (typeof set !== "string") throw new TypeError("the name of the set is not a string");
  const found = [0];
  check(algorithmFromName(set, found));
  return found[0];
}

const forgotten = new FinalizationRegistry(free);

/** A secret key. `free()` or `using` erases it. */
export class SigningKey {
  #handle;

  /** For `generate` and `fromSeed`. */
  constructor(call, ...parameters) {
    const made = [null];
    check(call(...parameters, made));
    this.#handle = made[0];
    forgotten.register(this, this.#handle, this);
  }

  /** A fresh key of a set, such as "mayo1" or "mayo1-round2". */
  static generate(set) {
    return new SigningKey(generate, number(set));
  }

  /** The key of a seed, which is the encoding of a secret key. The caller erases the seed. */
  static fromSeed(set, seed) {
    return new SigningKey(fromSeed, number(set), ...input("the seed", seed));
  }

  /** The seed, the encoding of the key. Secret: `fill(0)` it after use. */
  seed() {
    return output(seed, this.#handle);
  }

  publicKey() {
    return output(publicKey, this.#handle);
  }

  /** Signs with fresh randomness. */
  sign(message) {
    return output(sign, this.#handle, ...input("the message", message));
  }

  /** Signs without randomness: the same key and message always give the same signature. */
  signDeterministic(message) {
    return output(signDeterministic, this.#handle, ...input("the message", message));
  }

  /** Erases the key. Afterwards its methods throw. */
  free() {
    forgotten.unregister(this);
    free(this.#handle);
    this.#handle = null;
  }

  // Node 20 does not have the symbol yet.
  [Symbol.dispose ?? Symbol("dispose")]() {
    this.free();
  }
}

/**
 * Whether a signature is valid. Throws an AioliError if a key or signature does not have the length
 * of the set.
 */
export function verify(set, publicKey, message, signature) {
  const inputs = { "the public key": publicKey, "the message": message, "the signature": signature };
  const status = verifyBytes(number(set), ...Object.entries(inputs).flatMap(([what, bytes]) => input(what, bytes)));
  if (status !== INVALID_SIGNATURE) check(status);
  return status === OK;
}
