//! `printf`, with the conversions for text and integers.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

use windlass_shell::Word;

use super::{
    escape::{self, Escapes, Place},
    number,
};
use crate::bash::plan::{
    locale::Locale,
    message::with_name,
    quote::quoted,
    shell::{Outcome, Shell},
};

/// The supported conversions.
const KNOWN: &[u8] = b"sbqcdiouxX";

/// The largest supported width or precision; a format with a larger one needs approval.
const MAX_WIDTH: usize = 1 << 20;

/// Refuses formats that are not literal, and unsupported conversions.
pub(super) fn check(operands: &[Word]) -> Result<(), String> {
    let mut operands = operands.iter();
    let mut format = operands.next();
    if format.and_then(Word::as_literal) == Some("--") {
        format = operands.next();
    } else if let Some(text) = format.and_then(Word::as_literal)
        && text.len() > 1
        && text.starts_with('-')
    {
        return Err(format!("`{text}`"));
    }
    let Some(format) = format else {
        return Ok(());
    };
    let Some(format) = format.as_literal() else {
        return Err("a format that is not literal".to_owned());
    };
    let mut rest = format.as_bytes();
    while let Some(at) = rest.iter().position(|b| *b == b'%' || *b == b'\\') {
        if rest[at] == b'\\' {
            rest = rest.get(at + 2..).unwrap_or_default();
            continue;
        }
        let (conversion, behind) = Conversion::read(&rest[at + 1..]);
        // A conversion that bash does not know either is reported when it runs.
        if b"aAeEfFgGnQT(".contains(&conversion.letter) {
            let letter = char::from(conversion.letter);
            return Err(format!("the conversion `%{letter}`"));
        }
        let amounts = [conversion.width, conversion.precision];
        if amounts.into_iter().flatten().any(Amount::is_too_wide) {
            return Err(format!("a width or precision beyond {MAX_WIDTH} columns"));
        }
        rest = behind;
    }
    Ok(())
}

/// A conversion: the part between `%` and the letter, and the letter; 0 if the format ends before it.
#[derive(Debug, Default)]
struct Conversion {
    minus: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternative: bool,
    width: Option<Amount>,
    precision: Option<Amount>,
    letter: u8,
}

#[derive(Debug, Clone, Copy)]
enum Amount {
    Given(usize),
    /// `*`: taken from the next operand.
    Operand,
}

impl Amount {
    fn is_too_wide(self) -> bool {
        matches!(self, Self::Given(columns) if columns > MAX_WIDTH)
    }
}

impl Conversion {
    fn read(text: &[u8]) -> (Self, &[u8]) {
        let mut conversion = Self::default();
        let mut at = 0;
        let byte = |at: usize| text.get(at).copied().unwrap_or(0);
        loop {
            match byte(at) {
                b'-' => conversion.minus = true,
                b'+' => conversion.plus = true,
                b' ' => conversion.space = true,
                b'0' => conversion.zero = true,
                b'#' => conversion.alternative = true,
                b'\'' => {}
                _ => break,
            }
            at += 1;
        }
        let amount = |at: &mut usize| {
            if byte(*at) == b'*' {
                *at += 1;
                return Some(Amount::Operand);
            }
            let begin = *at;
            let mut value = 0_usize;
            while byte(*at).is_ascii_digit() {
                value = value
                    .saturating_mul(10)
                    .saturating_add(usize::from(byte(*at) - b'0'));
                *at += 1;
            }
            (*at > begin).then_some(Amount::Given(value))
        };
        conversion.width = amount(&mut at);
        if byte(at) == b'.' {
            at += 1;
            conversion.precision = Some(amount(&mut at).unwrap_or(Amount::Given(0)));
        }
        while b"hlqjzt".contains(&byte(at)) && KNOWN.contains(&byte(at + 1)) {
            at += 1;
        }
        conversion.letter = byte(at);
        (conversion, text.get(at + 1..).unwrap_or_default())
    }
}

/// One execution of `printf`.
struct Printing<'a> {
    operands: std::slice::Iter<'a, Vec<u8>>,
    output: Vec<u8>,
    /// Errors, each with the length of the output that precedes it: whole lines only.
    faults: Vec<(usize, Vec<u8>)>,
    failed: bool,
    is_dash: bool,
    locale: Locale,
}

/// The result of one pass over the format.
enum Pass {
    Whole,
    /// Output ended, by `\c` or an invalid conversion.
    Over,
}

