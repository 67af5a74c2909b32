"""Holds the test vectors beside it against the executable specification, mayo_spec.py.

    python3 check.py               # all files
    python3 check.py FILE...       # these alone

Needs numpy, cryptography and jsonschema. The files are checked against schema.json. Each public key
is made again, each signature is made or verified again, with every variant. The files of keys are
checked for what they must contain; reading them is left to the programs that they are for.
"""
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import jsonschema

import mayo_spec

HERE = Path(__file__).parent


def resized(data, length):
    return data[:length].ljust(length, b"\0")


def flipped(data, bit):
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


VARIANTS = {
    "sigLengths": lambda key, sig, length: (key, resized(sig, length)),
    "sigBits": lambda key, sig, bit: (key, flipped(sig, bit)),
    "keyLengths": lambda key, sig, length: (resized(key, length), sig),
    "keyBits": lambda key, sig, bit: (flipped(key, bit), sig),
}


def cases(key, test):
    """The pairs of public key and signature that a test stands for."""
    sig = bytes.fromhex(test["sig"])
    for name, change in VARIANTS.items():
        if name in test:
            return [change(key, sig, number) for number in test[name]]
    return [(key, sig)]


def check_verify(p, group, test):
    key = bytes.fromhex(group["publicKey"])
    expected = test["result"] == "valid"
    pairs = cases(key, test)
    verdicts = [mayo_spec.verify(p, key, bytes.fromhex(test["msg"]), sig) == expected for key, sig in pairs]
    return len(verdicts), all(verdicts)


def check_sign(p, group, test):
    seed, msg, randomizer, sig = (bytes.fromhex(text) for text in (group["seed"], test["msg"], test["randomizer"], test["sig"]))
    return 1, mayo_spec.sign(p, seed, msg, randomizer) == sig


def check_key(p, group, test):
    """The contents of a file that is valid and readable without more ado."""
    seed = bytes.fromhex(group["seed"])
    contents = mayo_spec.keygen(p, seed) if group["type"] == "MayoPublicKey" else seed
    plain = test["result"] == "valid" and "passphrase" not in test and "pem" not in test
    return int(plain), not plain or contents in bytes.fromhex(test.get("der") or test["raw"])


CHECKS = {
    "MayoVerify": check_verify,
    "MayoSign": check_sign,
    "MayoPublicKey": check_key,
    "MayoPrivateKey": check_key,
}


def check(name):
    """The number of cases in a file that were checked, and its faults."""
    file = json.loads((HERE / name).read_text())
    schema = jsonschema.Draft202012Validator(json.loads((HERE / "schema.json").read_text()))
    faults = [f"schema: {error.json_path}: {error.message[:100]}" for error in schema.iter_errors(file)]
    if faults:
        return name, 0, faults
    tests = [test for group in file["testGroups"] for test in group["tests"]]
    if [test["tcId"] for test in tests] != list(range(1, file["numberOfTests"] + 1)):
        faults.append("the tests are not numbered")
    if {flag for test in tests for flag in test["flags"]} != set(file["notes"]):
        faults.append("the notes are not those of the flags")
    count = 0
    for group in file["testGroups"]:
        p = mayo_spec.PARAMETERS[group["parameterSet"] + ("_ROUND_2" if group["round"] == 2 else "")]
        if "publicKey" in group and "seed" in group:
            count += 1
            if mayo_spec.keygen(p, bytes.fromhex(group["seed"])).hex() != group["publicKey"]:
                faults.append(f"{group['set']}: another public key")
        for test in group["tests"]:
            cases, agrees = CHECKS[group["type"]](p, group, test)
            count += cases
            if not agrees:
                faults.append(f"test {test['tcId']} ({test['comment']}) is not {test['result']}")
    return name, count, faults


def main():
    names = sys.argv[1:] or sorted(path.name for path in HERE.glob("*.json") if path.name != "schema.json")
    failed = False
    with ProcessPoolExecutor() as pool:
        for name, count, faults in pool.map(check, names):
            print(f"{name}: {count} cases, {len(faults)} faults")
            for fault in faults:
                print(f"{name}: {fault}")
            failed |= bool(faults) or count == 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
