//! What a call, or a run of a hook, may use.

use serde::Deserialize;
use windlass::plugins::CallUsage;

/// Limits of a call, each of which may be left out.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Budget {
    fuel: Option<u64>,
    memory_bytes: Option<u64>,
    host_calls: Option<u64>,
    output_bytes: Option<u64>,
    log_bytes: Option<u64>,
}

impl Budget {
    /// What was exceeded.
    pub(super) fn faults(&self, usage: &CallUsage) -> Vec<String> {
        // A usize has at most 64 bits.
        let bytes = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let used = [
            ("fuel", self.fuel, usage.fuel),
            ("memoryBytes", self.memory_bytes, bytes(usage.memory)),
            ("hostCalls", self.host_calls, usage.host_calls.into()),
            ("outputBytes", self.output_bytes, bytes(usage.output)),
            ("logBytes", self.log_bytes, bytes(usage.log)),
        ];
        used.into_iter()
            .filter_map(|(name, most, used)| {
                let most = most.filter(|most| used > *most)?;
                Some(format!("{name} is {used}, more than {most}"))
            })
            .collect()
    }
}