impl Shell<'_> {
    pub(super) fn printf(&mut self, line: u32, operands: &[Vec<u8>]) -> Outcome {
        let operands = match operands.first().map(Vec::as_slice) {
            Some(b"--") => &operands[1..],
            _ => operands,
        };
        let Some((format, operands)) = operands.split_first() else {
            let text = match self.voice.is_dash() {
                true => format!(
                    "{}: {line}: printf: usage: printf format [arg ...]\n",
                    self.voice.name
                ),
                false => "printf: usage: printf [-v var] format [arguments]\n".to_owned(),
            };
            self.say(text.as_bytes());
            return self.done(2);
        };
        let mut printing = Printing {
            operands: operands.iter(),
            output: Vec::new(),
            faults: Vec::new(),
            failed: false,
            is_dash: self.voice.is_dash(),
            locale: Locale::of(&self.variables),
        };
        loop {
            let before = printing.operands.len();
            let pass = printing.pass(format);
            // A format that uses no operands is not repeated.
            let left = printing.operands.len();
            if matches!(pass, Pass::Over) || left == 0 || left == before {
                break;
            }
        }
        self.status = i32::from(printing.failed);
        let mut done = 0;
        for (before, fault) in printing.faults {
            self.print(line, "printf", &printing.output[done..before])?;
            self.complain(line, &fault);
            done = before;
        }
        self.print(line, "printf", &printing.output[done..])
    }
}

impl Printing<'_> {
    fn escapes(&self, place: Place) -> Escapes {
        Escapes {
            place,
            is_dash: self.is_dash,
            is_utf8: self.locale.is_utf8,
        }
    }

    fn pass(&mut self, format: &[u8]) -> Pass {
        let mut rest = format;
        while let Some((&byte, behind)) = rest.split_first() {
            rest = behind;
            match byte {
                b'\\' => {
                    self.complain_of(escape::complaint(rest));
                    let length = escape::one(rest, self.escapes(Place::Format), &mut self.output);
                    let length = length.continue_value().unwrap_or(0);
                    rest = &rest[length..];
                }
                b'%' if rest.first() == Some(&b'%') => {
                    self.output.push(b'%');
                    rest = &rest[1..];
                }
                b'%' => {
                    let (conversion, behind) = Conversion::read(rest);
                    rest = behind;
                    if let Pass::Over = self.convert(&conversion) {
                        return Pass::Over;
                    }
                }
                byte => self.output.push(byte),
            }
        }
        Pass::Whole
    }

    /// A width or precision from an operand. If it is too large, an error is recorded and 0 is used.
    fn amount(&mut self, value: u128) -> usize {
        match usize::try_from(value) {
            Ok(value) if value <= MAX_WIDTH => value,
            _ => {
                self.failed = true;
                let fault = format!("printf: {value}: wider than {MAX_WIDTH} columns");
                self.faults.push((self.output.len(), fault.into_bytes()));
                0
            }
        }
    }

    fn convert(&mut self, conversion: &Conversion) -> Pass {
        let mut minus = conversion.minus;
        let width = match conversion.width {
            None => 0,
            Some(Amount::Given(width)) => width,
            Some(Amount::Operand) => {
                let width = self.number(true);
                minus |= width < 0;
                self.amount(width.unsigned_abs())
            }
        };
        let precision = match conversion.precision {
            None => None,
            Some(Amount::Given(precision)) => Some(precision),
            Some(Amount::Operand) => {
                let precision = self.number(true);
                (precision >= 0).then(|| self.amount(precision.unsigned_abs()))
            }
        };
        let text = match conversion.letter {
            b's' => cut(self.operand().to_vec(), precision),
            b'q' => {
                let locale = self.locale;
                cut(quoted(self.operand(), locale), precision)
            }
            b'c' => vec![self.operand().first().copied().unwrap_or(0)],
            b'b' => {
                let mut text = Vec::new();
                let operand = self.operand().to_vec();
                self.complain_of(escape::complaints(&operand));
                let ended =
                    escape::expand(&operand, self.escapes(Place::Operand), &mut text).is_break();
                self.pad(cut(text, precision), width, minus);
                return if ended { Pass::Over } else { Pass::Whole };
            }
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' => {
                let value = self.number(matches!(conversion.letter, b'd' | b'i'));
                let zero = conversion.zero && !minus && precision.is_none();
                let (sign, digits) = conversion.digits(value, precision);
                if zero {
                    let room = width.saturating_sub(sign.len() + digits.len());
                    let text = sign + &"0".repeat(room) + &digits;
                    self.output.extend_from_slice(text.as_bytes());
                    return Pass::Whole;
                }
                (sign + &digits).into_bytes()
            }
            letter => {
                self.failed = true;
                let letter = [letter];
                let (before, letter, after) = match (letter[0], self.is_dash) {
                    (0, false) => ("printf: `", &b"%"[..], "': missing format character"),
                    (_, false) => ("printf: `", &letter[..], "': invalid format character"),
                    (0, true) => ("printf: %", &b""[..], ": invalid directive"),
                    (_, true) => ("printf: %", &letter[..], ": invalid directive"),
                };
                let fault = with_name(before, OsStr::from_bytes(letter), after);
                self.fault(fault);
                return Pass::Over;
            }
        };
        self.pad(text, width, minus);
        Pass::Whole
    }

    fn pad(&mut self, text: Vec<u8>, width: usize, minus: bool) {
        let room = width.saturating_sub(text.len());
        let blanks = vec![b' '; room];
        if minus {
            self.output.extend(text);
            self.output.extend(blanks);
        } else {
            self.output.extend(blanks);
            self.output.extend(text);
        }
    }

    fn operand(&mut self) -> &[u8] {
        self.operands.next().map(Vec::as_slice).unwrap_or_default()
    }

    /// The next operand as a number. Errors are recorded.
    fn number(&mut self, is_signed: bool) -> i128 {
        let text = self.operand().to_vec();
        if let [b'\'' | b'"', character @ ..] = text.as_slice() {
            let text = std::str::from_utf8(character).ok();
            let first = text
                .filter(|_| self.locale.is_utf8)
                .and_then(|c| c.chars().next());
            let byte = character.first().copied().map(i128::from);
            return first
                .map(|c| i128::from(u32::from(c)))
                .or(byte)
                .unwrap_or(0);
        }
        let read = number::read(&text);
        if read.length != text.len() {
            self.failed = true;
            let after = match (self.is_dash, read.length, text.as_slice()) {
                (false, _, [b'0', b'x', ..]) => ": invalid hex number",
                (false, _, [b'0', second, ..]) if second.is_ascii_digit() => {
                    ": invalid octal number"
                }
                (false, ..) => ": invalid number",
                (true, 0, _) => ": expected numeric value",
                (true, ..) => ": not completely converted",
            };
            self.fault(with_name("printf: ", OsStr::from_bytes(&text), after));
        }
        let (least, most) = match is_signed {
            true => (i128::from(i64::MIN), i128::from(i64::MAX)),
            false => (-i128::from(u64::MAX), i128::from(u64::MAX)),
        };
        if (least..=most).contains(&read.value) {
            return read.value;
        }
        let (before, after) = match self.is_dash {
            true => ("printf: ", ": Numerical result out of range"),
            false => ("printf: warning: ", ": Numerical result out of range"),
        };
        self.failed |= self.is_dash;
        self.fault(with_name(before, OsStr::from_bytes(&text), after));
        match is_signed {
            true => read.value.clamp(least, most),
            false => most,
        }
    }

    /// Records warnings about escapes; dash prints none.
    fn complain_of(&mut self, complaints: impl IntoIterator<Item = &'static str>) {
        if !self.is_dash {
            for complaint in complaints {
                self.fault(format!("printf: {complaint}").into_bytes());
            }
        }
    }

    /// Records an error. Complete lines printed before it are written first.
    fn fault(&mut self, text: Vec<u8>) {
        let whole = self.output.iter().rposition(|b| *b == b'\n');
        self.faults.push((whole.map_or(0, |end| end + 1), text));
    }
}

