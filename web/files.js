// Files: small ones read whole, large ones streamed into a hasher.
import { MessageHasher, SigningKey } from "aioli-wasm";
import { make } from "./elements.js";

/** Something that the user gave cannot be used; the message says why. */
export class Refusal extends Error {
  name = "Refusal";
}

/** The bytes of a key or signature. */
export async function small(file) {
  if (file.size > LIMIT) throw new Refusal(`${file.name}: longer than ${LIMIT} bytes, so neither key nor signature`);
  return read(file, () => file.arrayBuffer());
}

/** Names the file in whatever a reader of its contents refuses. */
export function understood(file, reader) {
  try {
    return reader();
  } catch (error) {
    error.message = `${file.name}: ${error.message}`;
    throw error;
  }
}

/** The private key in a file. */
export async function privateKey(file, passphrase) {
  const contents = await small(file);
  return understood(file, () => SigningKey.read(contents, passphrase || undefined));
}

/** The digest of a prefix and a file, which is streamed. Also returns the time it took. */
export async function digest(algorithm, prefix, file, progress) {
  const hasher = new MessageHasher(algorithm);
  const start = performance.now();
  try {
    hasher.update(prefix);
    progress.value = 0;
    progress.hidden = false;
    let done = 0;
    for await (const piece of pieces(file)) {
      hasher.update(piece);
      done += piece.length;
      progress.value = done / file.size;
    }
    return { digest: hasher.digest(), seconds: (performance.now() - start) / 1000 };
  } finally {
    hasher.free();
    progress.hidden = true;
  }
}

/**
 * The contents of a file, piece by piece. Where the browser can read into memory that it is given,
 * all pieces are in the same memory, and no garbage piles up.
 */
async function* pieces(file) {
  const stream = file.stream();
  let reader;
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch {
    reader = stream.getReader();
  }
  let memory = new ArrayBuffer(PIECE);
  for (;;) {
    const { done, value } = await read(file, () => reader.read(new Uint8Array(memory)));
    if (done) return;
    yield value;
    memory = value.buffer;
  }
}

/** Says how much was read, and how fast. */
export function pace(file, seconds) {
  const megabytes = file.size / 1e6;
  const speed = megabytes >= 1 ? `, ${(megabytes / seconds).toFixed(0)} MB/s` : "";
  return make("p", "hint", `${file.size.toLocaleString("en")} bytes read in ${seconds.toFixed(2)} s${speed}`);
}

/** Lets a form take several dropped files at once: each goes to the input of its ending. */
export function distributeDrops(form, inputFor) {
  form.addEventListener("drop", (event) => {
    const files = [...event.dataTransfer.files];
    if (files.length < 2) return;
    event.preventDefault();
    for (const file of files) {
      const one = new DataTransfer();
      one.items.add(file);
      inputFor(file.name).files = one.files;
    }
  });
}

async function read(file, reader) {
  try {
    return await reader();
  } catch (error) {
    throw new Refusal(`${file.name} cannot be read: ${error.message}`);
  }
}

/** Bytes that are read at a time. */
const PIECE = 1 << 20;

/** Bytes of the longest key or signature file that is read; the limit of the command. */
const LIMIT = 1 << 16;
