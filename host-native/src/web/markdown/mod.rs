//! HTML as Markdown, for a model to read.
//!
//! Pages are hostile input: the tags are read one after another, in time and memory that grow with the page alone. No tree is
//! built, since a page chooses how deep and how wide one becomes.

mod writer;

use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};
use url::Url;

use self::writer::Writer;

/// The most bytes of Markdown. A page of small links would otherwise become much longer than it is.
const LONGEST: usize = 10 << 20;

/// Bytes of the longest link target that is shown.
const LONGEST_TARGET: usize = 2_000;

/// Elements of which nothing is shown.
const UNSEEN: [&str; 10] = [
    "script", "style", "noscript", "template", "svg", "iframe", "object", "select", "noframes",
    "canvas",
];

/// Elements that begin and end a block of their own.
const BLOCKS: [&str; 23] = [
    "p",
    "div",
    "section",
    "article",
    "main",
    "header",
    "footer",
    "nav",
    "aside",
    "form",
    "fieldset",
    "figure",
    "figcaption",
    "address",
    "details",
    "summary",
    "dl",
    "body",
    "html",
    "center",
    "dialog",
    "hgroup",
    "search",
];

/// Converts a page. Links become absolute by the page's address.
pub(super) fn from_html(html: &str, address: &Url) -> String {
    let mut reading = Reading {
        address,
        out: Writer::default(),
        unseen: None,
        title: None,
        links: Vec::new(),
    };
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    // Reading from memory does not fail.
    for token in Tokenizer::new_with_emitter(html, emitter).map_while(Result::ok) {
        match token {
            Token::StartTag(tag) => reading.start(&tag),
            Token::EndTag(tag) => reading.end(&text_of(&tag.name)),
            Token::String(text) => reading.text(&text_of(&text)),
            _ => {}
        }
        if reading.out.len() > LONGEST {
            break;
        }
    }
    reading.finish()
}

/// The state between two tags.
struct Reading<'a> {
    address: &'a Url,
    out: Writer,
    /// The element that is not shown, and how many of its kind are open in each other.
    unseen: Option<(String, usize)>,
    /// The title of the page, while it is read and afterwards.
    title: Option<Title>,
    /// The open links: their targets, if they lead anywhere.
    links: Vec<Option<String>>,
}

#[derive(Default)]
struct Title {
    text: String,
    is_complete: bool,
}

