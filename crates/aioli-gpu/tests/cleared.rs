//! Memory that held secrets is cleared whatever call of the device fails.

use aioli::round2::Mayo2;
use aioli::{MessageDigest, ParameterSet, SigningKey};
use aioli_gpu::emulation::{Argument, Device, Engine, Facts, Kernel, Size};
use aioli_gpu::{Error, SigningItem};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Memory that the test can see after it was freed.
type Memory = Rc<RefCell<Vec<u8>>>;

/// A device whose kernels fill all memory that they are given with ones, and one of whose calls
/// fails.
struct Fake {
    /// The calls before the one that fails.
    left: Cell<Option<usize>>,
    allocated: RefCell<Vec<Memory>>,
}

impl Fake {
    fn new(left: Option<usize>) -> Self {
        Self { left: Cell::new(left), allocated: RefCell::default() }
    }

    fn call(&self) -> Result<(), Error> {
        match self.left.get() {
            Some(0) => {
                self.left.set(None);
                Err(FAILURE)
            }
            left => {
                self.left.set(left.map(|left| left - 1));
                Ok(())
            }
        }
    }
}

impl Device for &Fake {
    type Memory = Memory;

    fn facts(&self) -> Facts {
        let words = [0u32, 0, 0, 0, 0, 1, 1, 64];
        let mut launch = [0; 4 * Facts::WORDS];
        launch.iter_mut().zip(words.iter().flat_map(|word| word.to_le_bytes())).for_each(|(to, byte)| *to = byte);
        Facts::new(&launch, 1, 1 << 20)
    }

    fn allocate(&self, _: usize, bytes: usize) -> Result<Memory, Error> {
        self.call()?;
        let memory = Memory::new(RefCell::new(vec![0; bytes]));
        self.allocated.borrow_mut().push(memory.clone());
        Ok(memory)
    }

    fn upload(&self, _: usize, memory: &mut Memory, bytes: &[u8]) -> Result<(), Error> {
        // A copy that fails may have copied something.
        memory.borrow_mut()[..bytes.len()].copy_from_slice(bytes);
        self.call()
    }

    fn download(&self, _: usize, memory: &Memory, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.copy_from_slice(&memory.borrow()[..bytes.len()]);
        self.call()
    }

    fn clear(&self, _: usize, memory: &mut Memory) -> Result<(), Error> {
        self.call()?;
        memory.borrow_mut().fill(0);
        Ok(())
    }

    fn finish(&self, _: usize) -> Result<(), Error> {
        self.call()
    }

    fn launch(&self, _: usize, _: Kernel, _: Size, arguments: &[Argument<'_, Memory>]) -> Result<(), Error> {
        for argument in arguments {
            if let Argument::Memory(memory) = argument {
                memory.borrow_mut().fill(1);
            }
        }
        self.call()
    }
}

/// Runs a batch with each of its calls failing, and with none. Of the `regions` of each lane, the
/// first `secret` ones must be zero afterwards.
fn is_cleared(regions: usize, secret: usize, batch: impl Fn(Engine<Mayo2, &Fake>) -> Result<(), Error>) {
    for left in 0.. {
        let device = Fake::new(Some(left));
        let result = batch(Engine::new(&device).with_chunk(2));
        for (i, memory) in device.allocated.borrow().iter().enumerate().filter(|(i, _)| i % regions < secret) {
            assert!(memory.borrow().iter().all(|&byte| byte == 0), "region {i} after call {left} failed");
        }
        if device.left.get().is_some() {
            assert_eq!(result, Ok(()));
            assert!(left > 20, "{left} calls for three chunks");
            break;
        }
        assert_eq!(result, Err(FAILURE), "call {left} failed");
    }
}

#[test]
fn keys_leave_nothing_on_the_device() {
    let keys = [5; 5].map(|byte| SigningKey::from_seed([byte; Mayo2::SECRET_KEY_BYTES]));
    is_cleared(3, 2, |engine| engine.verifying_keys(&keys).map(drop));
}

#[test]
fn signatures_leave_nothing_on_the_device() {
    let key = SigningKey::from_seed([5; Mayo2::SECRET_KEY_BYTES]);
    let digest = MessageDigest::of(b"message");
    let items = [(); 5].map(|()| SigningItem { key: &key, digest: &digest });
    let randomizers = [7; 5 * Mayo2::SALT_BYTES];
    is_cleared(11, 5, |engine| engine.sign_batch_with(&items, &randomizers).map(drop));
}

const FAILURE: Error = Error::NoDevice;
