//! Tables of signatures: Arrow in, a column out.
//!
//! A bad row is a result like any other. Only what concerns all rows raises: a column that is
//! missing or of another type, and keys without ids.

use crate::arrow::{Column, batches, refused};
use crate::columns::{Id, bytes, column, ids};
use crate::edge::{Set, raised};
use crate::keys::SigningKey;
use crate::pool;
use ahash::RandomState;
use aioli::batch::{Row, verify_grouped};
use aioli::pkcs8::Identifiers;
use aioli::{Algorithm, Error, ParameterSet, VerifyingKey, any, with_set};
use arrow_array::builder::{FixedSizeBinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StructArray};
use arrow_schema::{DataType, Field};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;

/// Public keys by their ids, read once for many tables.
///
/// The table has a column of ids (integers, strings or bytes) and one of public keys. With an
/// algorithm the keys are bare bytes of that set; without, each is a SubjectPublicKeyInfo in PEM or
/// DER, which names its set. A key that cannot be read makes the rows under it invalid.
#[pyclass(frozen, module = "aioli")]
pub(crate) struct KeyTable {
    keys: Vec<Key>,
    named: HashMap<Box<[u8]>, usize, RandomState>,
    numbered: HashMap<i128, usize, RandomState>,
}

/// A public key, or why it cannot be read.
type Key = Result<any::VerifyingKey, String>;

#[pymethods]
impl KeyTable {
    #[new]
    #[pyo3(signature = (table, *, algorithm = None, id = "id", public_key = "public_key"))]
    fn new(table: &Bound<'_, PyAny>, algorithm: Option<Set>, id: &str, public_key: &str) -> PyResult<Self> {
        let algorithm = algorithm.map(|set| set.0);
        let mut this = Self { keys: Vec::new(), named: HashMap::default(), numbered: HashMap::default() };
        for batch in batches(table)? {
            let encoded = column(&batch, public_key, bytes)?;
            for (id, encoded) in column(&batch, id, ids)?.into_iter().zip(encoded) {
                let place = this.keys.len();
                let known = match id {
                    Some(Id::Named(name)) => this.named.insert(name.into(), place),
                    Some(Id::Number(number)) => this.numbered.insert(number, place),
                    None => return Err(PyValueError::new_err(format!("key {place} has no id"))),
                };
                if let Some(known) = known {
                    return Err(PyValueError::new_err(format!("keys {known} and {place} have one id")));
                }
                this.keys.push(match encoded {
                    Some(encoded) => read(algorithm, encoded),
                    None => Err("public key is null".into()),
                });
            }
        }
        Ok(this)
    }

    fn __len__(&self) -> usize {
        self.keys.len()
    }

    fn __repr__(&self) -> String {
        format!("<aioli.KeyTable of {} keys>", self.keys.len())
    }
}

impl KeyTable {
    fn find(&self, id: Id<'_>) -> Result<usize, Reason> {
        let place = match id {
            Id::Named(name) => self.named.get(name),
            Id::Number(number) => self.numbered.get(&number),
        };
        place.copied().ok_or(Reason::UnknownKey)
    }
}

/// Reads a public key as the argument `algorithm` says.
fn read(algorithm: Option<Algorithm>, encoded: &[u8]) -> Key {
    let key = match algorithm {
        Some(algorithm) => any::VerifyingKey::from_bytes(algorithm, encoded),
        None => Identifiers::OQS.decode_public_key(encoded),
    };
    key.map_err(|error| error.to_string())
}

