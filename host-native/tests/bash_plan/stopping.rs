//! Plans that are stopped, and output of any size.

use std::{fs::File, io::Read as _, process::Command, sync::mpsc, time::Duration};

use rustix::pipe::{PipeFlags, pipe_with};
use windlass::bash::plan::{self, Control, Ending, Streams};

use super::support::Folder;

/// Longer than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a line until it has written something, and stops it then.
fn stopped_after_output(line: &str) -> Folder {
    let folder = Folder::new();
    let (plan, session) = (folder.plan(line), folder.session());
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let control = Control::new().unwrap();
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let streams = Streams {
                stdin: File::open("/dev/null").unwrap().into(),
                stdout: writer,
                stderr: File::open("/dev/null").unwrap().into(),
            };
            let ended = plan::execute(&plan, &session, streams, &control).unwrap();
            tell.send(ended.how).unwrap();
        });
        let mut begun = [0];
        File::from(reader).read_exact(&mut begun).unwrap();
        control.kill();
        assert_eq!(told.recv_timeout(LIMIT), Ok(Ending::Stopped), "{line}");
    });
    folder
}

#[test]
fn whatever_runs_can_be_stopped() {
    for line in [
        "echo a; sleep 1000",
        "echo a; while true; do :; done",
        "echo a; until false; do true; done",
        "yes",
        "while true; do echo a; done",
        "echo a; sleep 1000 | sleep 1000",
        "echo a; (sleep 1000)",
        "echo a; echo $(sleep 1000)",
        "echo a; echo $(while true; do :; done)",
        "echo a; for i in $(yes | head -100000); do :; done; sleep 1000",
        "echo a; ./ignore",
        // The program may leave another process behind and end by itself.
        "echo a; setsid sleep 1000; sleep 1000",
        "echo a; bash -c 'sleep 1000'",
        "echo a; timeout 1000 sleep 1000",
        "echo a; mkfifo fifo; cat < fifo",
        "echo a; mkfifo fifo; echo x > fifo",
        "echo a; mkfifo fifo; while true; do cat < fifo; done | cat",
    ] {
        stopped_after_output(line);
    }
}

#[test]
fn nothing_of_the_group_is_left() {
    let marker = "86402";
    stopped_after_output(&format!(
        "echo a; sleep {marker} | sh -c 'sleep {marker}; true' | cat"
    ));
    let mut left = true;
    // The end of processes that nobody waits for takes a moment that nobody is told of.
    for _ in 0..1000 {
        let found = Command::new("pgrep")
            .args(["-f", &format!("sleep {marker}")])
            .output()
            .unwrap();
        left = !found.stdout.is_empty();
        if !left {
            break;
        }
        std::thread::yield_now();
    }
    assert!(!left);
}

#[test]
fn texts_and_outputs_of_a_megabyte_do_not_wait_for_each_other() {
    let body = "0123456789abcde\n".repeat(1 << 16);
    for (line, expected) in [
        (format!("wc -c <<'E'\n{body}E"), "1048576\n"),
        (format!("cat <<'E' | wc -c\n{body}E"), "1048576\n"),
        (format!("{{ head -1; }} <<'E' | wc -c\n{body}E"), "16\n"),
        (
            "echo \"$(head -c 1000000 /dev/zero | tr '\\0' x)\" | wc -c".to_owned(),
            "1000001\n",
        ),
        (
            "for i in 1 2 3; do head -c 1000000 /dev/zero; done | wc -c".to_owned(),
            "3000000\n",
        ),
        (
            "yes | head -c 2000000 | { cat; } | (cat) | wc -c".to_owned(),
            "2000000\n",
        ),
    ] {
        let folder = Folder::new();
        // The reader of lines may have a limit that these texts exceed.
        let Ok(line) = windlass_shell::read(&line) else {
            continue;
        };
        let (done, _) = folder.run(&folder.plan_of(line.script)).unwrap();
        assert_eq!(done.stdout, expected);
    }
}

#[test]
fn the_directory_at_the_end_is_told_without_links() {
    for (line, below) in [
        ("true", ""),
        ("cd d", "/d"),
        ("cd d && cd e && cd ..", "/d"),
        ("(cd d)", ""),
        ("cd d | true", ""),
        ("cd dlink", "/d"),
        ("cd nope", ""),
        ("cd d; exit 3", "/d"),
        ("bash -c 'cd d'", ""),
        ("{ cd d; }", "/d"),
        ("for i in d e; do cd $i; done", "/d/e"),
    ] {
        let folder = Folder::new();
        let (_, ended) = folder.run(&folder.plan(line)).unwrap();
        assert_eq!(ended.directory, Some(folder.text() + below), "{line}");
    }
}
