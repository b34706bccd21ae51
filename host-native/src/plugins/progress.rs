//! What a call reports while it runs.

use tokio::sync::mpsc;

/// The most reports of a call; further ones are dropped.
const MOST: u32 = 100;

/// Characters of the longest report; a longer one is cut.
const LONGEST: usize = 200;

/// The reports of a call, and who takes them.
#[derive(Debug)]
pub(super) struct Reports {
    to: Option<mpsc::Sender<String>>,
    left: u32,
}

impl Reports {
    pub(super) fn new(to: Option<mpsc::Sender<String>>) -> Self {
        Self { to, left: MOST }
    }

    /// A report as it is shown, if one more is taken.
    pub(super) fn take(&mut self, message: &str, fraction: Option<f64>) -> Option<String> {
        self.left = self.left.checked_sub(1)?;
        let message: String = message.chars().take(LONGEST).collect();
        let fraction = fraction.filter(|fraction| (0.0..=1.0).contains(fraction));
        Some(match fraction {
            Some(fraction) => format!("{message} ({:.0} %)", fraction * 100.0),
            None => message,
        })
    }

    /// Tells whoever runs the call. Who is behind with them misses some.
    pub(super) fn tell(&self, report: String) {
        if let Some(to) = &self.to {
            let _ = to.try_send(report);
        }
    }
}
