//! The report of the keyword `time`.

use std::time::{Duration, Instant};

use super::control::Control;

/// Times a pipeline.
pub(super) struct Timer {
    begun: Instant,
    before: Used,
}

/// The CPU time used by programs.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Used {
    pub(super) user: Duration,
    pub(super) system: Duration,
}

impl Timer {
    pub(super) fn start(control: &Control) -> Self {
        Self {
            begun: Instant::now(),
            before: control.count_time(),
        }
    }

    /// The report in the format of bash.
    pub(super) fn report(self, control: &Control) -> String {
        let now = control.count_time();
        format!(
            "\nreal\t{}\nuser\t{}\nsys\t{}\n",
            shown(self.begun.elapsed()),
            shown(now.user.saturating_sub(self.before.user)),
            shown(now.system.saturating_sub(self.before.system)),
        )
    }
}

fn shown(time: Duration) -> String {
    let seconds = time.as_secs();
    format!(
        "{}m{}.{:03}s",
        seconds / 60,
        seconds % 60,
        time.subsec_millis()
    )
}

/// The CPU time of an exited, unreaped process and its reaped children.
#[cfg(target_os = "linux")]
pub(super) fn used(id: u32) -> Used {
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
        return Used::default();
    };
    let time = |ticks: u64| Duration::from_millis(ticks.saturating_mul(1000 / TICKS));
    Used {
        user: time(user.saturating_add(of_users)),
        system: time(system.saturating_add(of_systems)),
    }
}

/// Not available on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn used(_id: u32) -> Used {
    Used::default()
}
