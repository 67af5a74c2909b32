//! Keys and signatures of round 2, both ways between the command and Bouncy Castle.

use crate::steps::{Outcome, answers, one_build, run};
use std::path::Path;
use std::process::Command;

pub(crate) fn check() -> Outcome {
    for (program, arguments, package) in [("mvn", "--version", "maven"), ("java", "-version", "default-jdk-headless")] {
        if !answers(program, &[arguments]) {
            return Outcome::Impossible(format!("{program}: apt-get install {package}"));
        }
    }
    match cross() {
        Ok(()) => Outcome::Passed,
        Err(outcome) => outcome,
    }
}

fn cross() -> Result<(), Outcome> {
    let folder = Path::new("target/bouncycastle");
    if !folder.join(JAR).exists() {
        let artifact = format!("-Dartifact=org.bouncycastle:bcprov-jdk18on:{VERSION}");
        let mut fetch = Command::new("mvn");
        done(fetch.args(["-q", "-B", "dependency:copy", &artifact, "-DoutputDirectory=target/bouncycastle"]))?;
    }
    let place = folder.join("files");
    let failed = |error: std::io::Error| Outcome::Failed(error.to_string());
    // Whatever an earlier run left.
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).map_err(failed)?;
    std::fs::write(place.join("message"), b"a message for both").map_err(failed)?;
    done(&mut one_build(&["build", "--release", "-q", "-p", "aioli-cli"]))?;

    java(folder, &place, "make")?;
    for set in SETS {
        let [key, public, signature] = ["key", "pub", "sig"].map(|kind| format!("bc-{set}.{kind}"));
        println!("{set}: Bouncy Castle's keys and signature");
        aioli(&place, 0, &["verify", "-q", "-k", &public, "--signature", &signature, "message"])?;
        let mut bytes = std::fs::read(place.join(&signature)).map_err(failed)?;
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(place.join("flipped.sig"), bytes).map_err(failed)?;
        aioli(&place, 1, &["verify", "-q", "-k", &public, "--signature", "flipped.sig", "message"])?;
        // One key, whether it comes from their private or their public file.
        aioli(&place, 0, &["pubkey", &key, "-o", &format!("same-{set}.pub")])?;
        aioli(&place, 0, &["convert", &public, "--to", "oqs", "-o", &format!("converted-{set}.pub")])?;
        let [one, other] = ["same", "converted"].map(|from| std::fs::read(place.join(format!("{from}-{set}.pub"))));
        if one.map_err(failed)? != other.map_err(failed)? {
            return Err(Outcome::Failed(format!("{set}: the two public keys differ")));
        }
        aioli(&place, 0, &["sign", "-q", "--raw", "-k", &key, "-o", &format!("by-us-{set}.sig"), "message"])?;

        let ours = format!("own-{set}");
        aioli(&place, 0, &["keygen", "--set", &format!("{set}-round2"), "--no-passphrase", "-o", &ours])?;
        let [key, public] = ["key", "pub"].map(|kind| format!("{ours}.{kind}"));
        for (from, kind) in [(&key, "key"), (&public, "pub")] {
            let to = format!("our-{set}.{kind}");
            aioli(&place, 0, &["convert", from, "--to", "bouncycastle", "--der", "-o", &to])?;
        }
        aioli(&place, 0, &["sign", "-q", "--raw", "-k", &key, "-o", &format!("our-{set}.sig"), "message"])?;
    }
    java(folder, &place, "check")?;
    for set in SETS {
        println!("{set}: Bouncy Castle's signature with our key");
        let [public, signature] = [format!("own-{set}.pub"), format!("by-bc-{set}.sig")];
        aioli(&place, 0, &["verify", "-q", "-k", &public, "--signature", &signature, "message"])?;
    }
    Ok(())
}

fn java(folder: &Path, place: &Path, what: &str) -> Result<(), Outcome> {
    let mut java = Command::new("java");
    java.arg("-cp").arg(folder.join(JAR)).arg("xtask/java/BouncyCastle.java").arg(what).arg(place);
    done(&mut java)
}

/// Runs the command, which must end with this code.
fn aioli(place: &Path, code: i32, arguments: &[&str]) -> Result<(), Outcome> {
    let program = std::path::absolute("target/release/aioli").map_err(|error| Outcome::Failed(error.to_string()))?;
    let output = Command::new(program).args(arguments).current_dir(place).output();
    let output = output.map_err(|error| Outcome::Failed(error.to_string()))?;
    if output.status.code() == Some(code) {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(Outcome::Failed(format!("aioli {}: {}, not {code}: {told}", arguments.join(" "), output.status)))
}

fn done(command: &mut Command) -> Result<(), Outcome> {
    match run(command) {
        Outcome::Passed => Ok(()),
        outcome => Err(outcome),
    }
}

const SETS: [&str; 4] = ["mayo1", "mayo2", "mayo3", "mayo5"];
const VERSION: &str = "1.86";
const JAR: &str = "bcprov-jdk18on-1.86.jar";
