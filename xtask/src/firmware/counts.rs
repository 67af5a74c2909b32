//! Reads the file of QEMU's counter, and attributes its counts to functions and to classes of
//! instructions.

use object::{Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;

/// The instructions that one operation executed.
pub(crate) struct Counts {
    pub(crate) instructions: u64,
    /// Words and bytes read from memory.
    pub(crate) loads: u64,
    /// An estimate by the model of [`cycles`].
    pub(crate) cycles: u64,
    /// The sizes of all functions that were entered, in bytes.
    pub(crate) code_bytes: u64,
    /// A hash of the taken branches and of the accessed addresses.
    pub(crate) trace: String,
    /// The instructions and loads of each function.
    pub(crate) functions: BTreeMap<String, (u64, u64)>,
}

impl Counts {
    /// Reads the counter's file. The operations are in the order in which they ran.
    pub(crate) fn parse_all(text: &str, image: &[u8]) -> Result<Vec<Self>, String> {
        let functions = Functions::of(image)?;
        let mut all = Vec::new();
        for part in text.split("operation ").skip(1) {
            let (sums, lines) = part.split_once('\n').ok_or("an operation of the counter without lines")?;
            let (taken, trace) = sums.split_once(' ').ok_or("an operation of the counter without a trace")?;
            let taken = taken.parse().map_err(|_| format!("taken branches: {taken}"))?;
            let lines = lines.lines().map(Line::parse).collect::<Option<Vec<_>>>();
            all.push(Self::of(taken, trace, &lines.ok_or("a line of the counter that is none")?, &functions)?);
        }
        Ok(all)
    }

    fn of(taken: u64, trace: &str, lines: &[Line], functions: &Functions) -> Result<Self, String> {
        let mut by_function: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        let mut sizes = BTreeMap::new();
        for line in lines {
            let (name, begin, size) = functions.at(line.address);
            sizes.insert(begin, size);
            let sums = by_function.entry(name.to_owned()).or_default();
            sums.0 += line.executions;
            sums.1 += line.loads;
        }
        let (instructions, loads) = by_function.values().fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
        Ok(Self {
            instructions,
            loads,
            cycles: cycles(lines, taken),
            code_bytes: sizes.values().sum(),
            trace: trace.to_owned(),
            functions: by_function,
        })
    }
}

/// An estimate of the cycles of a Cortex-M4 whose memory answers at once, by its technical
/// reference manual. An instruction takes one cycle, and one more for each word that it reads or
/// writes. The pipeline hides that one more of a single load or store right after another. A taken
/// branch takes [`BRANCH`] more to refill the pipeline, and a division [`DIVIDE`].
fn cycles(lines: &[Line], taken: u64) -> u64 {
    let mut sum = BRANCH * taken;
    let mut before: Option<&Line> = None;
    for line in lines {
        let follows = before.is_some_and(|before| {
            before.address + before.size == line.address && before.executions == line.executions && before.is_single()
        });
        let hidden = if line.is_single() && follows { line.executions } else { 0 };
        sum += line.executions + line.loads + line.stores - hidden.min(line.loads + line.stores);
        if line.is_divide() {
            sum += DIVIDE * line.executions;
        }
        before = Some(line);
    }
    sum
}

/// The cycles beyond the first of a taken branch, and of a division.
const BRANCH: u64 = 2;
const DIVIDE: u64 = 5;

/// An instruction and how often it ran, as the counter writes it.
struct Line {
    address: u64,
    size: u64,
    encoding: u32,
    executions: u64,
    loads: u64,
    stores: u64,
}

impl Line {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let mut decimal = |radix| u64::from_str_radix(words.next()?, radix).ok();
        // Fields are evaluated in the order in which they are written: that of the words.
        Some(Self {
            address: decimal(16)?,
            size: decimal(10)?,
            encoding: decimal(16)? as u32,
            executions: decimal(10)?,
            loads: decimal(10)?,
            stores: decimal(10)?,
        })
    }

    /// A load or store of one word or less.
    fn is_single(&self) -> bool {
        let words = self.loads + self.stores;
        words > 0 && words == self.executions
    }

    /// `udiv` or `sdiv`.
    fn is_divide(&self) -> bool {
        self.size == 4 && self.encoding & 0xffd0_00f0 == 0xfb90_00f0
    }
}

/// The functions of an image by address.
struct Functions(BTreeMap<u64, (String, u64)>);

impl Functions {
    fn of(image: &[u8]) -> Result<Self, String> {
        let file = object::File::parse(image).map_err(|error| format!("the image: {error}"))?;
        let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
        let named = functions.filter_map(|symbol| {
            let name = rustc_demangle::demangle(symbol.name().ok()?);
            // Thumb code has odd addresses.
            Some((symbol.address() & !1, (format!("{name:#}"), symbol.size())))
        });
        Ok(Self(named.collect()))
    }

    /// The name, first address and size of the function that contains an address.
    fn at(&self, address: u64) -> (&str, u64, u64) {
        match self.0.range(..=address).next_back() {
            Some((&begin, (name, size))) if address < begin + size => (name, begin, *size),
            _ => ("(no function)", address, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Line {
        Line::parse(text).expect("a line of the counter")
    }

    #[test]
    fn cycles_of_each_class() {
        // An `eor`, a load, a load that follows it, a load of four words, a taken branch, a
        // division.
        assert_eq!(cycles(&[line("100 2 40480000 7 0 0")], 0), 7);
        assert_eq!(cycles(&[line("100 2 68080000 1 1 0")], 0), 2);
        assert_eq!(cycles(&[line("100 2 68080000 1 1 0"), line("102 2 68490000 1 1 0")], 0), 3);
        assert_eq!(cycles(&[line("100 2 c80f0000 1 4 0")], 0), 5);
        assert_eq!(cycles(&[line("100 2 e7fe0000 3 0 0")], 3), 9);
        assert_eq!(cycles(&[line("100 4 fbb0f0f1 1 0 0")], 0), 6);
    }
}
