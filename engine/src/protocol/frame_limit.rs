//! Limits the length of frames, so that every SDK can read them: the Python SDK limits the length of a line.
//!
//! Frames that are only displayed are cut ([`fitted`]). Frames whose content comes back in an answer and is then used are cut
//! in such a way that the original content can be restored ([`shortened`]).

use serde_json::{Value, json};
use windlass_core::RawJson;

use super::line::to_line;

/// The default maximum length of a frame, in bytes. The Python SDK's own limit is 1 MiB (`max_buffer_size`).
pub const LONGEST_FRAME: usize = 1_000_000;

/// The minimum length to which texts are cut; a frame that is still too long is given up.
const SHORTEST_TEXT: usize = 256;

/// A frame that is too long even after cutting, or that must not be cut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is {length} bytes long and the SDK takes no line of more than {longest} (`max_buffer_size`; \
     WINDLASS_MAX_FRAME_BYTES says another length)"
)]
pub struct TooLong {
    /// The length of the frame, in bytes.
    pub length: usize,
    /// The maximum length, in bytes.
    pub longest: usize,
}

/// An answer that modifies a text of which the SDK saw only the beginning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the answer changes a text that was too long to be shown whole; return it as it was shown, or replace it altogether"
)]
pub struct CutChanged;

/// The line itself, or an equivalent one with its long texts cut. The session, the model and the transcript are not affected.
#[must_use]
pub fn fitted(line: String, longest: usize) -> String {
    if line.len() <= longest {
        return line;
    }
    let Ok(mut frame) = serde_json::from_str::<Value>(&line) else {
        return line;
    };
    drop(line);
    // The structured result repeats what the model reads, so it is cut first.
    if let Some(result) = frame.get_mut("tool_use_result") {
        Cutter::new(longest / 8).cut(result);
    }
    let mut text = longest / 2;
    loop {
        let line = to_line(&frame);
        if line.len() <= longest || text < SHORTEST_TEXT {
            return line;
        }
        Cutter::new(text).cut(&mut frame);
        text /= 2;
    }
}

/// A line whose long texts were cut, and the data to restore them in an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Shortened {
    /// The line.
    pub line: String,
    cuts: Vec<Cut>,
}

/// A cut value: the original and its replacement.
#[derive(Debug, Clone, PartialEq)]
struct Cut {
    whole: Value,
    shown: Value,
}

/// The line itself, or one with its long texts cut, each marked so that it can be recognised in an answer.
///
/// # Errors
/// [`TooLong`] if cutting texts does not shorten the line enough.
pub fn shortened(line: String, longest: usize) -> Result<Shortened, TooLong> {
    if line.len() <= longest {
        let cuts = Vec::new();
        return Ok(Shortened { line, cuts });
    }
    let too_long = TooLong {
        length: line.len(),
        longest,
    };
    let whole: Value = serde_json::from_str(&line).map_err(|_| too_long.clone())?;
    drop(line);
    let mut text = longest / 2;
    while text >= SHORTEST_TEXT {
        let mut frame = whole.clone();
        let mut cutter = Cutter {
            longest: text,
            cuts: Some(Vec::new()),
        };
        cutter.cut(&mut frame);
        let line = to_line(&frame);
        if line.len() <= longest {
            let cuts = cutter.cuts.unwrap_or_default();
            return Ok(Shortened { line, cuts });
        }
        text /= 2;
    }
    Err(too_long)
}

impl Shortened {
    /// Replaces the cut texts in an answer by the original ones, wherever the answer repeats them.
    ///
    /// # Errors
    /// [`CutChanged`] if the answer modifies such a text, because the intended complete text is then unknown.
    pub fn restored(&self, answer: RawJson) -> Result<RawJson, CutChanged> {
        if self.cuts.is_empty() {
            return Ok(answer);
        }
        let Ok(mut value) = answer.decode::<Value>() else {
            return Ok(answer); // whoever reads it says what is wrong with it
        };
        match self.restore(&mut value, false)? {
            true => Ok(RawJson::encode(&value).unwrap_or(answer)),
            false => Ok(answer),
        }
    }

    /// Restores texts in a value; returns whether there were any. A value that is used in place of the original must not
    /// contain a modified cut text.
    fn restore(&self, value: &mut Value, is_used: bool) -> Result<bool, CutChanged> {
        if let Some(cut) = self.cuts.iter().find(|cut| cut.shown == *value) {
            *value = cut.whole.clone();
            return Ok(true);
        }
        let mut any = false;
        match value {
            Value::String(text) if is_used => {
                let ends = self.cuts.iter().filter_map(Cut::end);
                if ends.into_iter().any(|end| text.contains(end)) {
                    return Err(CutChanged);
                }
            }
            Value::Array(values) => {
                for value in values {
                    any |= self.restore(value, is_used)?;
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    any |= self.restore(value, is_used || name.starts_with("updated"))?;
                }
            }
            _ => {}
        }
        Ok(any)
    }
}

impl Cut {
    /// The marker at the end of the cut text.
    fn end(&self) -> Option<&str> {
        let shown = self.shown.as_str()?;
        Some(&shown[shown.rfind(CUT_HERE)?..])
    }
}

/// The beginning of the marker at the place where a text was cut.
const CUT_HERE: &str = "\n[cut here";

/// Cuts every longer text, and removes longer images and documents.
struct Cutter {
    longest: usize,
    /// The cuts made, if they are recorded.
    cuts: Option<Vec<Cut>>,
}

