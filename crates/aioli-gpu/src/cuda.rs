//! CUDA as a [`Device`]. No other module calls CUDA.
#![allow(unsafe_code, reason = "calls of the driver")]

use crate::cache;
use crate::device::{Argument, Device, Facts, Kernel, Size};
use crate::error::Error;
use crate::source::source;
use aioli::ParameterSet;
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as SHARED;
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaSlice, CudaStream, DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::{CompileError, CompileOptions, Ptx};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A GPU.
#[derive(Clone, Debug)]
pub(crate) struct Context(Arc<CudaContext>);

impl Context {
    /// Finds the first GPU.
    pub(crate) fn open() -> Result<Self, Error> {
        // The libraries are looked for first, because cudarc panics if they are absent.
        // SAFETY: loads the library and unloads it again; its initializers are NVIDIA's.
        if !unsafe { cudarc::driver::sys::is_culib_present() } {
            return Err(Error::NoLibrary { name: "the NVIDIA driver (libcuda)" });
        }
        // SAFETY: as for the driver.
        if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            return Err(Error::NoLibrary { name: "NVIDIA's run-time compiler (libnvrtc)" });
        }
        if cudarc::driver::result::init().is_err() {
            return Err(Error::NoDevice);
        }
        match CudaContext::device_count().map_err(failed("cuDeviceGetCount"))? {
            0 => Err(Error::NoDevice),
            _ => CudaContext::new(0).map(Self).map_err(failed("cuDevicePrimaryCtxRetain")),
        }
    }

    /// The name of the GPU.
    pub(crate) fn name(&self) -> Result<String, Error> {
        self.0.name().map_err(failed("cuDeviceGetName"))
    }

    fn attribute(&self, attribute: Attribute) -> Result<i32, Error> {
        self.0.attribute(attribute).map_err(failed("cuDeviceGetAttribute"))
    }
}

/// A GPU with the kernels of one parameter set.
#[derive(Debug)]
pub(crate) struct Cuda {
    streams: [Arc<CudaStream>; 2],
    functions: Vec<CudaFunction>,
    facts: Facts,
}

impl Cuda {
    /// Compiles and loads the kernels.
    pub(crate) fn new<P: ParameterSet>(context: &Context) -> Result<Self, Error> {
        let room = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u32;
        let (module, facts, streams) = load::<P>(context, room)?;
        if facts.largest_shared() > room {
            return Err(Error::SharedMemory { expected: facts.largest_shared() as usize, given: room as usize });
        }
        let functions = Kernel::ALL.into_iter().map(|kernel| {
            let function = module.load_function(kernel.name()).map_err(failed("cuModuleGetFunction"))?;
            let shared = facts.shared(kernel) as i32;
            function.set_attribute(SHARED, shared).map_err(failed("cuFuncSetAttribute"))?;
            Ok(function)
        });
        let functions = functions.collect::<Result<_, Error>>()?;
        Ok(Self { streams, functions, facts })
    }
}

impl Device for Cuda {
    type Memory = CudaSlice<u8>;

    fn facts(&self) -> Facts {
        self.facts
    }

    fn allocate(&self, queue: usize, bytes: usize) -> Result<Self::Memory, Error> {
        // SAFETY: the memory has any content, which is valid for bytes, and is read only where it
        // was written.
        unsafe { self.streams[queue].alloc(bytes) }.map_err(failed("cuMemAllocAsync"))
    }

    fn upload(&self, queue: usize, memory: &mut Self::Memory, bytes: &[u8]) -> Result<(), Error> {
        // The bytes are not pinned, so the driver copies them aside before the call returns.
        self.streams[queue].memcpy_htod(bytes, memory).map_err(failed("cuMemcpyHtoDAsync"))
    }

    fn download(&self, queue: usize, memory: &Self::Memory, bytes: &mut [u8]) -> Result<(), Error> {
        let part = memory.slice(..bytes.len());
        self.streams[queue].memcpy_dtoh(&part, bytes).map_err(failed("cuMemcpyDtoHAsync"))?;
        self.finish(queue)
    }

    fn clear(&self, queue: usize, memory: &mut Self::Memory) -> Result<(), Error> {
        self.streams[queue].memset_zeros(memory).map_err(failed("cuMemsetD8Async"))
    }

    fn finish(&self, queue: usize) -> Result<(), Error> {
        self.streams[queue].synchronize().map_err(failed("cuStreamSynchronize"))
    }

