// Measures packages beside each other in Node, by turns, and writes a record.
//
//     node measure.js PACKAGE PACKAGE RECORD.json
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [record, ...folders] = process.argv.slice(2).reverse();
if (folders.length !== 2) {
  console.error("usage: node measure.js PACKAGE PACKAGE RECORD.json");
  process.exit(2);
}
const packages = await Promise.all(folders.reverse().map((folder) => import(pathToFileURL(join(folder, "node.js")))));
const message = new Uint8Array(32);
const ROUNDS = 150;

/** The operations of a set, by one package. */
async function operations({ SigningKey }, set) {
  const key = SigningKey.generate(set);
  const publicKey = key.verifyingKey();
  const signature = key.sign(message);
  const [signer, verifier] = [await key.expand(), await publicKey.expand()];
  return {
    keygen: () => key.verifyingKey().free(),
    sign: () => key.sign(message),
    sign_expanded: () => signer.sign(message),
    verify: () => publicKey.verify(signature, message),
    verify_expanded: () => verifier.verify(signature, message),
    expand_pk: async () => (await publicKey.expand()).free(),
  };
}

const results = [];
for (const { name, set, round } of packages[0].algorithms()) {
  const subjects = await Promise.all(packages.map((one) => operations(one, name)));
  for (const operation of Object.keys(subjects[0])) {
    const samples = subjects.map(() => []);
    for (let i = 0; i < ROUNDS; i++) {
      for (const [s, subject] of subjects.entries()) {
        const start = process.hrtime.bigint();
        await subject[operation]();
        samples[s].push(Number(process.hrtime.bigint() - start) / 1000);
      }
    }
    for (const [s, times] of samples.entries()) {
      times.sort((a, b) => a - b);
      const at = (part) => Number(times[Math.floor(part * (times.length - 1))].toFixed(1));
      results.push({
        backend: packages[s].backend(), operation, round, set,
        microseconds: { least: at(0), quarter: at(0.25), median: at(0.5), three_quarters: at(0.75) },
        samples: times.length,
      });
    }
  }
}
const said = (program, ...words) => execFileSync(program, words, { encoding: "utf8" }).trim();
const machine = {
  commit: said("git", "rev-parse", "HEAD"),
  dirty: said("git", "status", "--porcelain") !== "",
  cpu: cpus()[0].model,
  cpus: cpus().length,
  engine: `Node ${process.version}, V8 ${process.versions.v8}`,
  load_average: Number(said("cat", "/proc/loadavg").split(" ")[0]),
  rustc: said("rustc", "--version"),
  notes: [
    "packages of one commit, without and with simd128, measured by turns in one process",
    "expand_pk is `await key.expand()`: the key stream comes from WebCrypto in both",
  ],
};
writeFileSync(record, `${JSON.stringify({ machine, results }, null, 1)}\n`);
for (const result of results.filter((_, i) => i % 2 === 0)) {
  const other = results.find((one) => one !== result && one.set === result.set && one.operation === result.operation);
  const [a, b] = [result, other].map((one) => one.microseconds);
  console.log(`${result.set} ${result.operation}: ${a.median} / ${b.median} us, ${(a.median / b.median).toFixed(2)}; least ${(a.least / b.least).toFixed(2)}`);
}
