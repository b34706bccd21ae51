//! Files that tell other programs what to do: nobody writes them from within.

use std::{fs, process::Command};

use serde_json::json;
use windlass::core::spec::Environment;

use crate::support::Place;

fn git(place: &Place, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(arguments)
        .current_dir(&place.inside)
        .status();
    assert!(
        done.is_ok_and(|status| status.success()),
        "git {arguments:?}"
    );
}

#[tokio::test]
async fn what_tells_other_programs_what_to_do_is_not_written() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    git(&place, &["init", "-q"]);
    place.file(".claude/settings.json", "{}");
    let before = fs::read_to_string(place.inside.join(".git/config")).unwrap();
    let attacks = [
        "echo evil > .claude/settings.json; echo evil > .claude/settings.local.json",
        "rm -rf .claude; mkdir .claude; echo evil > .claude/settings.json",
        "mv .claude c; mkdir .claude; echo evil > .claude/settings.json",
        "echo evil > .mcp.json",
        "mkdir x; echo evil > x/m; mv x/m .mcp.json; cp -T x .mcp.json; ln -s x .mcp.json; echo evil > .mcp.json/x",
        "rmdir .mcp.json; rm -rf .mcp.json; echo evil > .mcp.json",
        "echo evil > .git/hooks/pre-commit; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
        "rm -rf .git/hooks; mv .git/hooks h; ln -s $IN .git/hooks",
        "git config core.fsmonitor evil; echo evil >> .git/config; sed -i s/a/evil/ .git/config",
        "mv .git g; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        "echo evil > .git/info/attributes",
        "mkdir b; rm -f .git/commondir; echo ../b > .git/commondir; mv b .git/commondir; ln -sf ../b .git/commondir",
        "n=worktree; rm -f .git/config.$n; echo evil > .git/config.$n; echo evil > n; mv n .git/config.$n",
        "mv $IN $IN.old; mkdir -p $IN/.claude",
    ];
    for attack in attacks {
        let ran = place.run(attack).await;
        let read = |name: &str| fs::read_to_string(place.inside.join(name));
        assert_eq!(
            read(".claude/settings.json").unwrap(),
            "{}",
            "{attack}: {ran:?}"
        );
        assert!(read(".claude/settings.local.json").is_err(), "{attack}");
        assert!(
            !place.inside.join(".mcp.json").exists(),
            "{attack}: {ran:?}"
        );
        assert!(read(".git/hooks/pre-commit").is_err(), "{attack}");
        assert_eq!(read(".git/config").unwrap(), before, "{attack}");
        for name in [".git/commondir", ".git/config.worktree"] {
            assert!(read(name).is_err(), "{attack}: {ran:?}");
        }
        assert!(
            !read(".git/info/attributes").is_ok_and(|text| text.contains("evil")),
            "{attack}"
        );
    }
}

/// Where there is none yet there is none afterwards, whatever else git needs of its folder.
#[tokio::test]
async fn what_is_not_there_is_not_made_and_git_still_works() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    git(&place, &["init", "-q", "--template="]);
    let ran = place
        .run(
            "mkdir -p .claude/commands; echo evil > .claude/settings.json; echo evil > .mcp.json; \
             mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; \
             echo text > file && git add file && git -c user.name=t -c user.email=t@e commit -qm 'first' && git log --format=%s",
        )
        .await;
    assert!(ran.stdout.contains("first"), "{ran:?}");
    for name in [
        ".claude",
        ".mcp.json",
        ".git/hooks",
        ".git/info",
        ".git/commondir",
        ".git/config.worktree",
    ] {
        assert!(!place.inside.join(name).exists(), "{name}: {ran:?}");
    }
}

