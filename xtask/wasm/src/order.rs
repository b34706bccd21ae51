//! Puts functions that look alike next to one another.
//!
//! A module travels compressed, and what compresses it looks back over 32 KiB: of two functions that differ in a few bytes the
//! second costs nothing only if the first is near. A compiler leaves them where their crates are. What a module does is not
//! touched; it becomes a twentieth smaller on its way.

use std::collections::HashMap;

use anyhow::{Context, Result};
use wasm_encoder::{
    CodeSection, FunctionSection, Module,
    reencode::{Error, Reencode, utils},
};
use wasmparser::{
    CodeSectionReader, FunctionSectionReader, Parser, Payload, TypeRef, WasmFeatures,
};

/// How many numbers stand for a function: the share of those that two have in common is that of their short sequences of
/// bytes (MinHash).
const MARKS: usize = 128;
/// The length of those sequences.
const SEQUENCE: usize = 5;

/// The same module with its functions in another order.
pub(crate) fn by_likeness(module: &[u8]) -> Result<Vec<u8>> {
    let (imported, bodies) = functions(module)?;
    let order = chain(&bodies);
    let mut places = HashMap::new();
    for (place, function) in (imported..).zip(&order) {
        places.insert(imported + u32::try_from(*function)?, place);
    }
    let mut moved = Module::new();
    Moving { order, places }
        .parse_core_module(&mut moved, Parser::new(0), module)
        .map_err(|fault| anyhow::anyhow!("the module cannot be written again: {fault}"))?;
    let moved = moved.finish();
    wasmparser::Validator::new_with_features(WasmFeatures::default())
        .validate_all(&moved)
        .context("the module with its functions moved is not valid")?;
    Ok(moved)
}

/// How many functions the module imports, and the bytes of its own.
fn functions(module: &[u8]) -> Result<(u32, Vec<&[u8]>)> {
    let (mut imported, mut bodies) = (0, Vec::new());
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    if matches!(import?.ty, TypeRef::Func(_)) {
                        imported += 1;
                    }
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(&module[body.range()]),
            _ => {}
        }
    }
    Ok((imported, bodies))
}

/// From the largest function to whichever of those left is most like it, and on from there.
fn chain(bodies: &[&[u8]]) -> Vec<usize> {
    let marks: Vec<[u32; MARKS]> = bodies.iter().map(|body| marks(body)).collect();
    let mut left: Vec<usize> = (0..bodies.len()).collect();
    left.sort_by_key(|at| std::cmp::Reverse(bodies[*at].len()));
    let mut order = Vec::with_capacity(left.len());
    let mut next = (!left.is_empty()).then_some(0);
    while let Some(at) = next {
        // The order of the others decides between equals, so it is kept.
        let last = left.remove(at);
        order.push(last);
        let likeness = |other: usize| {
            let pairs = marks[last].iter().zip(&marks[other]);
            let common = pairs.filter(|(a, b)| a == b).count();
            let apart = bodies[last].len().abs_diff(bodies[other].len());
            (common, std::cmp::Reverse(apart))
        };
        next = (0..left.len()).max_by_key(|at| (likeness(left[*at]), std::cmp::Reverse(*at)));
    }
    order
}

fn marks(body: &[u8]) -> [u32; MARKS] {
    let mut least = [u32::MAX; MARKS];
    for sequence in body.windows(SEQUENCE) {
        let seen = sequence
            .iter()
            .fold(0, |seen: u64, byte| seen << 8 | u64::from(*byte));
        for (number, least) in (1_u64..).zip(&mut least) {
            // One of a family of mixing functions (the finisher of SplitMix64).
            let mut mixed = seen.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *least = (*least).min((mixed >> 32) as u32);
        }
    }
    least
}

/// Writes a module again, its functions at other places.
struct Moving {
    order: Vec<usize>,
    /// The new index of every function that has one.
    places: HashMap<u32, u32>,
}

impl Reencode for Moving {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.places.get(&function).copied().unwrap_or(function))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let types = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for function in &self.order {
            functions.function(types[*function]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for function in self.order.clone() {
            utils::parse_function_body(self, code, bodies[function].clone())?;
        }
        Ok(())
    }
}
