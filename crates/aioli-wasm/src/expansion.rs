//! Public keys expanded by WebCrypto: P is a key stream of AES-128 in counter mode, which engines
//! compute by the processor's instructions.

use crate::edge::object;
use aioli::{ParameterSet, VerifyingKey, any, hazmat, with_set};
use js_sys::{Array, Object, Uint8Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = ["globalThis", "crypto", "subtle"], js_name = importKey, catch)]
    async fn import_key(
        format: &str,
        key: &Uint8Array,
        algorithm: &str,
        extractable: bool,
        usages: &Array,
    ) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_namespace = ["globalThis", "crypto", "subtle"], catch)]
    async fn encrypt(algorithm: &Object, key: &JsValue, data: &Uint8Array) -> Result<JsValue, JsValue>;
}

/// The expanded key; by this module if there is no WebCrypto, as on pages without TLS.
pub(crate) async fn expand(key: &any::VerifyingKey) -> any::ExpandedVerifyingKey {
    let expanded = with_set!(key.algorithm(), P => by_web_crypto::<P>(key).await);
    expanded.unwrap_or_else(|| key.expand())
}

/// The expanded key, unless something is missing for it.
async fn by_web_crypto<P: ParameterSet>(key: &any::VerifyingKey) -> Option<any::ExpandedVerifyingKey> {
    let key = VerifyingKey::<P>::try_from(key.clone()).ok()?;
    let seed = Uint8Array::from(key.as_ref().first_chunk::<SEED_BYTES>()?.as_slice());
    let p = key_stream(&seed, P::P_BYTES).await.ok()?;
    Some(hazmat::expanded_verifying_key_from_parts(&key, &p.to_vec()).ok()?.into())
}

/// The first bytes of the key stream of counter mode that begins at zero.
async fn key_stream(key: &Uint8Array, length: usize) -> Result<Uint8Array, JsValue> {
    let key = import_key("raw", key, MODE, false, &Array::of1(&"encrypt".into())).await?;
    let counter = Uint8Array::new_with_length(16);
    // The length is the number of bits that count.
    let algorithm = object([("name", MODE.into()), ("counter", counter.into()), ("length", 128.into())]);
    let stream = encrypt(&algorithm, &key, &Uint8Array::new_with_length(length as u32)).await?;
    Ok(Uint8Array::new(&stream))
}

const MODE: &str = "AES-CTR";
/// The seed of P, which is an AES key.
const SEED_BYTES: usize = aioli::params::PUBLIC_SEED_BYTES;