/// The reason why a row is not valid.
#[derive(Clone, Copy)]
enum Reason {
    Null(&'static str),
    UnknownKey,
    /// The key at this index cannot be read.
    BadKey(usize),
    Refused(Error),
}

/// Verifies each row of a table, on all cores, and returns a column of booleans.
///
/// The table is anything with Arrow's PyCapsule interface. Its columns of messages, signatures and
/// keys hold bytes or strings of any kind of Arrow's. Without keys, each row holds its public key:
/// bare bytes of the set that algorithm names or, without it, a SubjectPublicKeyInfo. With keys, a
/// KeyTable or the table to make one from, each row holds the id of its key.
///
/// A row is False if its signature is not valid, has a wrong length, if anything of it is null or
/// if its key is unknown. With reason=True the column holds structures of valid and reason, which
/// is null for a valid row.
#[pyfunction]
#[pyo3(signature = (
    table, *, keys = None, algorithm = None, message = "message", signature = "signature", key = "key", reason = false
))]
pub(crate) fn verify_table(
    table: &Bound<'_, PyAny>,
    keys: Option<&Bound<'_, PyAny>>,
    algorithm: Option<Set>,
    message: &str,
    signature: &str,
    key: &str,
    reason: bool,
) -> PyResult<Column> {
    let py = table.py();
    let table = batches(table)?;
    let known: Option<Bound<'_, KeyTable>> = match keys {
        None => None,
        Some(keys) => match (keys.cast::<KeyTable>(), &algorithm) {
            (Ok(keys), None) => Some(keys.clone()),
            (Ok(_), Some(_)) => {
                let message = "keys is a KeyTable, which knows the sets of its keys; expected no algorithm";
                return Err(PyValueError::new_err(message));
            }
            (Err(_), _) => Some(Bound::new(py, KeyTable::new(keys, algorithm.clone(), "id", "public_key")?)?),
        },
    };
    let known = known.as_ref().map(Bound::get);
    let source = match known {
        Some(known) => Source::Ids(known),
        None => Source::Rows(algorithm.map(|set| set.0)),
    };
    let (keys, rows) = pool::install(py, || read_rows(&table, &source, [message, signature, key]))??;
    let keys = known.map_or(&keys, |known| &known.keys);
    let mut verdicts = Vec::with_capacity(rows.len());
    for rows in rows.chunks(ROWS_BETWEEN_SIGNALS) {
        verdicts.extend(pool::install(py, || verify(keys, rows))?);
        py.check_signals()?;
    }
    py.detach(|| results(keys, &verdicts, reason)).map(Column)
}

/// Where public keys come from.
enum Source<'a> {
    Ids(&'a KeyTable),
    Rows(Option<Algorithm>),
}

/// The parts of a row that are to be verified, unless it cannot be valid.
type Read<'a> = Result<Row<'a>, Reason>;

/// The rows of a table, and the keys that they hold.
fn read_rows<'a>(
    batches: &'a [RecordBatch],
    source: &Source<'_>,
    [message, signature, key]: [&str; 3],
) -> PyResult<(Vec<Key>, Vec<Read<'a>>)> {
    let mut keys = Vec::new();
    let mut seen: HashMap<&[u8], usize, RandomState> = HashMap::default();
    let mut rows = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for batch in batches {
        let found: Vec<Result<usize, Reason>> = match source {
            Source::Ids(known) => {
                let ids = column(batch, key, ids)?.into_iter();
                ids.map(|id| id.ok_or(Reason::Null("key")).and_then(|id| known.find(id))).collect()
            }
            Source::Rows(algorithm) => {
                let mut place = |encoded: &'a [u8]| {
                    *seen.entry(encoded).or_insert_with(|| {
                        keys.push(read(*algorithm, encoded));
                        keys.len() - 1
                    })
                };
                let encoded = column(batch, key, bytes)?.into_iter();
                encoded.map(|encoded| encoded.map(&mut place).ok_or(Reason::Null("key"))).collect()
            }
        };
        let messages = column(batch, message, bytes)?;
        let signatures = column(batch, signature, bytes)?;
        for ((message, signature), key) in messages.into_iter().zip(signatures).zip(found) {
            let row = || {
                let message = message.ok_or(Reason::Null("message"))?;
                let signature = signature.ok_or(Reason::Null("signature"))?;
                Ok(Row { key: key?, message, signature })
            };
            rows.push(row());
        }
    }
    Ok((keys, rows))
}

fn verify(keys: &[Key], rows: &[Read<'_>]) -> Vec<Result<(), Reason>> {
    let check = |row: &Read<'_>| match row {
        Ok(row) if keys[row.key].is_err() => Err(Reason::BadKey(row.key)),
        Ok(_) => Ok(()),
        Err(reason) => Err(*reason),
    };
    let mut verdicts: Vec<Result<(), Reason>> = rows.iter().map(check).collect();
    for algorithm in Algorithm::ALL {
        with_set!(algorithm, P => verify_set::<P>(keys, rows, &mut verdicts));
    }
    verdicts
}

