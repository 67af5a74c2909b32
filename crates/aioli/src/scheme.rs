//! The scheme, written once over a [`ParameterSet`](crate::ParameterSet) and a [`Backend`](crate::backend::Backend).
//!
//! The specification in this project's words follows; its section and step numbers are those that comments cite. The
//! algorithm that the code runs is derived in [`backend`](crate::backend).
#![doc = ""]
#![doc = include_str!("../docs/mayo.md")]

pub(crate) mod keygen;
pub(crate) mod public_map;
pub(crate) mod sign;
pub(crate) mod target;
pub(crate) mod transpose;
pub(crate) mod verify;
pub(crate) mod whip;
