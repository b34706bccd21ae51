//! Commands that would take away a folder of the workspace itself.

use windlass_core::{
    permission::{Mode, PolicyContext, Rules, Verdict, judge},
    spec::Environment,
};

use crate::{Call, environment};

/// No rule is needed for that: with one that closes files, folders that are removed are asked about for another reason.
#[test]
fn perm_2_accept_edits_does_not_remove_a_folder_of_the_workspace_itself() {
    let environment = Environment {
        additional_directories: vec!["/extra".into(), "/work/part/more".into()],
        ..environment()
    };
    let rules = Rules::default();
    let verdict = |line: &str| {
        let context = PolicyContext::new(&rules, Mode::AcceptEdits, &environment);
        judge(&context, Call::new("Bash", line).facts(), None).verdict
    };
    for line in [
        "rm -rf .",
        "rm -rf ./",
        "rm -rf /work",
        "rm -rf a/..",
        "cd a && rm -rf ..",
        "touch b && rm -r .",
        "mv . /extra/copy",
        "rm -rf /extra",
        "mv /extra a",
        "rm -rf part/more",
        // The folder of one.
        "rm -rf part",
        "mv part other",
    ] {
        assert_eq!(verdict(line), Verdict::Ask, "{line}");
    }
    for line in [
        "rm -rf a",
        "rm -rf /extra/a",
        "rm -rf part/less",
        "mv a /extra",
        "cp -r part /extra/copy",
        "touch .",
        "mkdir -p /extra",
        // What is in it, but not the folder.
        "rm a/*.o",
    ] {
        assert_eq!(verdict(line), Verdict::Allow, "{line}");
    }
}
