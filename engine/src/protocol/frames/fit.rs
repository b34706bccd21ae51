//! Frames that every SDK can read: not longer than the line that the Python SDK takes.

use serde_json::{Value, json};

use crate::protocol::line::to_line;

/// The longest frame in bytes. The Python SDK gives up at 1 MiB (`max_buffer_size`).
pub const LONGEST_FRAME: usize = 1_000_000;

/// The shortest that texts are cut to before a frame is given up.
const SHORTEST_TEXT: usize = 256;

/// The line itself, or one that says the same with its long texts cut. The session, the model and the transcript have
/// all of it.
#[must_use]
pub fn fitted(line: String) -> String {
    if line.len() <= LONGEST_FRAME {
        return line;
    }
    let Ok(mut frame) = serde_json::from_str::<Value>(&line) else {
        return line;
    };
    drop(line);
    // What programs read of a result repeats what the model reads: it goes first.
    if let Some(result) = frame.get_mut("tool_use_result") {
        cut_texts(result, LONGEST_FRAME / 8);
    }
    let mut longest = LONGEST_FRAME / 2;
    loop {
        let line = to_line(&frame);
        if line.len() <= LONGEST_FRAME || longest < SHORTEST_TEXT {
            return line;
        }
        cut_texts(&mut frame, longest);
        longest /= 2;
    }
}

/// Cuts every text that is longer, and takes out images and documents that are.
fn cut_texts(value: &mut Value, longest: usize) {
    match value {
        Value::String(text) if text.len() > longest => {
            let total = text.len();
            let end = (0..=longest).rev().find(|at| text.is_char_boundary(*at));
            text.truncate(end.unwrap_or(0));
            text.push_str(&format!(
                "\n[cut here: {total} bytes are too many for one frame]"
            ));
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| cut_texts(value, longest)),
        Value::Object(fields) => {
            let data = fields
                .get("source")
                .and_then(|source| source["data"].as_str());
            if let Some(data) = data
                && data.len() > longest
            {
                let text = format!(
                    "[left out: {} bytes are too many for one frame]",
                    data.len()
                );
                *value = json!({"type": "text", "text": text});
                return;
            }
            fields
                .values_mut()
                .for_each(|value| cut_texts(value, longest));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_not_touched() {
        let line = "{\"a\":1.0}\n".to_owned();
        assert_eq!(fitted(line.clone()), line);
    }

    #[test]
    fn a_long_result_is_cut_and_stays_a_frame() {
        let long = "ä".repeat(800_000);
        let frame = json!({"type": "user", "uuid": "u", "tool_use_result": {"stdout": long},
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": long}]}});
        let line = fitted(to_line(&frame));
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
        let read: Value = serde_json::from_str(&fitted(to_line(&frame))).unwrap();
        assert_eq!(read["message"]["content"][0]["type"], "text");
        assert_eq!(read["message"]["content"][1]["text"], "seen");
    }

    #[test]
    fn many_texts_of_middling_length_are_cut_until_they_fit() {
        let frame = json!({"texts": vec!["x".repeat(20_000); 200]});
        assert!(fitted(to_line(&frame)).len() <= LONGEST_FRAME);
    }
}
