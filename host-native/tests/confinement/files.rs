//! Files: written outside, read though closed, by every way there is.

use std::fs;

use serde_json::json;
use windlass::core::tool::Access;

use crate::support::Place;

const SECRET: &str = "the closed text";

#[tokio::test]
async fn what_is_needed_for_work_works() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    let ran = place
        .run(
            "echo one > a && cat a && mkdir -p d/e && mv a d/e/b && ln d/e/b d/c && cat d/c && rm -r d \
             && echo x > /dev/null && head -c 4 /dev/urandom | wc -c && mktemp >/dev/null && cat <<< here \
             && (echo sub | cat) && date > /dev/shm/x && script -qc 'echo terminal' /dev/null",
        )
        .await;
    assert_eq!(ran.stderr, "");
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    assert_eq!(words, ["one", "one", "4", "here", "sub", "terminal"]);
}

#[tokio::test]
async fn nothing_outside_is_changed() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    fs::write(place.outside.join("kept"), "as it was").unwrap();
    let parent = std::process::id();
    let attacks = [
        "echo evil > $OUT/kept".to_owned(),
        "echo evil >> $OUT/kept".to_owned(),
        "echo evil > ../outside/kept".to_owned(),
        "truncate -s 0 $OUT/kept".to_owned(),
        "rm -f $OUT/kept".to_owned(),
        "mv $OUT/kept here".to_owned(),
        "echo evil > mine; mv -f mine $OUT/kept".to_owned(),
        "chmod 000 $OUT/kept".to_owned(),
        "touch -d 2001-01-01 $OUT/kept".to_owned(),
        "setfattr -n user.evil -v 1 $OUT/kept".to_owned(),
        "ln -s $OUT l1; echo evil > l1/kept".to_owned(),
        "ln -s $OUT/kept l2; echo evil > l2".to_owned(),
        "ln $OUT/kept l3; echo evil > l3".to_owned(),
        "ln -s $OUT/new l4; echo evil > l4".to_owned(),
        "touch $OUT/new; mkdir $OUT/new; ln -s x $OUT/new; mkfifo $OUT/new".to_owned(),
        "echo evil > /proc/self/root$OUT/kept".to_owned(),
        "echo evil > /proc/self/cwd/../outside/kept".to_owned(),
        format!("echo evil > /proc/{parent}/root$OUT/kept"),
        format!("cd /proc/{parent}/cwd && echo evil > $OUT/kept"),
        "echo evil > /proc/1/root$OUT/kept".to_owned(),
        "mount -o remount,rw $OUT; mount --bind $OUT .; umount -l $IN; echo evil > $OUT/kept".to_owned(),
        "unshare -Urm sh -c 'mount -o remount,rw,bind /; echo evil > $OUT/kept'".to_owned(),
        "nsenter -t 1 -m sh -c 'echo evil > $OUT/kept'".to_owned(),
        "chroot / sh -c 'echo evil > $OUT/kept'".to_owned(),
        "cp $(command -v tee) tool; echo evil | ./tool $OUT/kept".to_owned(),
        "sh -c '(sleep 0.1; echo evil > $OUT/kept) & wait'".to_owned(),
        "setsid sh -c 'echo evil > $OUT/kept'".to_owned(),
        "echo evil > /proc/sys/kernel/core_pattern; echo evil > /proc/sys/kernel/hostname".to_owned(),
        "perl -e 'for (0..50) { open(my $f, \">&=\", $_) or next; opendir(my $d, \"/proc/self/fd/$_\") or next; \
         open(my $g, \">\", \"/proc/self/fd/$_/../outside/kept\") and print $g \"evil\" }'"
            .to_owned(),
    ];
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    for attack in attacks {
        place.run(&attack).await;
        let names: Vec<_> = fs::read_dir(&place.outside)
            .unwrap()
            .map(|it| it.unwrap().file_name())
            .collect();
        assert_eq!(names, ["kept"], "{attack}");
        let kept = place.outside.join("kept");
        assert_eq!(fs::read_to_string(&kept).unwrap(), "as it was", "{attack}");
        let year = kept
            .metadata()
            .unwrap()
            .modified()
            .unwrap()
            .elapsed()
            .unwrap();
        assert!(year.as_secs() < 100_000, "{attack}");
    }
    assert_eq!(
        fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap(),
        pattern
    );
}

