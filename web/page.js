// The page: makes keys, signs and verifies files as the command `aioli` does.
import load, { algorithms, backend, describe, SignatureFile, SigningKey, VerifyingKey } from "aioli-wasm";
import module from "aioli-wasm/module";
import { compare } from "./compare.js";
import { drawn, element, facts, make, onSubmit } from "./elements.js";
import { digest, distributeDrops, pace, privateKey, Refusal, small, understood } from "./files.js";
import { play } from "./play.js";

/** The key that was made on this page, if there is one. It stays until another one is made. */
let ownKey;

const file = (id) => element(id).files[0];
const nothing = new Uint8Array();

function makeKey(section) {
  for (const set of algorithms()) {
    const radio = make("input");
    Object.assign(radio, { type: "radio", name: "set", value: set.name, checked: set.name === "mayo1" });
    const sizes = `level ${set.level}: public key ${set.publicKeyBytes}, signature ${set.signatureBytes} bytes`;
    element("make-sets").append(make("label", "", radio, set.set, make("span", "hint", sizes)));
  }
  onSubmit(section, async (result) => {
    const name = element("make-name").value;
    const passphrase = element("make-passphrase").value;
    const key = SigningKey.generate(section.querySelector("[name=set]:checked").value);
    await drawn();
    const publicKey = key.verifyingKey();
    const pem = key.toPem(passphrase || undefined);
    ownKey?.free();
    ownKey = key;
    element("make-passphrase").value = "";
    element("sign-key-hint").textContent = "(or the key made above)";
    const how = passphrase ? "encrypted" : "not encrypted";
    result.show("good", make("p", "verdict", `A key of ${key.algorithm}, ${how}`), make("p", "mono", publicKey.fingerprint));
    result.save(`${name}.key`, pem);
    result.save(`${name}.pub`, publicKey.toPem());
  });
}

function signFile(section) {
  onSubmit(section, async (result) => {
    const [message, keyFile, bound] = [file("sign-file"), file("sign-key"), element("sign-bind").checked];
    if (!keyFile && !ownKey) throw new Refusal("choose a private key, or make one above");
    const key = keyFile ? await privateKey(keyFile, element("sign-passphrase").value) : ownKey;
    try {
      const publicKey = key.verifyingKey();
      const prefix = bound ? SignatureFile.prefix(publicKey) : nothing;
      const read = await digest(key.algorithm, prefix, message, section.querySelector("progress"));
      const signer = await key.expand(true);
      const signature = signer.signDigest(read.digest);
      signer.free();
      const text = new SignatureFile(publicKey, signature, bound).toText();
      result.show("good",
        make("p", "verdict", `${message.name} is signed`),
        make("p", "mono", `${bound ? "bound to " : "by "}${publicKey.fingerprint}`),
        pace(message, read.seconds));
      result.save(`${message.name}.sig`, text);
    } finally {
      if (keyFile) key.free();
      element("sign-passphrase").value = "";
    }
  });
}

/** The signature in a file, in an envelope or bare, and whether it covers the key's fingerprint. */
function readSignature(bytes, key) {
  if (!SignatureFile.isMeant(bytes)) return { signature: new Uint8Array(bytes), bound: false };
  const envelope = SignatureFile.read(bytes);
  if (envelope.algorithm !== key.algorithm) {
    throw new Refusal(`signature of ${envelope.algorithm}, but the key is for ${key.algorithm}`);
  }
  if (envelope.fingerprint !== key.fingerprint) {
    throw new Refusal(`signature of the key ${envelope.fingerprint}, but the given key is ${key.fingerprint}`);
  }
  return envelope;
}

function verifyFile(section) {
  distributeDrops(section.querySelector("form"), (name) =>
    element(name.endsWith(".sig") ? "verify-signature" : name.endsWith(".pub") ? "verify-key" : "verify-file"));
  onSubmit(section, async (result) => {
    const [message, signatureFile, keyFile] = ["verify-file", "verify-signature", "verify-key"].map(file);
    const contents = await small(keyFile);
    const key = understood(keyFile, () => VerifyingKey.read(contents));
    const given = await small(signatureFile);
    const { signature, bound } = understood(signatureFile, () => readSignature(given, key));
    const prefix = bound ? SignatureFile.prefix(key) : nothing;
    const read = await digest(key.algorithm, prefix, message, section.querySelector("progress"));
    const valid = understood(signatureFile, () => key.verifyDigest(signature, read.digest));
    result.show(valid ? "good" : "bad",
      make("p", "verdict", `${message.name}: ${valid ? "valid" : "NOT VALID"}`),
      make("p", "mono", `${bound ? "bound to " : "key "}${key.fingerprint}`),
      pace(message, read.seconds));
  });
}

function inspectFile(section) {
  onSubmit(section, async (result) => {
    const given = file("inspect-file");
    const contents = await small(given);
    const passphrase = element("inspect-passphrase").value;
    const descriptions = understood(given, () => describe(contents, passphrase || undefined));
    element("inspect-passphrase").value = "";
    result.show("good", ...descriptions.flatMap((one) => [make("p", "verdict", one.what), facts(one.facts)]));
  });
}

/** Shows where a dragged file would land, and keeps a missed drop from replacing the page. */
function markDrops() {
  for (const input of document.querySelectorAll("input[type=file]")) {
    input.addEventListener("dragenter", () => input.classList.add("over"));
    for (const end of ["dragleave", "drop"]) input.addEventListener(end, () => input.classList.remove("over"));
  }
  const missed = (event) => event.target.type !== "file" && event.preventDefault();
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, missed);
}

await load({ module_or_path: module });
for (const [id, start] of Object.entries({
  make: makeKey, sign: signFile, verify: verifyFile, inspect: inspectFile, compare, play,
})) {
  start(element(id));
}
markDrops();
element("about").textContent = `Aioli, round 3 of MAYO, by WebAssembly (backend ${backend()}).`;
document.querySelector("main").hidden = false;
