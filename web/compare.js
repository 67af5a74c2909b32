// The sets beside other schemes: bytes on the wire, and time in this browser.
import { algorithms, backend, SigningKey } from "aioli-wasm";
import { drawn, element, make, Result } from "./elements.js";

/** The sizes of others, in bytes: RFC 8032, FIPS 204, and Falcon's specification (version 1.2). */
const OTHERS = [
  { label: "Ed25519", publicKeyBytes: 32, signatureBytes: 64 },
  { label: "ML-DSA-44", publicKeyBytes: 1312, signatureBytes: 2420 },
  { label: "Falcon-512", publicKeyBytes: 897, signatureBytes: 666 },
];

/** Schemes that a browser may bring along. */
const NATIVE = ["Ed25519", "ML-DSA-44"];

/** Milliseconds that each operation is repeated for, in turns of at most TURN. */
const [REPEATED, TURN] = [240, 40];

export function compare(section) {
  const schemes = algorithms().map((set) => ({ label: set.set, ...set })).concat(OTHERS);
  schemes.sort((a, b) => a.publicKeyBytes + a.signatureBytes - b.publicKeyBytes - b.signatureBytes);
  const sizes = schemes.map(({ label, publicKeyBytes, signatureBytes }) => [label, publicKeyBytes, signatureBytes]);
  chart(element("sizes"), ["", "public key", "signature", "both"], sizes, { stacked: true });

  const result = new Result(section);
  const button = element("measure");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const rows = [];
      for (const set of algorithms()) {
        result.show("", make("p", "", `Measuring ${set.set} …`));
        await drawn();
        rows.push([set.set, ...(await measure(await mayo(set.name)))]);
      }
      const natives = [];
      for (const name of NATIVE) {
        result.show("", make("p", "", `Measuring ${name} …`));
        const operations = await native(name);
        if (operations) {
          rows.push([`${name} *`, ...(await measure(operations))]);
          natives.push(name);
        }
      }
      const table = element("speeds");
      const shown = rows.map(([label, ...times]) => [label, ...times.map((time) => Math.round(time))]);
      chart(table, ["", "make a key", "sign", "verify"], shown, { stacked: false });
      table.hidden = false;
      const others = natives.length ? ` * ${natives.join(" and ")}: the browser's own code, and its crossing of threads.` : "";
      result.show("good", make("p", "", `Medians in microseconds. MAYO by WebAssembly, backend ${backend()}.${others}`));
    } catch (error) {
      result.refuse(error);
    } finally {
      button.disabled = false;
    }
  });
}

/** Draws rows of a label and numbers as a table with bars; stacked bars also have their sum. */
function chart(table, titles, rows, { stacked }) {
  const classes = ["", "second", "third"];
  const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);
  const full = Math.max(...rows.map(([, ...numbers]) => (stacked ? total(numbers) : Math.max(...numbers))));
  const head = make("tr");
  titles.forEach((title, i) => head.append(make("th", "", title)));
  head.children[0].after(make("td"));
  for (const cell of head.querySelectorAll("th")) cell.scope = "col";
  const body = make("tbody");
  for (const [label, ...numbers] of rows) {
    const bars = make("td", stacked ? "bars stacked" : "bars");
    bars.setAttribute("aria-hidden", "true");
    numbers.forEach((number, i) => {
      const bar = make("div", classes[i]);
      bar.style.width = `${(100 * number) / full}%`;
      bars.append(bar);
    });
    const name = make("th", "", label);
    name.scope = "row";
    const cells = stacked ? [...numbers, total(numbers)] : numbers;
    body.append(make("tr", "", name, bars, ...cells.map((number) => make("td", "", number.toLocaleString("en")))));
  }
  table.replaceChildren(table.querySelector("caption"), make("thead", "", head), body);
}

/** Making a key, signing and verifying with a set. */
async function mayo(name) {
  const message = new Uint8Array(32);
  const key = SigningKey.generate(name);
  const publicKey = key.verifyingKey();
  const signature = key.sign(message);
  return [
    () => {
      const fresh = SigningKey.generate(name);
      fresh.verifyingKey().free();
      fresh.free();
    },
    () => key.sign(message),
    () => {
      if (!publicKey.verify(signature, message)) throw new Error(`${name}: a signature of this page is not valid`);
    },
  ];
}

/** The same with the browser's own code; nothing if it does not know the scheme. */
async function native(name) {
  const message = new Uint8Array(32);
  try {
    const { privateKey, publicKey } = await crypto.subtle.generateKey(name, false, ["sign", "verify"]);
    const signature = await crypto.subtle.sign(name, privateKey, message);
    return [
      () => crypto.subtle.generateKey(name, false, ["sign", "verify"]),
      () => crypto.subtle.sign(name, privateKey, message),
      () => crypto.subtle.verify(name, publicKey, signature, message),
    ];
  } catch (error) {
    if (!(error instanceof DOMException) && !(error instanceof TypeError)) throw error;
    return undefined;
  }
}

/** The median time of each operation, in microseconds. The operations are repeated by turns. */
async function measure(operations) {
  const samples = operations.map(() => []);
  for (let spent = 0; spent < REPEATED; spent += TURN) {
    for (const [i, operation] of operations.entries()) {
      const end = performance.now() + TURN;
      // A browser's clock may have steps of 0.1 ms, so several runs share a sample.
      for (let runs = 1; performance.now() < end; ) {
        const start = performance.now();
        for (let run = 0; run < runs; run++) await operation();
        const took = performance.now() - start;
        if (took < 4) runs *= 2;
        else samples[i].push((1000 * took) / runs);
      }
      await drawn();
    }
  }
  return samples.map((times) => times.sort((a, b) => a - b)[times.length >> 1]);
}
