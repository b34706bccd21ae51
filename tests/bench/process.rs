//! What a process has cost so far, by the operating system's own account.

use rustix::time::{ClockId, clock_gettime};

/// CPU time of this process in milliseconds, all threads, user and system.
pub(crate) fn cpu_ms() -> f64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    used.tv_sec as f64 * 1e3 + used.tv_nsec as f64 / 1e6
}

/// Resident anonymous memory of this process in MiB.
pub(crate) fn anonymous_mib() -> f64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|l| l.starts_with("RssAnon:"))?;
            line.split_whitespace().nth(1)?.parse::<f64>().ok()
        })
        .map_or(f64::NAN, |kib| kib / 1024.0)
}