/// The home directory as a workspace: what programs and later sessions look for there is not made either.
#[tokio::test]
async fn what_the_home_directory_tells_programs_is_not_made() {
    let home = |environment: &mut Environment| environment.home = Some(environment.cwd.clone());
    let Some(place) = Place::known(home) else {
        return;
    };
    let names = [
        ".bashrc",
        ".claude.json",
        ".config/git/config",
        ".config/systemd/user/x.service",
        ".gitconfig",
        ".profile",
        ".ssh/config",
        ".zshenv",
    ];
    for name in names {
        let ran = place
            .run(&format!(
                "mkdir -p $(dirname {name}); echo evil > {name}; echo x > file; cat file"
            ))
            .await;
        assert_eq!(ran.stdout, "x\n", "{name}: {ran:?}");
        assert!(!place.inside.join(name).exists(), "{name}: {ran:?}");
    }
    // With `.config` there, its other folders stay open.
    fs::create_dir(place.inside.join(".config")).unwrap();
    let ran = place
        .run("mkdir -p .config/git .config/app; echo evil > .config/git/config; echo x > .config/app/x; cat .config/app/x")
        .await;
    assert_eq!(ran.stdout, "x\n", "{ran:?}");
    assert!(!place.inside.join(".config/git").exists(), "{ran:?}");
}

/// Places that are not known by their names, whether or not something is there.
#[tokio::test]
async fn what_leads_to_authority_is_not_written_under_any_name() {
    let own = |environment: &mut Environment| {
        let place = |name: &str| format!("{}/{name}", environment.cwd);
        environment.own_directories = vec![place("hooks"), place("conf/new.json")];
    };
    let Some(place) = Place::known(own) else {
        return;
    };
    place.file("conf/other", "");
    let ran = place
        .run("h=hoo; mkdir -p ${h}ks; echo evil > ${h}ks/x; n=new; echo evil > conf/$n.json; echo x > conf/other; cat conf/other")
        .await;
    assert_eq!(ran.stdout, "x\n", "{ran:?}");
    for name in ["hooks", "conf/new.json"] {
        assert!(!place.inside.join(name).exists(), "{name}: {ran:?}");
    }
}

/// The same from the workspace itself. A link is no work tree.
#[tokio::test]
async fn work_trees_of_agents_are_open_from_the_workspace() {
    let Some(place) = Place::new(json!({})) else {
        return;
    };
    place.file(".claude/settings.json", "{}");
    place.file(".claude/worktrees/one/file", "old");
    place.file(".claude/agents/a.md", "old");
    std::os::unix::fs::symlink("../agents", place.inside.join(".claude/worktrees/link")).unwrap();
    let line = "cd .claude/worktrees; echo new > one/file; mkdir one/.claude; echo evil > other; \
                echo evil > link/a.md; echo evil > ../settings.json; cat one/file";
    let ran = place.run(line).await;
    assert_eq!(ran.stdout, "new\n", "{ran:?}");
    let at = |name: &str| place.inside.join(".claude").join(name);
    assert_eq!(fs::read_to_string(at("settings.json")).unwrap(), "{}");
    assert_eq!(fs::read_to_string(at("agents/a.md")).unwrap(), "old");
    assert!(!at("worktrees/other").exists(), "{ran:?}");
    assert!(!at("worktrees/one/.claude").exists(), "{ran:?}");
}

/// A work tree below `.claude/worktrees` is a workspace like any other; the rest of `.claude` stays closed.
#[tokio::test]
async fn a_work_tree_of_the_agent_is_open() {
    let Some(mut place) = Place::new(json!({})) else {
        return;
    };
    place.file(".claude/settings.json", "{}");
    place.file(".claude/worktrees/one/file", "old");
    let whole = place.inside.clone();
    place.inside = whole.join(".claude/worktrees/one");
    let mut call = place.call("echo new > file; echo evil > ../../settings.json; echo evil > ../other; mkdir .claude; cat file");
    call.grant.roots.push(windlass::core::tool::GrantRoot {
        path: whole.display().to_string(),
        access: windlass::core::tool::Access::Write,
    });
    let cancel = windlass::core::host::CancelSignal::new();
    let ran: crate::support::Ran = place.bash().call(&call, cancel).await.into();
    assert_eq!(ran.stdout, "new\n", "{ran:?}");
    assert_eq!(
        fs::read_to_string(whole.join(".claude/settings.json")).unwrap(),
        "{}"
    );
    assert!(!whole.join(".claude/worktrees/other").exists(), "{ran:?}");
}