/// Verifies the rows under keys of one set.
fn verify_set<P: ParameterSet>(keys: &[Key], rows: &[Read<'_>], verdicts: &mut [Result<(), Reason>]) {
    let mut typed: Vec<VerifyingKey<P>> = Vec::new();
    // The place of each key among those of the set.
    let mut place = |key: &Key| {
        let key = key.as_ref().ok().filter(|key| key.algorithm() == P::ALGORITHM)?;
        typed.push(key.as_bytes().try_into().expect("the length was checked when the key was read"));
        Some(typed.len() - 1)
    };
    let places: Vec<Option<usize>> = keys.iter().map(&mut place).collect();
    if typed.is_empty() {
        return;
    }
    let of_the_set = rows.iter().enumerate().filter_map(|(i, row)| {
        let row = row.ok()?;
        Some((i, Row { key: places[row.key]?, ..row }))
    });
    let (members, rows): (Vec<usize>, Vec<Row<'_>>) = of_the_set.unzip();
    for (i, verdict) in members.into_iter().zip(verify_grouped(&typed, &rows)) {
        verdicts[i] = verdict.map_err(Reason::Refused);
    }
}

/// The column of results, with reasons or without.
fn results(keys: &[Key], verdicts: &[Result<(), Reason>], reason: bool) -> PyResult<ArrayRef> {
    let valid: ArrayRef = Arc::new(BooleanArray::from_iter(verdicts.iter().map(|verdict| Some(verdict.is_ok()))));
    if !reason {
        return Ok(valid);
    }
    let mut reasons = StringBuilder::new();
    for verdict in verdicts {
        match verdict {
            Ok(()) => reasons.append_null(),
            Err(Reason::Null(what)) => reasons.append_value(format!("{what} is null")),
            Err(Reason::UnknownKey) => reasons.append_value("no key has this id"),
            Err(Reason::BadKey(key)) => reasons.append_option(keys[*key].as_ref().err()),
            Err(Reason::Refused(error)) => reasons.append_value(error.to_string()),
        }
    }
    let fields = [Field::new("valid", DataType::Boolean, false), Field::new("reason", DataType::Utf8, true)];
    let columns: Vec<ArrayRef> = vec![valid, Arc::new(reasons.finish())];
    Ok(Arc::new(StructArray::try_new(fields.into_iter().collect(), columns, None).map_err(refused)?))
}

/// Signs each message of a table with one key, on all cores, and returns a column of signatures.
///
/// A null message gives a null signature. An expanded key keeps what expand chose.
#[pyfunction]
#[pyo3(signature = (key, table, *, message = "message"))]
pub(crate) fn sign_table(key: &Bound<'_, SigningKey>, table: &Bound<'_, PyAny>, message: &str) -> PyResult<Column> {
    let py = key.py();
    let table = batches(table)?;
    let key = key.get();
    let fresh = py.detach(|| key.expanded.is_none().then(|| key.key.expand()));
    let key = key.expanded.as_ref().or(fresh.as_ref()).expect("one of them is there");
    let sign = |message: &Option<&[u8]>| {
        let digest = message.map(|message| any::MessageDigest::of(key.algorithm(), message));
        digest.map(|digest| key.sign_digest(&digest)).transpose()
    };
    let length = i32::try_from(key.algorithm().signature_bytes()).expect("a signature is short");
    let mut column = FixedSizeBinaryBuilder::new(length);
    for batch in &table {
        for messages in self::column(batch, message, bytes)?.chunks(ROWS_BETWEEN_SIGNALS) {
            let signatures: Result<Vec<_>, Error> = pool::install(py, || messages.par_iter().map(sign).collect())?;
            for signature in signatures.map_err(raised)? {
                match signature {
                    Some(signature) => column.append_value(signature.as_bytes()).map_err(refused)?,
                    None => column.append_null(),
                }
            }
            py.check_signals()?;
        }
    }
    Ok(Column(Arc::new(column.finish())))
}

/// An interrupt of the user's waits for this many rows, at most a few seconds.
const ROWS_BETWEEN_SIGNALS: usize = 1 << 18;
