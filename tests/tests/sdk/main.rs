//! The official Agent SDKs, unmodified, on this engine: every program of `tests/sdk` is a test.
//!
//! A program gets the path of the engine in `$WINDLASS`, a scripted model behind `$ANTHROPIC_BASE_URL`, and an empty
//! directory to work in. It passes when it ends with 0, its script was followed to the end, and no process of the
//! engine is left.
#![allow(clippy::unwrap_used)]

#[cfg(target_os = "linux")]
mod features;
#[cfg(target_os = "linux")]
mod leftovers;
#[cfg(target_os = "linux")]
mod options;
#[cfg(target_os = "linux")]
mod run;

#[cfg(target_os = "linux")]
use features::Sdk;

/// What a test of our own does.
#[cfg(target_os = "linux")]
type Work = fn() -> Result<(), libtest_mimic::Failed>;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use libtest_mimic::{Arguments, Completion, Trial};

    let arguments = Arguments::from_args();
    let features = features::list().feature;
    let is_missing = |name: &str| {
        let mut named = features
            .iter()
            .filter(|row| row.test.as_deref() == Some(name));
        named.any(|row| row.missing.is_some())
    };
    let own: [(&str, Work); 5] = [
        (
            "sdk_1_the_lines_of_the_documentation_run_as_printed",
            || run::documentation(Sdk::Python),
        ),
        (
            "sdk_2_the_lines_of_the_documentation_run_as_printed",
            || run::documentation(Sdk::TypeScript),
        ),
        (
            "sdk_2_the_programs_fit_the_types_that_the_sdk_publishes",
            run::type_check,
        ),
        ("sdk_1_every_option_of_the_sdk_is_in_the_list", || {
            options::are_all_told(Sdk::Python)
        }),
        ("sdk_2_every_option_of_the_sdk_is_in_the_list", || {
            options::are_all_told(Sdk::TypeScript)
        }),
    ];
    let own = own.map(|(name, work)| Trial::test(name, work).with_ignored_flag(is_missing(name)));
    let programs = features.iter().filter_map(|feature| {
        feature.program.as_ref().or(feature.script.as_ref())?;
        let name = feature.test.clone()?;
        let work = feature.clone();
        let trial = Trial::ignorable_test(name, move || match work.lacks() {
            Some(reason) => Ok(Completion::ignored_with(reason)),
            None => run::feature(&work).map(|()| Completion::Completed),
        });
        // nextest reads what is ignored from the list alone.
        let is_listed = feature.lacks().is_some() && std::env::var_os("NEXTEST").is_some();
        Some(trial.with_ignored_flag(feature.missing.is_some() || is_listed))
    });
    let trials = programs.chain(own).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// What is left running is found by means of Linux.
#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the programs of the SDKs are run on Linux only");
}
