//! The report of the keyword `time`.

use std::time::{Duration, Instant};

use super::{control::Control, cpu_time::CpuTime};

/// Times a pipeline.
pub(super) struct Timer {
    begun: Instant,
    before: CpuTime,
}

impl Timer {
    pub(super) fn start(control: &Control) -> Self {
        Self {
            begun: Instant::now(),
            before: control.cpu_time(),
        }
    }

    /// The report in the format of bash.
    pub(super) fn report(self, control: &Control) -> String {
        let now = control.cpu_time();
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
