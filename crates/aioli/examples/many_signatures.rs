//! Makes keys, signs and verifies in batches on all cores, and prints the rates.
//!
//! ```text
//! cargo run --release --features rayon --example many_signatures -- [COUNT]
//! ```

use aioli::batch::{Item, keygen_batch, sign_batch, verify_batch};
use aioli::round3::Mayo2;
use std::error::Error;
use std::time::Instant;

const DEFAULT_COUNT: usize = 2000;

fn main() {
    let count = std::env::args().nth(1).map_or(Ok(DEFAULT_COUNT), |count| count.parse());
    let result = count.map_err(|error| format!("COUNT: {error}").into()).and_then(run);
    if let Err(error) = result {
        eprintln!("many_signatures: {error}");
        std::process::exit(1);
    }
}

fn run(count: usize) -> Result<(), Box<dyn Error>> {
    let keys = timed("keys", count, || keygen_batch::<Mayo2>(count));
    // Every item has its own result, so one failure leaves the others usable.
    let keys = keys.into_iter().collect::<Result<Vec<_>, _>>()?;
    let Some((key, public_key)) = keys.first() else { return Ok(()) };

    let messages: Vec<String> = (0..count).map(|i| format!("message {i}")).collect();
    let signatures = timed("signatures", count, || sign_batch(key, &messages));
    let signatures = signatures.into_iter().collect::<Result<Vec<_>, _>>()?;

    let items: Vec<Item<'_, Mayo2>> = (messages.iter().zip(&signatures))
        .map(|(message, signature)| Item {
            key: public_key,
            message: message.as_bytes(),
            signature: signature.as_ref(),
        })
        .collect();
    let verdicts = timed("verifications", count, || verify_batch(&items));
    let invalid = verdicts.iter().filter(|verdict| verdict.is_err()).count();
    if invalid > 0 { Err(format!("{invalid} of {count} signatures are invalid").into()) } else { Ok(()) }
}

/// The first batch of a process also starts rayon's threads.
fn timed<T>(what: &str, count: usize, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = f();
    let seconds = start.elapsed().as_secs_f64();
    println!("{count} {what} in {:.0} ms: {:.0} a second", 1e3 * seconds, count as f64 / seconds);
    result
}
