//! Other processes, the kernel, and rights.

use std::{
    fs,
    process::{Child, Command, Stdio},
};

use serde_json::json;

use crate::support::Place;

/// A process of this user that is not confined, and holds something in its environment.
struct Neighbour(Child);

impl Neighbour {
    fn start() -> Self {
        let child = Command::new("sleep")
            .arg("1000")
            .env("SECRET_OF_THE_NEIGHBOUR", "the neighbour's text")
            .stdin(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn a_process_of_the_same_user_is_neither_seen_into_nor_stopped() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    let mut neighbour = Neighbour::start();
    let pid = neighbour.0.id();
    let attacks = [
        format!("cat /proc/{pid}/environ /proc/{pid}/mem /proc/{pid}/maps"),
        format!("ls /proc/{pid}/fd /proc/{pid}/root /proc/{pid}/cwd/"),
        format!("kill -9 {pid}; kill {pid}; kill -STOP {pid}"),
        format!("gdb -p {pid} -batch -ex 'print 1'; strace -p {pid} -o t"),
        // ptrace(ATTACH), ptrace(SEIZE), process_vm_readv, pidfd_open with pidfd_getfd, kcmp, prlimit.
        format!(
            "perl -e 'for ([101, 16, {pid}, 0, 0], [101, 0x4206, {pid}, 0, 0], [310, {pid}, 0, 0, 0, 0, 0]) {{ \
             print syscall(@$_) == -1 ? \"refused\\n\" : \"REACHED\\n\" }} \
             $fd = syscall(434, {pid}, 0); print syscall(438, $fd, 0, 0) == -1 ? \"refused\\n\" : \"REACHED\\n\"; \
             print syscall(424, $fd, 9, 0, 0) == -1 ? \"refused\\n\" : \"REACHED\\n\"'"
        ),
        // A limit of processor time of which none is left: prlimit64, and the program of that name.
        format!(
            "perl -e '$none = pack(\"QQ\", 0, 0); print syscall(302, {pid}, 0, $none, 0) == -1 ? \"refused\\n\" : \"REACHED\\n\"'; \
             prlimit --pid {pid} --nofile=0:0 && echo REACHED"
        ),
        "kill -9 $PPID".to_owned(),
    ];
    for attack in attacks {
        let ran = place.run(&attack).await;
        assert!(
            !ran.text.contains("the neighbour's text"),
            "{attack}: {ran:?}"
        );
        assert!(!ran.text.contains("REACHED"), "{attack}: {ran:?}");
        assert!(neighbour.is_alive(), "{attack}");
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        assert!(!status.contains("(stopped)"), "{attack}");
    }
}

/// What leaves the session and the group of its command ends with the command, so it never sees what holds the places go.
#[tokio::test]
async fn conf_10_nothing_of_a_command_outlives_it() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    let wait = "while ! mkdir .mcp.json; do touch ticks; done 2>/dev/null; touch TAKEN";
    let started = place
        .run(&format!(
            "setsid -f sh -c '{wait}' </dev/null >/dev/null 2>&1; sleep 0.2; echo started"
        ))
        .await;
    assert!(started.stdout.contains("started"), "{started:?}");
    assert!(place.inside.join("ticks").exists(), "it ran: {started:?}");
    fs::remove_file(place.inside.join("ticks")).unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    for name in ["ticks", "TAKEN", ".mcp.json"] {
        assert!(!place.inside.join(name).exists(), "{name}");
    }
}

/// How a program ends is told as it is, through the two processes between.
#[tokio::test]
async fn conf_10_a_confined_program_ends_as_it_ended() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    let ends = [
        ("exit 0", Some(0)),
        ("exit 7", Some(7)),
        ("(sleep 0.01; exit 3) & wait $!", Some(3)),
        ("sh -c 'kill -9 $$'", Some(137)),
        ("ulimit -n 64 && ulimit -n", Some(0)),
    ];
    for (command, code) in ends {
        let ran = place
            .run(&format!(
                "sh -c '{}'; echo \"code $?\"",
                command.replace('\'', "'\\''")
            ))
            .await;
        let expected = format!("code {}", code.unwrap());
        assert!(ran.stdout.contains(&expected), "{command}: {ran:?}");
    }
    let ran = place.run("kill -9 $$").await;
    assert!(
        ran.text.contains("137") || ran.text.contains("signal"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn no_rights_are_left_and_none_come_back() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    let ran = place.run("cat /proc/self/status; su -c id; sudo -n id; chown 1:1 . ; mknod d b 8 0; hostname evil").await;
    for line in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert!(
            ran.stdout.contains(&format!("{line}:\t0000000000000000")),
            "{line}: {ran:?}"
        );
    }
    assert!(
        ran.stdout.contains("NoNewPrivs:\t1") && ran.stdout.contains("Seccomp:\t2"),
        "{ran:?}"
    );
    assert!(!place.inside.join("d").exists());
}

/// Each call by its number, with arguments with which it would do no harm.
#[tokio::test]
#[cfg(target_arch = "x86_64")]
async fn calls_that_would_undo_the_confinement_are_refused() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    let (eperm, enosys) = (1, 38);
    let table = [
        ("mount", "165, 0, 0, 0, 0, 0", eperm),
        ("umount2", "166, 0, 0", eperm),
        ("pivot_root", "155, 0, 0", eperm),
        ("chroot", "161, 0", eperm),
        ("setns", "308, 0, 0", eperm),
        ("unshare user", "272, 0x10000000", eperm),
        ("unshare mounts", "272, 0x20000", eperm),
        ("clone user", "56, 0x10000011, 0, 0, 0, 0", eperm),
        ("clone3", "435, 0, 0", enosys),
        ("ptrace", "101, 0, 0, 0, 0", eperm),
        ("bpf", "321, 0, 0, 0", eperm),
        ("perf_event_open", "298, 0, 0, 0, 0, 0", eperm),
        ("userfaultfd", "323, 0", eperm),
        ("keyctl", "250, 0, 0, 0, 0, 0", eperm),
        ("add_key", "248, 0, 0, 0, 0, 0", eperm),
        ("request_key", "249, 0, 0, 0, 0", eperm),
        ("kexec_load", "246, 0, 0, 0, 0", eperm),
        ("open_by_handle_at", "304, 0, 0, 0", eperm),
        ("io_uring_setup", "425, 1, 0", enosys),
        ("io_uring_enter", "426, 0, 0, 0, 0, 0", enosys),
        ("open_tree", "428, -100, 0, 1", eperm),
        ("move_mount", "429, 0, 0, 0, 0, 0", eperm),
        ("fsopen", "430, 0, 0", eperm),
        ("mount_setattr", "442, 0, 0, 0, 0, 0", eperm),
        ("open_tree_attr", "467, -100, 0, 1, 0, 0", eperm),
        ("quotactl_fd", "443, 0, 0, 0, 0", eperm),
        ("pidfd_getfd", "438, 0, 0, 0", eperm),
        ("ioctl TIOCSTI", "16, 0, 0x5412, 0", eperm),
        (
            "ioctl TIOCSTI with more bits",
            "16, 0, 0x100005412, 0",
            eperm,
        ),
        ("ioctl TIOCLINUX", "16, 0, 0x541c, 0", eperm),
        ("socket AF_UNIX", "41, 1, 1, 0", eperm),
        ("socket AF_VSOCK", "41, 40, 1, 0", eperm),
        ("socket AF_PACKET", "41, 17, 3, 0", eperm),
        ("socket AF_ALG", "41, 38, 5, 0", eperm),
        ("socketpair of datagrams", "53, 1, 2, 0, 0", eperm),
        ("listen", "50, 0, 1", eperm),
        (
            "mount by the other table",
            "0x400000a5, 0, 0, 0, 0, 0",
            enosys,
        ),
        (
            "ptrace by the other table",
            "0x40000209, 0, 0, 0, 0",
            enosys,
        ),
    ];
    for (what, call, errno) in table {
        let ran = place
            .run(&format!("perl -e 'syscall({call}); print $!+0'"))
            .await;
        assert_eq!(ran.stdout, errno.to_string(), "{what}: {ran:?}");
    }
}

/// What programs need of the kernel every day is there.
#[tokio::test]
async fn everyday_programs_run() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    let ran = place
        .run(
            "perl -MSocket -e 'socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0) or die $!; print \"pair\\n\"'; \
             (exit 3); echo $?; seq 3 | xargs -P3 -n1 echo | wc -l; timeout 5 sh -c 'echo in time'; nice true && echo nice; \
             sleep 0.01 & kill $!; wait $! 2>/dev/null; echo killed",
        )
        .await;
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(
        lines,
        ["pair", "3", "3", "in time", "nice", "killed"],
        "{ran:?}"
    );
}