/// A program that stands in no file is confined like any other.
#[tokio::test]
#[cfg(target_arch = "x86_64")]
async fn a_program_out_of_memory_is_confined_as_well() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    let ran = place
        .run(
            "perl -e '$n = \"x\"; $fd = syscall(319, $n, 0); open(my $in, \"<\", \"/bin/touch\"); open(my $out, \">&=\", $fd); \
             binmode $_ for ($in, $out); print $out $_ while <$in>; $out->flush; \
             exec \"/proc/$$/fd/$fd\", \"$ENV{OUT}/new\", \"$ENV{IN}/made\"; die $!'",
        )
        .await;
    assert!(place.inside.join("made").exists(), "{ran:?}");
    assert!(!place.outside.join("new").exists(), "{ran:?}");
}

/// Braces, `.`, `//`, links at the beginning, and names that look like patterns.
#[tokio::test]
async fn conf_12_a_pattern_closes_what_it_means_however_it_is_spelled() {
    let Some(mut place) = Place::with(|inside, _| {
        json!({"filesystem": {"denyRead": [
            "**/*.{one,two}", "x/./*.three", "x//*.four", format!("{inside}/link/*.five"), "weird[1].key",
        ], "denyWrite": ["link/kept"]}})
    }) else {
        return;
    };
    for name in [
        "a.one",
        "x/b.two",
        "x/c.three",
        "x/d.four",
        "real/e.five",
        "weird[1].key",
    ] {
        place.file(name, SECRET);
    }
    place.file("real/f.six", SECRET);
    place.file("real/kept", "as it was");
    std::os::unix::fs::symlink("real", place.inside.join("link")).unwrap();
    place.deny("link/*.six", Access::Read);
    let ran = place
        .run("cat a.one x/* real/*.five real/*.six link/*.five link/*.six weird*; echo changed > real/kept; echo changed > link/kept")
        .await;
    assert!(!ran.text.contains(SECRET), "{ran:?}");
    let kept = fs::read_to_string(place.inside.join("real/kept")).unwrap();
    assert_eq!(kept, "as it was");
}

#[tokio::test]
async fn a_closed_file_is_read_by_no_way() {
    let Some(mut place) = Place::with(
        |inside, outside| json!({"filesystem": {"denyRead": ["key", format!("{outside}/shut"), format!("{inside}/shut")]}}),
    ) else {
        return;
    };
    let key = place.file("key", SECRET);
    place.file("shut/deep/key", SECRET);
    place.file("sub/.env", SECRET);
    place.deny("**/.env", Access::Read);
    fs::create_dir(place.outside.join("shut")).unwrap();
    fs::write(place.outside.join("shut/key"), SECRET).unwrap();
    // This process has it open, in a folder that it has open.
    let open = fs::File::open(&key).unwrap();
    let folder = fs::File::open(&place.inside).unwrap();
    let (file, folder, parent) = (
        std::os::fd::AsRawFd::as_raw_fd(&open),
        std::os::fd::AsRawFd::as_raw_fd(&folder),
        std::process::id(),
    );
    let attacks = [
        "cat key shut/deep/key sub/.env $OUT/shut/key".to_owned(),
        "cat $IN/key < key; cd shut && cat deep/key".to_owned(),
        "cp key copy; cat copy; cp -r . /dev/shm/all; cat /dev/shm/all/key /dev/shm/all/sub/.env"
            .to_owned(),
        "ln key l1; cat l1; ln -s key l2; cat l2; ln -s $IN/shut l3; cat l3/deep/key".to_owned(),
        "mv key k2; cat k2; mv shut s2; cat s2/deep/key; mv sub/.env e2; cat e2".to_owned(),
        "mv sub sub2; cat sub2/.env".to_owned(),
        "cat sub2/.env sub/.env".to_owned(),
        "rm -f key; cat key; rm -rf shut sub; cat shut/deep/key".to_owned(),
        "chmod 777 key shut sub/.env; cat key shut/deep/key sub/.env".to_owned(),
        "tar cf - . | tar xf - -C /dev/shm; cat /dev/shm/key /dev/shm/sub/.env".to_owned(),
        "grep -r . .; find . -type f -exec cat {} +".to_owned(),
        "cat /proc/self/root$IN/key /proc/self/cwd/key /proc/thread-self/root$IN/key".to_owned(),
        format!(
            "cat /proc/{parent}/root$IN/key /proc/{parent}/fd/{file} /proc/{parent}/fd/{folder}/key"
        ),
        format!("cat /proc/{parent}/fd/* /proc/{parent}/map_files/*"),
        "umount key; umount -l key shut; cat key shut/deep/key".to_owned(),
        "mount --bind $IN /mnt; cat /mnt/key; mount --bind / /mnt; cat /mnt$IN/key".to_owned(),
        "unshare -Urm sh -c 'umount key; umount shut; cat key shut/deep/key'".to_owned(),
        "for fd in $(seq 0 63); do cat /proc/self/fd/$fd/key /proc/self/fd/$fd/../inside/key; done"
            .to_owned(),
        "perl -e 'for (3..63) { open(my $f, \"<&=\", $_) or next; print <$f> }'".to_owned(),
        "git init -q r; cd r; git add ../key; git --no-pager diff --no-index /dev/null ../key"
            .to_owned(),
        "dd if=/dev/vda bs=1M count=1; debugfs -R \"cat $IN/key\" /dev/vda; cat /dev/mem"
            .to_owned(),
    ];
    for attack in attacks {
        let ran = place.run(&attack).await;
        assert!(!ran.text.contains(SECRET), "{attack}: {ran:?}");
        assert_eq!(fs::read_to_string(&key).unwrap(), SECRET, "{attack}");
        assert!(place.inside.join("sub/.env").exists(), "{attack}");
    }
    // And the rest of the folders is as open as before.
    let ran = place.run("echo x > sub/new && ls sub && cat sub/new").await;
    assert_eq!(ran.stdout, "new\nx\n", "{ran:?}");
}

