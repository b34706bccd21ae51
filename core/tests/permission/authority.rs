//! Places that become authority, where plain file commands would bring something to them.

use windlass_core::permission::{CommandLine, Mode, Verdict};

use crate::{Call, accepting_edits, allow, verdict};

#[test]
fn perm_4_what_would_lie_in_such_a_place_is_asked_about() {
    for line in [
        "mv hooks .git/modules/lib",
        "mv a/hooks/ b/.git/worktrees/one",
        "cp a/config .git/modules/lib",
        "cp -r hooks .git/worktrees/one",
        "cp a/*.sh .git/modules/lib",
        "cd .git/modules && cp ../../a/config lib",
        "timeout 5 mv hooks .git/modules/lib",
    ] {
        assert_eq!(accepting_edits(line), Verdict::Ask, "{line}");
        // Nor does a rule about the program help.
        let rules = allow(&["Bash(mv:*)", "Bash(cp:*)", "Bash(cd:*)"]);
        let by_rule = verdict(&rules, Mode::Default, &Call::new("Bash", line));
        assert_eq!(by_rule, Verdict::Ask, "{line}");
    }
    for line in [
        "mv hooks src",
        "cp a/config b",
        "cp -r hooks src",
        "cp a/*.sh b",
    ] {
        assert_eq!(accepting_edits(line), Verdict::Allow, "{line}");
    }
}

#[test]
fn the_host_is_asked_what_comes_along_with_folders() {
    let carried = |line: &str| -> Vec<String> {
        let asked = CommandLine::read(line, "/w").paths().into_iter();
        asked
            .filter(|asked| asked.carried)
            .map(|asked| asked.path)
            .collect()
    };
    for (line, expected) in [
        ("cp -r a b", &["/w/a"][..]),
        ("cp -rT a b", &["/w/a"]),
        ("cp -r a/. .", &["/w/a/."]),
        ("cp -av a b c", &["/w/a", "/w/b"]),
        ("cp --recursive a b", &["/w/a"]),
        ("cp a b", &[]),
        ("cp -p a b", &[]),
        ("mv a b", &["/w/a"]),
        ("rm -r a", &["/w/a"]),
        ("rm --recursive -f a/b", &["/w/a/b"]),
        ("rm a", &[]),
        ("mkdir -p a", &[]),
    ] {
        assert_eq!(carried(line), expected, "{line}");
    }
}

#[test]
fn perm_4_a_place_is_seen_wherever_the_line_has_gone_before() {
    let rules = allow(&["Bash(touch:*)", "Bash(cp:*)", "Bash(git log:*)"]);
    for line in [
        "cd .git/hooks; touch x",
        "cd .git/hooks\ntouch x",
        "(cd .git/hooks; touch x)",
        "cd .git; touch hooks/x",
        "cd .claude; cp ../f settings.json",
        "if cd .git/hooks; then touch x; fi",
        "! cd .git; touch hooks/x",
        "cd a; cd ..; cd .git; touch config",
        "bash -c 'cd .git/hooks; touch x'",
        "touch .git/commondir",
        "touch .git/worktrees/one/gitdir",
        "cp f .git/rebase-merge/git-rebase-todo",
        "git log -p --output=.claude/settings.json",
        "git log --output .mcp.json",
    ] {
        let asked = verdict(&rules, Mode::Default, &Call::new("Bash", line));
        assert_eq!(asked, Verdict::Ask, "{line}");
    }
    for line in [
        "cd src; touch x",
        "git log --output=changes.txt",
        "touch .git/index.lock",
    ] {
        let free = verdict(&rules, Mode::Default, &Call::new("Bash", line));
        assert_eq!(free, Verdict::Allow, "{line}");
    }
}
