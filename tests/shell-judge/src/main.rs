//! `shell-judge [--lines N] [--from S]`: tries generated lines and says what came of them.

use std::{io, process::ExitCode};

use lexopt::{Arg, ValueExt as _};
use windlass_shell_judge::{
    ALL, FORBIDDING, Fault, Former, Judged, JustBash, LEAST_PASSING, Line, Reading, Stage, corpus,
    generate, generate_for, run_many, shrink,
};

const HELP: &str = "\
shell-judge [--lines N] [--from S] [--former] [--just-bash] [--forbidding]
  tries N generated lines (20000) from seed S (0) on; --former judges the design that was given up,
  in which something must be found; --just-bash runs what passes in the shell of pages; --forbidding
  lets everything run that does not seem to hold a program that is denied";

/// Faults after which it ends.
const MOST_FAULTS: usize = 20;

fn main() -> ExitCode {
    match arguments() {
        Ok(Some(chosen)) => tell(judge(&chosen)),
        Ok(None) => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("shell-judge: {error}\n{HELP}");
            ExitCode::from(2)
        }
    }
}

struct Chosen {
    lines: u64,
    from: u64,
    former: bool,
    just_bash: bool,
    forbidding: bool,
}

fn arguments() -> Result<Option<Chosen>, lexopt::Error> {
    let mut chosen = Chosen {
        lines: 20_000,
        from: 0,
        former: false,
        just_bash: false,
        forbidding: false,
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("lines") => chosen.lines = parser.value()?.parse()?,
            Arg::Long("from") => chosen.from = parser.value()?.parse()?,
            Arg::Long("former") => chosen.former = true,
            Arg::Long("just-bash") => chosen.just_bash = true,
            Arg::Long("forbidding") => chosen.forbidding = true,
            Arg::Long("former-reads") => {
                former_reads()?;
                return Ok(None);
            }
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(chosen))
}

/// Judges the line on standard input as the former design did, for lines that end the process that does so.
fn former_reads() -> Result<(), lexopt::Error> {
    let line = io::read_to_string(io::stdin()).map_err(|error| error.to_string())?;
    let stage = Stage::new().map_err(|error| error.to_string())?;
    println!("{}", Former.passes(&line, &ALL[1], &stage).is_some());
    Ok(())
}

/// Lines of which a share says something.
const MANY: u64 = 10_000;

fn judge(chosen: &Chosen) -> io::Result<bool> {
    let reading: &dyn Reading = match (chosen.former, chosen.just_bash) {
        (true, _) => &Former,
        (false, true) => &JustBash,
        (false, false) => &Judged,
    };
    let forbidding = |seed| generate_for(FORBIDDING, seed);
    let line_of: &(dyn Fn(u64) -> Line + Sync) = match chosen.forbidding {
        true => &forbidding,
        false => &generate,
    };
    // A million lines take long, and who waits may begin to mend.
    let found = |line: &Line, fault: &Fault| {
        eprintln!("seed {}: {:?}\n  {fault}", line.seed, line.text);
    };
    let tally = run_many(
        reading,
        line_of,
        chosen.lines,
        chosen.from,
        MOST_FAULTS,
        &found,
    )?;
    let stage = Stage::new()?;
    for (line, fault) in &tally.faulty {
        let (short, fault) = shrink(line, fault, reading, &stage)?;
        println!(
            "seed {} with the permissions {:?}: {:?}\n  {fault}",
            line.seed, line.permissions.name, line.text
        );
        println!("  shortest: {}", corpus::row(&short)?);
    }
    for (permissions, (tried, passed)) in &tally.by_permissions {
        println!("{permissions:<12} {passed:>8} of {tried:>8} passed");
    }
    let share = 100.0 * tally.passed as f64 / tally.tried.max(1) as f64;
    println!(
        "{} lines, {} passed ({share:.1} %), {} at fault",
        tally.tried,
        tally.passed,
        tally.faulty.len()
    );
    let shows_enough = tally.tried < MANY
        || tally.passed * 100 >= tally.tried * LEAST_PASSING
        || chosen.forbidding;
    if !shows_enough {
        println!("too few of them passed: what is refused shows nothing");
    }
    Ok(tally.faulty.is_empty() && shows_enough)
}

fn tell(held: io::Result<bool>) -> ExitCode {
    match held {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("shell-judge: {error}");
            ExitCode::from(2)
        }
    }
}
