//! Checks that kernels in assembly call nothing: they keep the stack pointer at multiples of 4, and
//! a call needs it at a multiple of 8.

use object::{Object, ObjectSection, ObjectSymbol};

/// Counts the kernels of an image. It is an error if one of them calls another function, or if no
/// call is found in the function that is planted for that.
pub(crate) fn count(image: &[u8]) -> Result<usize, String> {
    let file = object::File::parse(image).map_err(|error| format!("the image: {error}"))?;
    let mut kernels = 0;
    let mut planted = false;
    for symbol in file.symbols() {
        let name = symbol.name().map_err(|error| format!("a symbol of the image: {error}"))?;
        let is_kernel = name.starts_with(KERNELS);
        let is_planted = name == PLANTED;
        if !is_kernel && !is_planted {
            continue;
        }
        if symbol.size() == 0 {
            return Err(format!("{name} has no end in the image"));
        }
        // Thumb code has odd addresses.
        let begin = symbol.address() & !1;
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        let code = section.and_then(|section| section.data_range(begin, symbol.size()).ok().flatten());
        let calls = calls(code.ok_or_else(|| format!("{name}: no code in the image"))?);
        if is_kernel && calls > 0 {
            return Err(format!("{name} calls a function, but its stack pointer may not be a multiple of 8"));
        }
        kernels += usize::from(is_kernel);
        planted |= is_planted && calls > 0;
    }
    match (kernels, planted) {
        (0, _) => Err(format!("no function {KERNELS}... in the image")),
        (_, false) => Err(format!("the call in {PLANTED} was not found")),
        _ => Ok(kernels),
    }
}

/// Counts the instructions `bl` and `blx` in Thumb code without data.
fn calls(code: &[u8]) -> usize {
    let (halfwords, _) = code.as_chunks();
    let mut halfwords = halfwords.iter().map(|&bytes| u16::from_le_bytes(bytes));
    let mut calls = 0;
    while let Some(first) = halfwords.next() {
        calls += usize::from(if first >> 11 >= 0b11101 {
            let second = halfwords.next().unwrap_or_default();
            first & 0xf800 == 0xf000 && second & 0xd000 == 0xd000
        } else {
            first & 0xff80 == 0x4780
        });
    }
    calls
}

const KERNELS: &str = "aioli_armv7em_";
/// The function of the firmware that calls another, for this check to find.
const PLANTED: &str = "aioli_planted_call";

#[cfg(test)]
mod tests {
    use super::*;

    fn code(halfwords: &[u16]) -> Vec<u8> {
        halfwords.iter().flat_map(|halfword| halfword.to_le_bytes()).collect()
    }

    #[test]
    fn calls_are_told_from_instructions_that_look_like_them() {
        // bl, blx r3.
        assert_eq!(calls(&code(&[0xf7ff, 0xfffe])), 1);
        assert_eq!(calls(&code(&[0x4798])), 1);
        // push {r4-r11, lr}, whose second halfword is no instruction; beq.w, b.w; bx lr; ldr r8,
        // [r1, #0x798].
        assert_eq!(calls(&code(&[0xe92d, 0x4ff0, 0xf000, 0x8001, 0xf7ff, 0xbffe, 0x4770, 0xf8d1, 0x8798])), 0);
        // The second halfword of eor r7, r0, r8, lsl #30 looks like blx r0.
        assert_eq!(calls(&code(&[0xea80, 0x4780])), 0);
    }
}
