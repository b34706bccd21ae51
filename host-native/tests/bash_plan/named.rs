//! Names that cannot be held against the rules: the program is not started.

use std::{fs, time::Instant};

use windlass::core::tool::{Access, DenyPattern};

use super::support::Folder;

/// The folder in which a line works is gone, or its name leads to another one.
#[test]
fn perm_4_in_a_directory_that_is_gone_no_name_is_given_to_a_program() {
    for (line, marker) in [
        (
            "mkdir n && cd n && rmdir ../n; x=W/secret; cat ${x}.txt",
            "TOP",
        ),
        (
            "mkdir n && cd n && rmdir ../n; x=../secret; cat ${x}.txt",
            "TOP",
        ),
        (
            "mkdir n && cd n && rmdir ../n; mkdir -p W/'n (deleted)/sub'; x=secret; cat W/d/../$x.txt",
            "TOP",
        ),
        (
            "mkdir n && cd n && rmdir ../n; x=W/.mcp; echo hi | tee $x.json",
            "hi",
        ),
        (
            "mkdir n && cd n && rmdir ../n; echo W/secret.txt | xargs cat",
            "TOP",
        ),
    ] {
        let folder = Folder::new();
        fs::write(folder.path().join("secret.txt"), "TOP").unwrap();
        let mut plan = folder.plan(&line.replace('W', &folder.text()));
        plan.deny.push(DenyPattern {
            pattern: format!("{}/secret.txt", folder.text()),
            access: Access::Read,
        });
        let (done, _) = folder.run(&plan).unwrap();
        assert!(!done.stdout.contains(marker), "{line}: {done:?}");
        assert!(
            done.stderr
                .contains("the working directory is not there any more"),
            "{line}: {done:?}"
        );
        assert!(!folder.path().join(".mcp.json").exists(), "{line}");
    }
}

/// Many folders, each with many names: the work for one command has an end.
#[test]
fn perm_4_names_in_folders_are_held_against_the_rules_only_so_often() {
    let folder = Folder::new();
    for number in 0..250 {
        fs::create_dir(folder.path().join(format!("many{number}"))).unwrap();
    }
    let words = format!(" {}", "a,".repeat(1000)).repeat(30);
    let mut plan = folder.plan(&format!("tar -cf /dev/null many*{words}"));
    plan.deny.push(DenyPattern {
        pattern: "/**/secret.txt".to_owned(),
        access: Access::Read,
    });
    let begin = Instant::now();
    let (done, _) = folder.run(&plan).unwrap();
    assert!(
        done.stderr
            .contains("is more than can be held against the rules"),
        "{done:?}"
    );
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}
