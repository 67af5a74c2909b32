//! The scheme, written once over a [`ParameterSet`](crate::ParameterSet) and a
//! [`Backend`](crate::backend::Backend).
//!
//! Comments cite sections and steps of docs/mayo.md, the specification in this project's words. The
//! algorithm that the code runs is derived in [`backend`](crate::backend).

pub(crate) mod keygen;
pub(crate) mod protect;
pub(crate) mod public_map;
pub(crate) mod sign;
pub(crate) mod target;
pub(crate) mod transpose;
pub(crate) mod verify;
#[cfg(feature = "alloc")]
pub(crate) mod verify_group;
pub(crate) mod vinegar;
pub(crate) mod whip;
