//! Splitting a batch between GPU and processor, by the rates at which they are seen to work.
