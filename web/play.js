// A signature to break: each byte is a button that flips one of its bits.
import { SigningKey } from "aioli-wasm";
import { element, make, Result } from "./elements.js";

const SET = "mayo2";

export function play(section) {
  const [box, message, result] = [element("play-bytes"), element("play-message"), new Result(section)];
  const encoder = new TextEncoder();
  const key = SigningKey.generate(SET);
  const publicKey = key.verifyingKey();
  let original;
  let signature;

  const judge = () => {
    const valid = publicKey.verify(signature, encoder.encode(message.value));
    const flipped = signature.reduce((count, byte, i) => count + (byte !== original[i]), 0);
    const bytes = flipped === 0 ? "the signature is untouched" : `${flipped} of ${signature.length} bytes changed`;
    result.show(valid ? "good" : "bad", make("p", "verdict", valid ? "VALID" : "NOT VALID"), make("p", "", bytes));
  };
  const label = (i) => {
    const hex = signature[i].toString(16).padStart(2, "0");
    const button = box.children[i];
    button.textContent = hex;
    const changed = signature[i] !== original[i];
    button.classList.toggle("flipped", changed);
    button.setAttribute("aria-label", `byte ${i}: ${hex}${changed ? ", changed" : ""}`);
  };
  const restore = () => {
    signature = original.slice();
    [...box.children].forEach((_, i) => label(i));
    judge();
  };
  const sign = () => {
    original = key.sign(encoder.encode(message.value));
    restore();
  };
  const focus = (i) => {
    const target = box.children[i];
    if (!target) return;
    for (const button of box.children) button.tabIndex = -1;
    target.tabIndex = 0;
    target.focus();
  };

  const length = key.sign(new Uint8Array()).length;
  for (let i = 0; i < length; i++) {
    const button = make("button");
    button.type = "button";
    button.tabIndex = i === 0 ? 0 : -1;
    button.addEventListener("click", () => {
      signature[i] ^= 1 << (i % 8);
      label(i);
      judge();
    });
    box.append(button);
  }
  box.addEventListener("keydown", (event) => {
    const at = [...box.children].indexOf(document.activeElement);
    const columns = getComputedStyle(box).gridTemplateColumns.split(" ").length;
    const moves = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns, ArrowDown: at + columns, Home: 0, End: length - 1 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    focus(moves[event.key]);
  });
  message.addEventListener("input", judge);
  element("play-sign").addEventListener("click", sign);
  element("play-restore").addEventListener("click", restore);
  sign();
}