#[tokio::test]
async fn what_is_closed_to_writing_can_be_read() {
    let Some(mut place) = Place::new(json!({"filesystem": {"denyWrite": ["lock", "gen/**"]}}))
    else {
        return;
    };
    place.file("lock", "locked");
    place.file("gen/a", "made");
    place.file("rule/b", "ruled");
    place.deny("rule", Access::Write);
    let ran = place
        .run(
            "cat lock gen/a rule/b; echo evil | tee lock gen/a gen/new rule/b rule/new; rm -rf gen rule lock; \
             mv gen g2; mv lock l2; mv rule r2; chmod 777 lock; touch fine",
        )
        .await;
    assert!(ran.stdout.starts_with("lockedmaderuled"), "{ran:?}");
    assert_eq!(
        fs::read_to_string(place.inside.join("lock")).unwrap(),
        "locked"
    );
    assert_eq!(
        fs::read_to_string(place.inside.join("gen/a")).unwrap(),
        "made"
    );
    assert_eq!(
        fs::read_to_string(place.inside.join("rule/b")).unwrap(),
        "ruled"
    );
    assert!(!place.inside.join("rule/new").exists() && place.inside.join("fine").exists());
}

#[tokio::test]
async fn what_the_settings_open_is_open_and_its_closed_parts_are_not() {
    let Some(place) = Place::with(
        |_, outside| json!({"filesystem": {"allowWrite": [outside], "denyWrite": [format!("{outside}/shut")]}}),
    ) else {
        return;
    };
    fs::create_dir(place.outside.join("shut")).unwrap();
    let ran = place
        .run("echo x > $OUT/new; echo x > $OUT/shut/new; mv $OUT/shut $OUT/moved")
        .await;
    assert!(place.outside.join("new").exists(), "{ran:?}");
    assert!(!place.outside.join("shut/new").exists() && place.outside.join("shut").exists());
}

/// What was refused is told in the result, as far as programs say it, and not what the settings want to hear nothing of.
#[tokio::test]
async fn violations_are_told() {
    let Some(place) = Place::with(
        |_, outside| json!({"filesystem": {"denyRead": ["key"]}, "ignoreViolations": {"file": [format!("{outside}/quiet*")]}}),
    ) else {
        return;
    };
    place.file("key", SECRET);
    let ran = place
        .run("touch $OUT/loud; touch $OUT/quiet; cat key")
        .await;
    let violations = ran.stderr.split("<sandbox_violations>").nth(1).unwrap();
    assert!(
        violations.contains(&format!(
            "file: {}/loud is not open to be written",
            place.outside.display()
        )),
        "{ran:?}"
    );
    assert!(violations.contains("file: key is closed"), "{ran:?}");
    assert!(!violations.contains("quiet"), "{ran:?}");
    assert!(ran.text.contains("<sandbox_violations>"));
    let ran = place.run("cat missing").await;
    assert!(!ran.text.contains("sandbox"), "{ran:?}");
}
