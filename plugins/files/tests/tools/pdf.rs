//! Read of PDF.

use std::fmt::Write as _;

use serde_json::json;
use windlass_plugin::testing::MemoryTree;

use crate::Session;

/// A PDF with these pages, each of one line of text.
fn pdf(pages: &[&str]) -> String {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
    ];
    let mut kids = String::new();
    for text in pages {
        let content = format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET");
        let content = if text.is_empty() {
            String::new()
        } else {
            content
        };
        let number = objects.len() + 1;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            number + 1
        ));
        objects.push(format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ));
        let _ = write!(kids, "{number} 0 R ");
    }
    objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len());
    let mut out = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(out.len());
        let _ = write!(out, "{} 0 obj\n{object}\nendobj\n", index + 1);
    }
    let table = out.len();
    let _ = write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        let _ = writeln!(out, "{place:010} 00000 n ");
    }
    let _ = write!(
        out,
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n",
        objects.len() + 1
    );
    out
}

#[test]
fn tool_1_tool_21_the_pages_of_a_pdf_are_read_as_text() {
    let content = pdf(&["Hello there", "", "The third page"]);
    let mut session = Session::new(MemoryTree::new().with_file("a.pdf", content.as_str()));
    let (text, output) = session.ok("Read", json!({ "file_path": "a.pdf" }));
    for expected in [
        "<page number=\"1\" of=\"3\">\nHello there\n</page>",
        "<page number=\"2\" of=\"3\">\n[no text: it may be a picture]\n</page>",
        "<page number=\"3\" of=\"3\">\nThe third page\n</page>",
    ] {
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(output["type"], "pdf");
    assert_eq!(output["file"]["filePath"], "/work/a.pdf");
    assert_eq!(output["file"]["originalSize"], content.len());
    assert!(
        output["file"]["base64"]
            .as_str()
            .unwrap()
            .starts_with("JVBERi0xLjQK")
    );
    assert!(session.observed[0].whole);

    let (text, output) = session.ok("Read", json!({ "file_path": "a.pdf", "pages": "3" }));
    assert!(
        text.contains("The third page") && !text.contains("Hello"),
        "{text}"
    );
    assert_eq!(output["type"], "text");
    assert_eq!(output["file"]["content"], text);
    assert_eq!(output["file"]["numLines"], 3);
    let (text, _) = session.ok("Read", json!({ "file_path": "a.pdf", "pages": "2-" }));
    assert!(
        text.contains("\"2\"") && text.contains("\"3\"") && !text.contains("\"1\""),
        "{text}"
    );
}

#[test]
fn tool_21_of_a_long_pdf_pages_are_named() {
    let long = pdf(&["page"; 30]);
    let mut session = Session::new(MemoryTree::new().with_file("a.pdf", long.as_str()));
    for (pages, expected) in [
        (None, "has 30 pages. Say which ones to show, 20 at most"),
        (
            Some("1-30"),
            "These are 30 pages, and 20 are shown at once: begin with \"1-20\"",
        ),
        (Some("31"), "There is no page 31: the file has 30."),
        (Some("0"), "names no pages"),
        (Some("5-2"), "names no pages"),
        (Some("all"), "names no pages"),
        (Some(""), "names no pages"),
    ] {
        let mut input = json!({ "file_path": "a.pdf" });
        if let Some(pages) = pages {
            input["pages"] = pages.into();
        }
        let error = session.err("Read", input);
        assert!(error.contains(expected), "{pages:?}: {error}");
    }
    let (text, _) = session.ok("Read", json!({ "file_path": "a.pdf", "pages": "21-99" }));
    assert_eq!(text.matches("<page ").count(), 10, "{text}");
}

#[test]
fn tool_1_a_pdf_that_is_none_is_one_clear_error() {
    let good = pdf(&["one"]);
    let cut = &good[..40];
    for content in ["%PDF-1.7", "%PDF-1.7\nstartxref\n99999999\n%%EOF", cut] {
        let mut session = Session::new(MemoryTree::new().with_file("a.pdf", content));
        let error = session.err("Read", json!({ "file_path": "a.pdf" }));
        assert!(error.contains("/work/a.pdf"), "{error}");
    }
    let huge = format!("%PDF-1.7\n{}", " ".repeat(20 << 20));
    let mut session = Session::new(MemoryTree::new().with_file("a.pdf", huge));
    let error = session.err("Read", json!({ "file_path": "a.pdf" }));
    assert!(error.contains("a PDF of more than 20 MiB"), "{error}");
}
