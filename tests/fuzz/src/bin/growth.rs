//! How long every target takes for every family of inputs that grow, and how much longer for twice as much.
//!
//! `cargo run --release -p windlass-fuzz --bin growth [TARGET]`. A ratio of 2 is linear, one of 4 quadratic; of what is refused, or takes
//! less than a millisecond, it says nothing. The exit code is 1 where something grows faster than its input.

use std::{env, process::ExitCode, thread, time::Instant};

use windlass_fuzz::{GROWTHS, Growth, run};

/// As much stack as a thread of the programs has.
const STACK: usize = 2 << 20;

/// Bytes of the inputs that are compared.
const SIZES: [usize; 3] = [256 << 10, 512 << 10, 1 << 20];

/// More than this for twice as much is too much.
const WORST: f64 = 3.0;

/// The shortest of three times, in milliseconds.
fn time(growth: Growth, bytes: usize) -> f64 {
    let thread = thread::Builder::new().stack_size(STACK);
    let timing = thread.spawn(move || {
        let input = growth.input(bytes);
        let times = (0..3).map(|_| {
            let begun = Instant::now();
            run(growth.target, &input);
            begun.elapsed().as_secs_f64() * 1e3
        });
        times.fold(f64::INFINITY, f64::min)
    });
    let times = timing.map(thread::JoinHandle::join);
    match times {
        Ok(Ok(time)) => time,
        _ => f64::NAN,
    }
}

fn main() -> ExitCode {
    let wanted = env::args().nth(1);
    let mut worst = 0;
    println!(
        "{:14} {:36} {:>10} {:>10} {:>10}  ratios",
        "target", "what grows", "256 KiB", "512 KiB", "1 MiB"
    );
    for growth in GROWTHS {
        if wanted
            .as_ref()
            .is_some_and(|wanted| wanted != growth.target)
        {
            continue;
        }
        let [a, b, c] = SIZES.map(|size| time(*growth, size));
        let (first, second) = (b / a, c / b);
        let is_slow = c > 5.0 && first > WORST && second > WORST || c.is_nan();
        worst += u32::from(is_slow);
        let mark = if is_slow {
            "  grows faster than its input"
        } else {
            ""
        };
        println!(
            "{:14} {:36} {a:>8.2}ms {b:>8.2}ms {c:>8.2}ms  {first:.1} {second:.1}{mark}",
            growth.target, growth.name
        );
    }
    ExitCode::from(u8::from(worst > 0))
}
