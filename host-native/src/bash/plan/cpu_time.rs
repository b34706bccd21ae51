//! The CPU time of programs, for the keyword `time`.

use std::time::Duration;

/// The CPU time used by programs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CpuTime {
    pub(super) user: Duration,
    pub(super) system: Duration,
}

/// The CPU time of an exited, unreaped process and its reaped children.
#[cfg(target_os = "linux")]
pub(super) fn of_process(id: u32) -> CpuTime {
    /// Clock ticks per second in `/proc`.
    const TICKS: u64 = 100;
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name in parentheses can contain any characters.
    let numbers = status.rsplit_once(')').map_or("", |(_, numbers)| numbers);
    let ticks: Vec<u64> = numbers
        .split_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|ticks| ticks.parse().ok())
        .collect();
    let [user, system, of_users, of_systems] = ticks[..] else {
        return CpuTime::default();
    };
    let time = |ticks: u64| Duration::from_millis(ticks.saturating_mul(1000 / TICKS));
    CpuTime {
        user: time(user.saturating_add(of_users)),
        system: time(system.saturating_add(of_systems)),
    }
}

/// Not available on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn of_process(_id: u32) -> CpuTime {
    CpuTime::default()
}
