//! The two examples, with the files that the README's commands make.

use crate::in_memory::Identity;
use aioli::Algorithm;
use aioli::pkcs8::{EncodePrivateKey, LineEnding};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The path of an example, which cargo builds with the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(example.exists(), "{} is not built", example.display());
    example
}

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn client_and_server_shake_hands() {
    for (algorithm, round) in
        [(Algorithm::Mayo1, None), (Algorithm::Mayo5, None), (Algorithm::Mayo1Round2, Some("round2"))]
    {
        let folder = tempfile::tempdir().unwrap();
        let [authority, chain, key, strangers] =
            ["ca.pem", "server.pem", "server.key", "other.pem"].map(|name| folder.path().join(name));
        let identity = Identity::new(algorithm);
        std::fs::write(&authority, identity.authority.certificate().to_pem()).unwrap();
        std::fs::write(&chain, identity.certificate.to_pem()).unwrap();
        std::fs::write(&key, identity.key.to_pkcs8_pem(LineEnding::LF).unwrap()).unwrap();
        std::fs::write(&strangers, Identity::new(algorithm).authority.certificate().to_pem()).unwrap();

        let mut server = Command::new(example("server"));
        server.arg("127.0.0.1:0").args([&chain, &key]).args(round).stderr(Stdio::piped());
        let mut server = Running(server.spawn().unwrap());
        let mut words = BufReader::new(server.0.stderr.take().unwrap()).lines();
        let first = words.next().unwrap().unwrap();
        let address = first.strip_prefix("listening on ").unwrap_or_else(|| panic!("{first}")).to_owned();
        // Somebody must go on listening to what it says.
        let listener = std::thread::spawn(move || words.map_while(Result::ok).for_each(drop));

        let client = |name: &str, authority: &PathBuf| {
            let mut client = Command::new(example("client"));
            let output = client.args([&address, name]).arg(authority).args(round).output().unwrap();
            let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
            (output.status.success(), out, err)
        };
        let verified = format!("verified: a server with a key of {algorithm}\n");
        assert_eq!(client("localhost", &authority), (true, "a line\n".into(), verified));
        for (name, authority, why) in
            [("example.org", &authority, "NotValidForName"), ("localhost", &strangers, "BadSignature")]
        {
            let (accepted, out, err) = client(name, authority);
            assert!(!accepted && out.is_empty() && err.contains(why), "{err}");
        }
        drop(server);
        listener.join().unwrap();
    }
}