impl Reading<'_> {
    fn start(&mut self, tag: &StartTag<()>) {
        let name = text_of(&tag.name);
        if let Some((unseen, depth)) = &mut self.unseen {
            *depth += usize::from(*unseen == name && !tag.self_closing);
            return;
        }
        match name.as_str() {
            name if UNSEEN.contains(&name) => {
                self.unseen = (!tag.self_closing).then(|| (name.to_owned(), 1));
            }
            "title" if self.title.is_none() => self.title = Some(Title::default()),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.out.block();
                self.out.open(&format!("{} ", "#".repeat(level)));
            }
            "br" => self.out.line(),
            "hr" => {
                self.out.block();
                self.out.words("---");
                self.out.block();
            }
            "ul" | "menu" => self.out.open_list(None),
            "ol" => {
                let start = attribute(tag, "start").and_then(|start| start.parse().ok());
                self.out.open_list(Some(start.unwrap_or(1)));
            }
            "li" => self.out.item(),
            "dt" => self.out.line(),
            "dd" => {
                self.out.line();
                self.out.open(": ");
            }
            "blockquote" => self.out.open_quote(),
            "pre" => self.out.open_code(),
            "code" | "kbd" | "samp" => self.out.mark("`"),
            "b" | "strong" => self.out.mark("**"),
            "i" | "em" => self.out.mark("*"),
            "table" => self.out.open_table(),
            "tr" => self.out.row(),
            "td" => self.out.cell(false),
            "th" => self.out.cell(true),
            "a" => self.open_link(tag),
            "img" => self.image(tag),
            name if BLOCKS.contains(&name) => self.out.block(),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if let Some((unseen, depth)) = &mut self.unseen {
            *depth -= usize::from(unseen == name);
            if *depth == 0 {
                self.unseen = None;
            }
            return;
        }
        match name {
            "title" => {
                if let Some(title) = &mut self.title {
                    title.is_complete = true;
                }
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.out.block(),
            "ul" | "ol" | "menu" => self.out.close_list(),
            "li" | "dt" | "dd" => self.out.line(),
            "blockquote" => self.out.close_quote(),
            "pre" => self.out.close_code(),
            "code" | "kbd" | "samp" => self.out.unmark("`"),
            "b" | "strong" => self.out.unmark("**"),
            "i" | "em" => self.out.unmark("*"),
            "table" => self.out.close_table(),
            "tr" => self.out.end_row(),
            "a" => self.close_link(),
            name if BLOCKS.contains(&name) => self.out.block(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.unseen.is_some() {
            return;
        }
        match &mut self.title {
            Some(title) if !title.is_complete => title.text.push_str(text),
            _ => self.out.text(text),
        }
    }

    fn open_link(&mut self, tag: &StartTag<()>) {
        // Links do not contain each other: a second one ends the first.
        self.close_link();
        let target = attribute(tag, "href").and_then(|target| self.absolute(&target));
        if target.is_some() {
            self.out.mark("[");
        }
        self.links.push(target);
    }

    fn close_link(&mut self) {
        if let Some(Some(target)) = self.links.pop() {
            self.out.close_mark("[", &format!("]({target})"));
        }
    }

    fn image(&mut self, tag: &StartTag<()>) {
        let words = attribute(tag, "alt").unwrap_or_default();
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        match attribute(tag, "src").and_then(|source| self.absolute(&source)) {
            Some(source) => self.out.words(&format!("![{words}]({source})")),
            None => self.out.words(&format!("[image: {words}]")),
        }
    }

    /// The target of a link, if it leads to the web.
    fn absolute(&self, target: &str) -> Option<String> {
        let target = target.trim();
        if target.is_empty() || target.starts_with('#') || target.len() > LONGEST_TARGET {
            return None;
        }
        let url = self.address.join(target).ok()?;
        let leads = matches!(url.scheme(), "http" | "https" | "mailto");
        (leads && url.as_str().len() <= LONGEST_TARGET).then(|| url.into())
    }

    fn finish(mut self) -> String {
        self.close_link();
        let text = self.out.finish();
        let title = self.title.map(|title| title.text).unwrap_or_default();
        let title: Vec<&str> = title.split_whitespace().collect();
        match title.is_empty() {
            true => text,
            false => format!("Title: {}\n\n{text}", title.join(" ")),
        }
    }
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let value = tag.attributes.get(name.as_bytes())?;
    Some(text_of(value))
}

fn text_of(bytes: &HtmlString) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn markdown(html: &str) -> String {
        from_html(html, &Url::parse("https://example.com/docs/page").unwrap())
    }

    #[test]
    fn tool_8_a_page_is_read_as_markdown() {
        for (html, expected) in [
            ("<p>One\n two</p><p>three", "One two\n\nthree"),
            ("<h2>Head <b>bold</b></h2>text", "## Head **bold**\n\ntext"),
            ("a<b> b </b>c <i></i>d", "a **b** c d"),
            (
                "<a href='x?y'>go <b>on</b></a>.",
                "[go **on**](https://example.com/docs/x?y).",
            ),
            (
                "<a href='#top'>up</a> <a href='javascript:alert(1)'>js</a>",
                "up js",
            ),
            (
                "<a href=/a>one<a href=/b>two</a>",
                "[one](https://example.com/a)[two](https://example.com/b)",
            ),
            (
                "<ul><li>one<li>two<ol start=3><li>in</ol></ul>end",
                "- one\n- two\n  3. in\n\nend",
            ),
            (
                "<blockquote><p>said</p><p>more</p></blockquote>then",
                "> said\n>\n> more\n\nthen",
            ),
            (
                "<pre><code>a  b\n c</code></pre>x",
                "```\na  b\n c\n```\n\nx",
            ),
            ("run <code>ls -l</code> now", "run `ls -l` now"),
            (
                "<table><tr><th>a<th>b<tr><td>1<td><p>2</p></table>z",
                "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nz",
            ),
            ("a<br>b<hr>c", "a\nb\n\n---\n\nc"),
            (
                "<img alt='a cat' src='/c.png'><img src=x>",
                "![a cat](https://example.com/c.png)",
            ),
            (
                "<title>The\n page</title><script>if (a<b) x()</script><style>p{}</style>&lt;T&gt; &amp; &eacute;",
                "Title: The page\n\n<T> & é",
            ),
            (
                "a<svg><text>no</text><svg></svg></svg>b<noscript><p>no</p></noscript>c",
                "abc",
            ),
            ("", ""),
        ] {
            assert_eq!(markdown(html), expected, "{html}");
        }
    }

    /// Pages that make builders of trees run out of stack, time or memory.
    #[test]
    fn tool_8_no_page_becomes_much_longer_or_deeper_than_it_is() {
        let much = 200_000;
        for piece in [
            "<div>",
            "<ul><li>",
            "<blockquote>x",
            "<b>",
            "<font a=1>x",
            "<table><tr><td>",
            "<a href=x>y",
            "</p>",
            "<pre>\n",
            "<div><object></div>",
            "<svg>",
            "<title>",
            "<!--",
            "<p",
            "&amp",
            "<table><caption>",
            "<i><p></i>",
        ] {
            let html = piece.repeat(much);
            let text = markdown(&html);
            assert!(
                text.len() <= LONGEST + (64 << 10),
                "{piece}: {}",
                text.len()
            );
        }
    }
}
