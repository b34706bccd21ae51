//! The scripted model of the test kit.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;
use windlass_scripted_model::{self as testkit, Piece, RequestView, Script};

/// A model that follows a script (`docs/scripted-model.md`). It handles requests and bytes without a network.
#[wasm_bindgen]
#[derive(Debug)]
pub struct ScriptedModel(testkit::ScriptedModel);

#[wasm_bindgen]
impl ScriptedModel {
    /// Parses a script. `variables` contains alternating names and values.
    ///
    /// # Errors
    /// What is wrong with the script, and where.
    #[wasm_bindgen(constructor)]
    pub fn new(script: &str, variables: Vec<String>) -> Result<ScriptedModel, JsError> {
        let variables: Vec<(&str, &str)> = variables
            .chunks_exact(2)
            .map(|pair| (pair[0].as_str(), pair[1].as_str()))
            .collect();
        let script = Script::parse_with(script, &variables)?;
        Ok(Self(testkit::ScriptedModel::new(script)))
    }

    /// Answers a request; `headers` contains alternating names and values. Returns the pieces of the answer in order:
    /// `[status, alternating header names and values…]`, then for each piece of the body its bytes or a delay in
    /// milliseconds, and finally `"end"`, `"cut"` or `"hang"`.
    #[must_use]
    pub fn answer(&mut self, path: &str, headers: Vec<String>, body: &[u8]) -> Array {
        let headers: Vec<(String, String)> = headers
            .chunks_exact(2)
            .map(|pair| (pair[0].clone(), pair[1].clone()))
            .collect();
        let pieces = self.0.answer(&RequestView {
            path,
            headers: &headers,
            body,
        });
        pieces.into_iter().map(value).collect()
    }

    /// Why the script was not followed to its end; `undefined` if it was.
    #[must_use]
    pub fn unmet(&self) -> Option<String> {
        self.0.verify().err().map(|unmet| unmet.to_string())
    }
}

fn value(piece: Piece) -> JsValue {
    match piece {
        Piece::Head { status, headers } => {
            let head = Array::of1(&JsValue::from(status));
            for (name, value) in headers {
                head.push(&JsValue::from(name));
                head.push(&JsValue::from(value));
            }
            head.into()
        }
        Piece::Bytes(bytes) => Uint8Array::from(&bytes[..]).into(),
        // Milliseconds of a script, far below 2^53.
        Piece::Delay(ms) => JsValue::from_f64(ms as f64),
        Piece::End => JsValue::from_str("end"),
        Piece::Cut => JsValue::from_str("cut"),
        Piece::Hang => JsValue::from_str("hang"),
    }
}
