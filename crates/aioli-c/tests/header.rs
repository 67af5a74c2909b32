//! The header that is checked in is the one that the sources give.

#[test]
fn the_header_is_that_of_the_sources() {
    let root = env!("CARGO_MANIFEST_DIR");
    let config = cbindgen::Config::from_root_or_default(root);
    let bindings = cbindgen::generate_with_config(root, config).expect("the sources of this crate");
    let mut header = Vec::new();
    bindings.write(&mut header);
    // Rust calls safety what is demanded of a caller in C.
    let header = String::from_utf8(header).expect("text").replace(" * # Safety\n *\n", " * Required:\n");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/include/aioli.h");
    if std::env::var_os("AIOLI_WRITE_HEADER").is_some() {
        std::fs::write(path, &header).expect("include/aioli.h");
    }
    let checked_in = std::fs::read_to_string(path).expect("include/aioli.h");
    assert!(header == checked_in, "AIOLI_WRITE_HEADER=1 cargo test -p aioli-c writes include/aioli.h anew");
}
