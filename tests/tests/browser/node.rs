//! Programs in Node.

use std::{
    env,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use windlass_tests::artefacts;

use crate::facts::Facts;

/// Longer than any of them takes on a busy machine: past it something hangs.
const LIMIT: Duration = Duration::from_secs(120);

/// The attack kills the edge runtime many times more, which takes longer.
fn limit() -> Duration {
    match env::var_os("WINDLASS_EDGE_KILLS") {
        Some(_) => 5 * LIMIT,
        None => LIMIT,
    }
}

/// Runs the demonstration in Node; gives the messages and, as the last line, the outcome.
pub(crate) fn run(facts: &Facts) -> String {
    demo("node.js", facts)
}

/// The same in workerd.
pub(crate) fn run_in_workerd(facts: &Facts) -> String {
    demo("workerd.js", facts)
}

fn demo(file: &str, facts: &Facts) -> String {
    let mut node = command(file);
    node.arg(artefacts::browser_package())
        .arg(facts.bundle_file());
    output(node)
}

/// Runs a session with plugins; gives its outcome.
pub(crate) fn plugins(directory: &Path, scenario: &Path) -> String {
    let mut node = Command::new(artefacts::newer_node());
    node.arg(artefacts::repository().join("tests/browser/plugins-node.js"))
        .arg(artefacts::browser_package())
        .arg(directory)
        .arg(scenario);
    output(node)
}

/// Turns a component into JavaScript, in a folder of its name.
pub(crate) fn transpile(component: &Path, name: &str, directory: &Path) {
    let mut node = command("transpile.js");
    node.arg(component)
        .arg(name)
        .arg(artefacts::browser_package())
        .arg(directory.join(name));
    output(node);
}

/// Runs a file of tests by Node's own runner.
pub(crate) fn test(file: &str) {
    test_with(file, []);
}

/// The same, with further variables.
pub(crate) fn test_with<'a>(file: &str, variables: impl IntoIterator<Item = (&'a str, PathBuf)>) {
    test_by(Command::new("node"), file, variables);
}

/// The same, by a Node that runs what jco makes of components in JavaScript and Python.
pub(crate) fn test_in_newer<'a>(
    file: &str,
    variables: impl IntoIterator<Item = (&'a str, PathBuf)>,
) {
    test_by(Command::new(artefacts::newer_node()), file, variables);
}

fn test_by<'a>(
    mut node: Command,
    file: &str,
    variables: impl IntoIterator<Item = (&'a str, PathBuf)>,
) {
    let tests = artefacts::repository().join("tests/browser");
    node.arg("--test")
        .arg(tests.join(file))
        .env("WINDLASS_BROWSER", artefacts::browser_package())
        .envs(variables);
    print!("{}", output(node));
}

fn command(file: &str) -> Command {
    let mut node = Command::new("node");
    node.arg(artefacts::repository().join("tests/browser").join(file));
    node
}

/// What a program says, once it has ended well.
fn output(mut program: Command) -> String {
    let mut child = program
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("Node is on PATH");
    let text = read_to_end(&mut child);
    let status = child.wait().unwrap();
    assert!(status.success(), "{program:?}: {status}\n{text}");
    text
}

fn read_to_end(child: &mut Child) -> String {
    let mut stdout = child.stdout.take().unwrap();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text);
        // Nobody listens any more after the time limit.
        let _ = sender.send(read.map(|_| text));
    });
    match receiver.recv_timeout(limit()) {
        Ok(text) => text.unwrap(),
        Err(_) => {
            child.kill().unwrap();
            panic!("Node did not end within {:?}", limit());
        }
    }
}