    fn launch(
        &self,
        queue: usize,
        kernel: Kernel,
        size: Size,
        arguments: &[Argument<'_, Self::Memory>],
    ) -> Result<(), Error> {
        let mut launch = self.streams[queue].launch_builder(&self.functions[kernel as usize]);
        for argument in arguments {
            match argument {
                Argument::Memory(memory) => launch.arg(*memory),
                Argument::Null => launch.arg(&0u64),
                Argument::Number(number) => launch.arg(number),
            };
        }
        let config = LaunchConfig {
            grid_dim: (size.blocks, 1, 1),
            block_dim: (size.threads, 1, 1),
            shared_mem_bytes: size.shared,
        };
        // SAFETY: `batch` passes the arguments that each kernel declares, and memory for as many
        // items as it passes. The tests run the same calls on kernels whose accesses are checked.
        unsafe { launch.launch(config) }.map(drop).map_err(failed("cuLaunchKernel"))
    }
}

/// The kernels, the facts about them and the GPU, and the two queues.
type Loaded = (Arc<CudaModule>, Facts, [Arc<CudaStream>; 2]);

/// Loads the kernels for `shared_bytes` bytes of shared memory for a block.
fn load<P: ParameterSet>(context: &Context, shared_bytes: u32) -> Result<Loaded, Error> {
    let Context(device) = context;
    let module = device.load_module(compiled::<P>(context, shared_bytes)?).map_err(failed("cuModuleLoadData"))?;
    let stream = || device.new_stream().map_err(failed("cuStreamCreate"));
    let streams = [stream()?, stream()?];
    let mut launch = [0; 4 * Facts::WORDS];
    {
        let constants = module.get_global("aioli_launch", &streams[0]).map_err(failed("cuModuleGetGlobal"))?;
        streams[0].memcpy_dtoh(&constants, &mut launch).map_err(failed("cuMemcpyDtoHAsync"))?;
        streams[0].synchronize().map_err(failed("cuStreamSynchronize"))?;
    }
    let multiprocessors = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32;
    let (free, _) = device.mem_get_info().map_err(failed("cuMemGetInfo"))?;
    Ok((module, Facts::new(&launch, multiprocessors, (free / 2).min(MEMORY)), streams))
}

/// The kernels in PTX for this GPU: from the cache, or else compiled, and stored in the cache.
fn compiled<P: ParameterSet>(context: &Context, shared_bytes: u32) -> Result<Ptx, Error> {
    let major = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let options = options(major, minor);
    let source = source::<P>(shared_bytes);
    let mut hasher = DefaultHasher::new();
    (&source, &options, compiler_version()).hash(&mut hasher);
    let name = format!("{}-{:016x}.ptx", P::ALGORITHM, hasher.finish());
    let folder = cache::folder();
    if let Some(text) = folder.as_ref().and_then(|folder| cache::load(folder, &name).ok()) {
        return Ok(Ptx::from_src(text));
    }
    let ptx = compile(source, options)?;
    if let Some(folder) = folder {
        // Without a cache the next start compiles again.
        let _ = cache::store(&folder, &name, &ptx.to_src());
    }
    Ok(ptx)
}

fn options(major: i32, minor: i32) -> Vec<String> {
    vec![format!("--gpu-architecture=compute_{major}{minor}"), "--std=c++17".into()]
}

fn compile(source: String, options: Vec<String>) -> Result<Ptx, Error> {
    let options = CompileOptions { options, ..Default::default() };
    cudarc::nvrtc::compile_ptx_with_opts(source, options).map_err(|error| Error::Compile {
        log: match error {
            CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
            other => other.to_string(),
        },
    })
}

/// The version of NVRTC; zeros if the call fails.
fn compiler_version() -> (i32, i32) {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the call writes the two numbers. The library is present, because `Context::open` has
    // found it.
    unsafe { cudarc::nvrtc::sys::nvrtcVersion(&mut major, &mut minor) };
    (major, minor)
}

fn failed(call: &'static str) -> impl Fn(DriverError) -> Error {
    move |error| Error::Cuda { call, reason: error.to_string() }
}

/// The most bytes of device memory that a batch takes.
const MEMORY: usize = 2 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use aioli::{Algorithm, with_set};
    use std::io::Write;

    #[test]
    fn nvrtc_compiles_every_set() {
        // SAFETY: as in `Context::open`.
        if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            // Written to standard error itself, because the test runner captures what is printed.
            let why = "NVIDIA's run-time compiler (libnvrtc) is not installed";
            writeln!(std::io::stderr(), "SKIPPED nvrtc_compiles_every_set: {why}").unwrap();
            return;
        }
        for (algorithm, (major, shared_bytes)) in Algorithm::ALL.into_iter().zip([(8, 166_912), (9, 232_448)].repeat(4))
        {
            let source = with_set!(algorithm, P => source::<P>(shared_bytes));
            let ptx = compile(source, options(major, 0)).unwrap_or_else(|error| panic!("{algorithm}: {error}"));
            let text = ptx.to_src();
            for kernel in Kernel::ALL {
                assert!(text.contains(&format!(".entry {}(", kernel.name())), "{algorithm}: {}", kernel.name());
            }
            assert!(text.contains("aioli_launch"), "{algorithm}: the facts of its launches");
        }
        assert!(matches!(compile("nonsense".into(), options(9, 0)), Err(Error::Compile { .. })));
    }
}
