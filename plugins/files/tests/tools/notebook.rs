//! NotebookEdit.

use serde_json::{Value, json};
use windlass_plugin::testing::MemoryTree;

use crate::Session;

/// A notebook as Jupyter writes it, with a number that only text keeps.
const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Title"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "first",
   "metadata": {"n": 123456789012345678901234567890},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "1\n"
     ]
    }
   ],
   "source": [
    "print(1)"
   ]
  }
 ],
 "metadata": {
  "language_info": {
   "name": "julia"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

/// A session that has read the notebook `a.ipynb` with this content.
fn session(content: &str) -> Session {
    let mut session = Session::new(MemoryTree::new().with_file("a.ipynb", content));
    session.ok("Read", json!({ "file_path": "a.ipynb" }));
    session
}

fn edit(mode: &str, cell: Option<&str>, kind: Option<&str>, source: &str) -> Value {
    let mut input =
        json!({ "notebook_path": "/work/a.ipynb", "new_source": source, "edit_mode": mode });
    for (name, value) in [("cell_id", cell), ("cell_type", kind)] {
        if let Some(value) = value {
            input[name] = value.into();
        }
    }
    input
}

#[test]
fn tool_7_a_cell_is_replaced_and_nothing_else() {
    let mut session = session(NOTEBOOK);
    let input =
        json!({ "notebook_path": "a.ipynb", "cell_id": "first", "new_source": "x = 2\nprint(x)" });
    let (text, output) = session.ok("NotebookEdit", input);
    assert!(
        text.contains("Replaced the cell first in /work/a.ipynb"),
        "{text}"
    );
    let after = session.content("a.ipynb");
    assert_eq!(
        output,
        json!({
            "new_source": "x = 2\nprint(x)", "cell_id": "first", "cell_type": "code", "language": "julia",
            "edit_mode": "replace", "notebook_path": "/work/a.ipynb", "original_file": NOTEBOOK, "updated_file": after
        })
    );
    let at = NOTEBOOK.find("  {\n   \"cell_type\": \"code\"").unwrap();
    assert_eq!(after[..at], NOTEBOOK[..at]);
    let tail = "\n ],\n \"metadata\"";
    assert_eq!(
        after[after.find(tail).unwrap()..],
        NOTEBOOK[NOTEBOOK.find(tail).unwrap()..]
    );
    let cell =
        "  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"first\",\n";
    assert!(after[at..].starts_with(cell), "{after}");
    let source =
        "   \"outputs\": [],\n   \"source\": [\n    \"x = 2\\n\",\n    \"print(x)\"\n   ]\n  }\n ]";
    assert!(after.contains(source), "{after}");
}

#[test]
fn tool_7_cells_are_inserted_and_deleted() {
    let mut session = session(NOTEBOOK);
    session.ok(
        "NotebookEdit",
        edit("insert", Some("intro"), Some("markdown"), "between"),
    );
    session.ok(
        "NotebookEdit",
        edit("insert", None, Some("code"), "begin()"),
    );
    session.ok("NotebookEdit", edit("delete", Some("first"), None, ""));
    session.ok(
        "NotebookEdit",
        edit("replace", Some("cell-1"), Some("code"), "was_text()"),
    );
    let notebook: Value = serde_json::from_str(&session.content("a.ipynb")).unwrap();
    let cells = notebook["cells"].as_array().unwrap();
    let of = |cell: &Value| {
        let source: String = cell["source"]
            .as_array()
            .unwrap()
            .iter()
            .map(|line| line.as_str().unwrap())
            .collect();
        (
            cell["cell_type"].as_str().unwrap().to_owned(),
            source,
            cell.get("outputs").is_some(),
        )
    };
    let expected = [
        ("code", "begin()", true),
        ("code", "was_text()", true),
        ("markdown", "between", false),
    ];
    let expected =
        expected.map(|(kind, source, outputs)| (kind.to_owned(), source.to_owned(), outputs));
    assert_eq!(cells.iter().map(of).collect::<Vec<_>>(), expected);
    let mut ids: Vec<&str> = cells
        .iter()
        .map(|cell| cell["id"].as_str().unwrap())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    for _ in 0..3 {
        session.ok("NotebookEdit", edit("delete", Some("cell-0"), None, ""));
    }
    let (_, output) = session.ok("NotebookEdit", edit("insert", None, Some("code"), "alone"));
    let notebook: Value = serde_json::from_str(output["updated_file"].as_str().unwrap()).unwrap();
    assert_eq!(notebook["cells"].as_array().unwrap().len(), 1);
}

/// Older notebooks have no ids, and some programs write them in one line.
#[test]
fn tool_7_cells_without_ids_are_named_by_their_number() {
    let mut session = session(
        r#"{"cells":[{"cell_type":"raw","metadata":{},"source":"a"}],"metadata":{},"nbformat":4,"nbformat_minor":2}"#,
    );
    session.ok("NotebookEdit", edit("replace", Some("cell-0"), None, "b"));
    session.ok(
        "NotebookEdit",
        edit("insert", Some("cell-0"), Some("code"), "c"),
    );
    assert_eq!(
        session.content("a.ipynb"),
        r#"{"cells":[{"cell_type":"raw","metadata":{},"source":["b"]},{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":["c"]}],"metadata":{},"nbformat":4,"nbformat_minor":2}"#
    );
}

#[test]
fn tool_7_a_notebook_is_read_before_it_is_changed() {
    let mut session = Session::new(MemoryTree::new().with_file("a.ipynb", NOTEBOOK));
    let error = session.err("NotebookEdit", edit("delete", Some("first"), None, ""));
    assert!(error.contains("has not been read yet"), "{error}");
    session.ok("Read", json!({ "file_path": "a.ipynb" }));
    session
        .tree()
        .put("a.ipynb", NOTEBOOK.replace("# Title", "# Other"));
    let error = session.err("NotebookEdit", edit("delete", Some("first"), None, ""));
    assert!(error.contains("changed since it was last read"), "{error}");
}

#[test]
fn tool_7_what_cannot_be_done_is_one_clear_error_and_changes_nothing() {
    let mut good = session(NOTEBOOK);
    for (input, expected) in [
        (edit("replace", None, None, "x"), "cell_id is missing"),
        (
            edit("delete", Some("nobody"), None, ""),
            "no cell nobody. It has: intro, first.",
        ),
        (
            edit("insert", Some("cell-9"), Some("code"), "x"),
            "no cell cell-9",
        ),
        (edit("insert", None, None, "x"), "cell_type is missing"),
        (
            json!({ "notebook_path": "a.txt", "new_source": "" }),
            "is no notebook",
        ),
        (
            json!({ "notebook_path": "b.ipynb", "new_source": "" }),
            "does not exist",
        ),
    ] {
        let error = good.err("NotebookEdit", input.clone());
        assert!(error.contains(expected), "{input}: {error}");
    }
    assert_eq!(good.content("a.ipynb"), NOTEBOOK);
    for content in [
        "",
        "[]",
        "{}",
        r#"{"nbformat":3,"worksheets":[]}"#,
        r#"{"nbformat":4,"cells":7}"#,
        r#"{"nbformat":4,"cells":[1]}"#,
    ] {
        let mut session = Session::new(MemoryTree::new().with_file("a.ipynb", content));
        session.ok("Read", json!({ "file_path": "a.ipynb", "offset": 1 }));
        let error = session.err("NotebookEdit", edit("insert", None, Some("code"), "x"));
        assert!(
            error.contains("is not a notebook of format 4"),
            "{content}: {error}"
        );
        assert_eq!(session.content("a.ipynb"), content);
    }
    let huge = MemoryTree::new().with_file("a.ipynb", " ".repeat((16 << 20) + 1));
    let mut huge = Session::new(huge);
    for (tool, input) in [
        ("Read", json!({ "file_path": "a.ipynb" })),
        ("NotebookEdit", edit("insert", None, Some("code"), "x")),
    ] {
        let error = huge.err(tool, input);
        assert!(error.contains("too large"), "{tool}: {error}");
    }
}
