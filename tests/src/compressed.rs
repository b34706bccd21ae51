//! What a file weighs on its way to a browser.

use brotli::enc::BrotliEncoderParams;

/// So many bytes go over the network: as brotli packs them best (`brotli -11`), which is what servers have ready for files that
/// do not change.
///
/// # Panics
/// Never: memory takes everything.
#[must_use]
pub fn brotli_len(bytes: &[u8]) -> usize {
    let parameters = BrotliEncoderParams {
        quality: 11,
        lgwin: 24,
        size_hint: bytes.len(),
        ..BrotliEncoderParams::default()
    };
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &*bytes, &mut packed, &parameters)
        .expect("memory takes everything");
    packed.len()
}