impl Cutter {
    fn new(longest: usize) -> Self {
        let cuts = None;
        Self { longest, cuts }
    }

    fn cut(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if text.len() > self.longest => {
                let shown = Value::String(self.beginning_of(text));
                self.replace(value, shown);
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.cut(value)),
            Value::Object(fields) => {
                let data = fields
                    .get("source")
                    .and_then(|source| source["data"].as_str());
                if let Some(data) = data
                    && data.len() > self.longest
                {
                    let (number, length) = (self.number(), data.len());
                    let text =
                        format!("[left out{number}: {length} bytes are too many for one frame]");
                    return self.replace(value, json!({"type": "text", "text": text}));
                }
                fields.values_mut().for_each(|value| self.cut(value));
            }
            _ => {}
        }
    }

    fn beginning_of(&self, text: &str) -> String {
        let end = (0..=self.longest)
            .rev()
            .find(|at| text.is_char_boundary(*at));
        let (beginning, number, total) = (&text[..end.unwrap_or(0)], self.number(), text.len());
        format!("{beginning}{CUT_HERE}{number}: {total} bytes are too many for one frame]")
    }

    /// The number of the cut, if cuts are recorded: it distinguishes two texts of equal length that begin alike.
    fn number(&self) -> String {
        let cuts = self.cuts.as_ref();
        cuts.map_or_else(String::new, |cuts| format!(" ({})", cuts.len() + 1))
    }

    fn replace(&mut self, value: &mut Value, shown: Value) {
        let whole = std::mem::replace(value, shown.clone());
        if let Some(cuts) = &mut self.cuts {
            cuts.push(Cut { whole, shown });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_not_touched() {
        let line = "{\"a\":1.0}\n".to_owned();
        assert_eq!(fitted(line.clone(), LONGEST_FRAME), line);
    }

    #[test]
    fn a_long_result_is_cut_and_stays_a_frame() {
        let long = "ä".repeat(800_000);
        let frame = json!({"type": "user", "uuid": "u", "tool_use_result": {"stdout": long},
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": long}]}});
        let line = fitted(to_line(&frame), LONGEST_FRAME);
        assert!(line.len() <= LONGEST_FRAME, "{}", line.len());
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["uuid"], "u");
        let content = read["message"]["content"][0]["content"].as_str().unwrap();
        assert!(content.ends_with("[cut here: 1600000 bytes are too many for one frame]"));
        assert!(content.len() > 400_000);
    }

    #[test]
    fn an_image_goes_as_a_whole() {
        let frame = json!({"message": {"content": [
            {"type": "image", "source": {"type": "base64", "data": "x".repeat(2_000_000)}},
            {"type": "text", "text": "seen"},
        ]}});
        let read: Value = serde_json::from_str(&fitted(to_line(&frame), LONGEST_FRAME)).unwrap();
        assert_eq!(read["message"]["content"][0]["type"], "text");
        assert_eq!(read["message"]["content"][1]["text"], "seen");
    }

    #[test]
    fn many_texts_of_middling_length_are_cut_until_they_fit() {
        let frame = json!({"texts": vec!["x".repeat(20_000); 200]});
        assert!(fitted(to_line(&frame), LONGEST_FRAME).len() <= LONGEST_FRAME);
    }

    fn shown(input: &Value) -> (Shortened, Value) {
        let shortened = shortened(to_line(&json!({"input": input})), LONGEST_FRAME).unwrap();
        assert!(shortened.line.len() <= LONGEST_FRAME);
        let mut frame: Value = serde_json::from_str(&shortened.line).unwrap();
        (shortened, frame["input"].take())
    }

    fn raw(value: &Value) -> RawJson {
        RawJson::encode(value).unwrap()
    }

    #[test]
    fn what_was_cut_comes_back_whole() {
        // Equal in the visible part, and of the same length.
        let (one, two) = ("x".repeat(800_000) + "1", "x".repeat(800_000) + "2");
        let input = json!({"file_path": "a", "content": one, "more": [two], "n": 1});
        let (shortened, mut seen) = shown(&input);
        assert_ne!(seen["content"], seen["more"][0]);
        seen["n"] = 2.into();
        let answer = raw(&json!({"behavior": "allow", "updatedInput": seen}));
        let restored: Value = shortened.restored(answer).unwrap().decode().unwrap();
        assert_eq!(restored["updatedInput"]["content"], one);
        assert_eq!(restored["updatedInput"]["more"][0], two);
        assert_eq!(restored["updatedInput"]["n"], 2);
    }

    #[test]
    fn half_a_text_is_never_used_for_the_whole() {
        let (shortened, seen) = shown(&json!({"content": "x".repeat(2_000_000)}));
        let changed = format!("# {}", seen["content"].as_str().unwrap());
        let answer = raw(&json!({"updatedInput": {"content": changed}}));
        assert_eq!(shortened.restored(answer), Err(CutChanged));
        // Answers that replace the text completely, or only mention it, are accepted.
        for answer in [
            json!({"updatedInput": {"content": "short"}}),
            json!({"behavior": "deny", "message": format!("not this: {changed}")}),
        ] {
            let answer = raw(&answer);
            assert_eq!(shortened.restored(answer.clone()), Ok(answer));
        }
    }

    #[test]
    fn what_no_cutting_helps_is_too_long() {
        let line = to_line(&json!({"input": vec![12345; 300_000]}));
        let length = line.len();
        let longest = LONGEST_FRAME;
        let refused = shortened(line, longest).unwrap_err();
        assert_eq!(refused, TooLong { length, longest });
    }
}