impl Conversion {
    /// The sign or prefix, and the digits.
    fn digits(&self, value: i128, precision: Option<usize>) -> (String, String) {
        let is_signed = matches!(self.letter, b'd' | b'i');
        let unsigned = match is_signed {
            true => value.unsigned_abs(),
            // Wraps around like the system's integers.
            false if value < 0 => u128::from(wrapped(value)),
            false => value.unsigned_abs().min(u64::MAX.into()),
        };
        let mut digits = match self.letter {
            b'o' => format!("{unsigned:o}"),
            b'x' => format!("{unsigned:x}"),
            b'X' => format!("{unsigned:X}"),
            _ => unsigned.to_string(),
        };
        if unsigned == 0 && precision == Some(0) {
            digits.clear();
        }
        let least = precision.unwrap_or(0);
        digits = "0".repeat(least.saturating_sub(digits.len())) + &digits;
        if self.alternative && self.letter == b'o' && !digits.starts_with('0') {
            digits.insert(0, '0');
        }
        let sign = match self.letter {
            _ if is_signed && value < 0 => "-",
            _ if is_signed && self.plus => "+",
            _ if is_signed && self.space => " ",
            b'x' if self.alternative && unsigned != 0 => "0x",
            b'X' if self.alternative && unsigned != 0 => "0X",
            _ => "",
        };
        (sign.to_owned(), digits)
    }
}

/// A negative number as an unsigned 64-bit integer.
fn wrapped(value: i128) -> u64 {
    let low = value.to_le_bytes();
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&low[..8]);
    u64::from_le_bytes(bytes)
}

fn cut(mut text: Vec<u8>, precision: Option<usize>) -> Vec<u8> {
    text.truncate(precision.unwrap_or(usize::MAX));
    text
}
