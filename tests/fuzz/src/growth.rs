//! Inputs that grow: the same thing nested in itself, or said again and again, as often as one likes.
//!
//! Whoever calls itself for every level runs out of stack on them, and whoever looks at everything again for everything takes
//! longer than anybody waits. Each grows by one in bytes for about one in its number.

/// A family of inputs.
#[derive(Debug, Clone, Copy)]
pub struct Growth {
    /// The target that they are for.
    pub target: &'static str,
    /// What grows.
    pub name: &'static str,
    /// Bytes of one more.
    step: usize,
    make: fn(usize) -> String,
}

impl Growth {
    /// The input of about so many bytes.
    #[must_use]
    pub fn input(&self, bytes: usize) -> Vec<u8> {
        (self.make)(bytes / self.step).into_bytes()
    }
}

macro_rules! growths {
    ($($target:literal {$($name:literal $step:literal $make:expr,)*})*) => {
        /// All families.
        pub const GROWTHS: &[Growth] = &[
            $($(Growth { target: $target, name: $name, step: $step, make: $make },)*)*
        ];
    };
}

fn many(piece: &str, times: usize) -> String {
    piece.repeat(times)
}

/// Something open, something inside, and as much closed.
fn nested(open: &str, inner: &str, close: &str, times: usize) -> String {
    [&open.repeat(times), inner, &close.repeat(times)].concat()
}

/// A piece with each number below this, joined by commas.
fn numbered(times: usize, piece: fn(usize) -> String) -> String {
    (0..times).map(piece).collect::<Vec<_>>().join(",")
}

fn object(times: usize, piece: fn(usize) -> String) -> String {
    format!("{{{}}}", numbered(times, piece))
}

fn field(n: usize) -> String {
    format!("\"k{n}\":{n}")
}

fn front(fields: &str) -> String {
    format!("---\nname: a\ndescription: d\n{fields}\n---\nbody\n")
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// A stream of the Messages API with these events between its beginning and its end.
fn stream(events: &str) -> String {
    let begin = event(r#"{"type":"message_start","message":{"id":"m","model":"m","usage":{}}}"#);
    let block = event(
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
    );
    let end = event(r#"{"type":"message_stop"}"#);
    [begin, block, events.to_owned(), end].concat()
}

fn chunk(delta: &str) -> String {
    event(&format!(r#"{{"choices":[{{"delta":{delta}}}]}}"#))
}

fn line(n: usize, parent: usize, role: &str, content: &str) -> String {
    let uuid = |n: usize| format!("00000000-0000-4000-8000-{n:012x}");
    format!(
        "{{\"type\":\"{role}\",\"uuid\":\"{}\",\"parentUuid\":\"{}\",\"message\":{{\"role\":\"{role}\",\"content\":{content}}}}}\n",
        uuid(n),
        uuid(parent)
    )
}

fn lines(times: usize, make: impl Fn(usize) -> String) -> String {
    (1..=times).map(make).collect()
}

growths! {
    "json" {
        "arrays in arrays" 2 |n| nested("[", "", "]", n),
        "open arrays" 1 |n| many("[", n),
        "objects in objects" 6 |n| nested("{\"a\":", "1", "}", n),
        "a long string" 1 |n| format!("\"{}\"", many("x", n)),
        "escapes" 6 |n| format!("\"{}\"", many("\\u0041", n)),
        "backslashes" 2 |n| format!("\"{}\"", many("\\\\", n)),
        "a long number" 1 |n| many("7", n.max(1)),
        "a long fraction" 1 |n| format!("0.{}", many("7", n.max(1))),
        "a long exponent" 1 |n| format!("1e{}", many("9", n.max(1))),
        "many numbers" 2 |n| format!("[{}]", numbered(n, |_| "1".into())),
        "many fields" 9 |n| object(n, field),
        "one field again" 6 |n| object(n, |_| "\"a\":1".into()),
        "white space" 1 |n| format!("[{}]", many(" ", n)),
        "line ends" 1 |n| format!("[{}]", many("\n", n)),
    }
    "json_blocks" {
        "a deep input" 2 |n| format!("{{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"b\",\"input\":{{\"a\":{}}}}}", nested("[", "", "]", n)),
        "many fields" 9 |n| format!("{{\"type\":\"new\",{}}}", numbered(n, field)),
        "a request of many messages" 33 |n| format!("{{\"model\":\"m\",\"max_tokens\":1,\"messages\":[{}]}}", numbered(n, |_| "{\"role\":\"user\",\"content\":\"x\"}".into())),
        "a response of many blocks" 25 |n| format!("{{\"type\":\"message\",\"id\":\"m\",\"model\":\"m\",\"content\":[{}],\"usage\":{{}}}}", numbered(n, |_| "{\"type\":\"text\",\"text\":\"x\"}".into())),
        "a request with a deep schema" 6 |n| format!("{{\"model\":\"m\",\"max_tokens\":1,\"messages\":[],\"tools\":[{{\"name\":\"t\",\"input_schema\":{}}}]}}", nested("{\"a\":", "1", "}", n)),
    }
    "sse" {
        "a line without an end" 1 |n| many("x", n),
        "empty lines" 1 |n| many("\n", n),
        "carriage returns" 1 |n| many("\r", n),
        "comments" 4 |n| many(": a\n", n),
        "data in many lines" 8 |n| many("data: x\n", n) + "\n",
        "events of nothing" 12 |n| many("data: {}\n\n", n),
        "pings" 23 |n| stream(&many(&event("{\"type\":\"ping\"}"), n)),
        "small deltas" 92 |n| stream(&many(&event("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}"), n)),
        "blocks" 98 |n| stream(&lines(n, |n| event(&format!("{{\"type\":\"content_block_start\",\"index\":{n},\"content_block\":{{\"type\":\"text\",\"text\":\"x\"}}}}")))),
        "blocks, the last one first" 98 |n| stream(&lines(n, |m| event(&format!("{{\"type\":\"content_block_start\",\"index\":{},\"content_block\":{{\"type\":\"text\",\"text\":\"x\"}}}}", n + 1 - m)))),
        "deep events" 2 |n| event(&nested("[", "", "]", n)),
        "chunks of text" 52 |n| many(&chunk("{\"content\":\"x\"}"), n),
        "chunks of one call" 118 |n| chunk("{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"t\",\"arguments\":\"[\"}}]}")
            + &many(&chunk("{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"t\",\"arguments\":\"{},\"}}]}"), n),
        "chunks of many calls" 108 |n| lines(n, |n| chunk(&format!("{{\"tool_calls\":[{{\"index\":{n},\"id\":\"a{n}\",\"function\":{{\"name\":\"t\",\"arguments\":\"{{}}\"}}}}]}}"))),
    }
    "rules" {
        "a long name" 1 |n| many("a", n.max(1)),
        "parentheses" 2 |n| format!("Bash{}", nested("(", "a", ")", n)),
        "a long command" 1 |n| format!("Bash({})", many("a", n)),
        "words" 2 |n| format!("Bash(a {})", many("a ", n)),
        "stars" 2 |n| format!("Bash({}b)", many("*a", n)),
        "substitutions" 3 |n| format!("Bash({})", nested("\"$(", "a", ")\"", n)),
        "folders" 2 |n| format!("Read({})", many("/a", n)),
        "stars in folders" 4 |n| format!("Edit(/{})", many("**/a", n)),
        "brackets" 1 |n| format!("Read(/{})", many("[", n)),
        "sets" 3 |n| format!("Read(/{})", many("[a]", n)),
        "braces in braces" 4 |n| format!("Read(/{})", nested("{a,", "b", "}", n)),
        "braces beside braces" 5 |n| format!("Read(/{})", many("{a,b}", n)),
        "open braces" 1 |n| format!("Read(/{})", many("{", n)),
        "alternatives" 2 |n| format!("Read(/{{{}a}})", many("a,", n)),
        "labels" 2 |n| format!("WebFetch(domain:{}com)", many("a.", n)),
        "many rules" 10 |n| many("Bash(a:*)\n", n),
    }
    "shell" {
        "substitutions in quotes" 5 |n| format!("echo {}", nested("\"$(", "x", ")\"", n)),
        "open substitutions in quotes" 3 |n| format!("echo {}", many("\"$(", n)),
        "substitutions" 3 |n| format!("echo {}", nested("$(", "x", ")", n)),
        "expansions" 6 |n| format!("echo {}", nested("${x:-", "y", "}", n)),
        "open expansions" 5 |n| format!("echo {}", many("${x:-", n)),
        "expansions in quotes" 8 |n| format!("echo {}", nested("\"${x:-", "y", "}\"", n)),
        "backquotes" 1 |n| format!("echo {}", many("`", n)),
        "backslashes and backquotes" 2 |n| format!("echo {}", many("\\`", n)),
        "process substitutions" 3 |n| format!("cat {}", nested("<(", "x", ")", n)),
        "arithmetic" 6 |n| format!("echo {}", nested("$((1+", "1", "))", n)),
        "parentheses" 2 |n| nested("(", "x", ")", n),
        "spaced parentheses" 4 |n| nested("( ", "x", " )", n),
        "braces" 5 |n| nested("{ ", "x;", " }", n),
        "conditions" 20 |n| nested("if x; then ", "y", "; fi", n),
        "loops" 20 |n| nested("while x; do ", "y", "; done", n),
        "cases" 19 |n| nested("case x in x) ", "y", ";; esac", n),
        "lists" 3 |n| many("a; ", n) + "a",
        "pipelines" 3 |n| many("a | ", n) + "a",
        "words" 2 |n| format!("echo {}", many("a ", n)),
        "a long word" 1 |n| format!("echo {}", many("a", n)),
        "quotes" 4 |n| format!("echo {}", many("'a' ", n)),
        "joined quotes" 3 |n| format!("echo {}", many("'a'", n)),
        "assignments" 4 |n| many("a=b ", n) + "c",
        "redirections" 3 |n| format!("a {}", many(">b ", n)),
        "digits" 1 |n| format!("a {}", many("7", n)),
        "here-documents" 10 |n| format!("cat {}\n{}", many("<<E ", n / 2), many("E\n", n / 2)),
        "a long here-document" 3 |n| format!("cat <<'E'\n{}E\n", many("x \n", n)),
        "expansions in a here-document" 5 |n| format!("cat <<E\n{}\nE\n", many("${x} ", n)),
        "comments" 4 |n| many("# a\n", n),
        "continuations" 2 |n| format!("a {}b", many("\\\n", n)),
        "wrappers" 4 |n| many("env ", n) + "a",
        "wrapped lines" 6 |n| many("eval '", n) + "a" + &many("'", n),
        "find and its commands" 11 |n| format!("find {}", many("-exec a \\; ", n)),
        "find, commands and redirections" 14 |n| format!("find {} {}", many("-exec a \\; ", n), many("<b ", n)),
        "xargs" 9 |n| many("xargs -n1 ", n) + "a",
        "functions" 12 |n| many("f() { a; }; ", n),
        "a long option" 2 |n| format!("sort -{}", many("ab", n)),
        "options of 200 letters" 202 |n| format!("sort {}", many(&format!("-{} ", many("ab", 100)), n)),
        "options of 2000 letters" 2002 |n| format!("sort {}", many(&format!("-{} ", many("ab", 1000)), n)),
        "an option and a folder" 2 |n| format!("sort -{}/{}", many("a", n.min(900)), many("/b", n)),
        "marks" 2 |n| format!("sort {}", many("a=", n)),
        "marks and folders" 4 |n| format!("sort {}", many("a/=,", n)),
        "marks before a long name" 2 |n| format!("sort {}{}", many("=", n), many("x", n)),
        "magic words of git" 4 |n| format!("git add :{}", many("/a)", n)),
        "folders that are entered" 6 |n| many("cd a; ", n) + "cat b",
        "folders that are entered, and names" 15 |n| many("cd a; cat b/c; ", n) + "cat b",
        "names" 5 |n| format!("sort {}", many("a/b ", n)),
        "tests" 10 |n| format!("[[ {} ]]", many("a == b || ", n) + "a"),
    }
    "hook_outputs" {
        "a deep output" 6 |n| nested("{\"a\":", "1", "}", n),
        "many fields" 9 |n| object(n, field),
        "many alternatives" 2 |n| many("a|", n) + "a",
        "a long text" 1 |n| many("x", n),
        "a long reason" 1 |n| format!("{{\"decision\":\"block\",\"reason\":\"{}\"}}", many("x", n)),
    }
    "patterns" {
        "groups" 2 |n| nested("(", "a", ")", n),
        "open groups" 1 |n| many("(", n),
        "repeated groups" 3 |n| nested("(", "a", ")*", n),
        "counts of counts" 7 |n| nested("(?:", "a", "){9}", n),
        "alternatives" 2 |n| many("a|", n) + "a",
        "sets" 3 |n| many("[a]", n),
        "a long set" 1 |n| format!("[{}]", many("a", n)),
        "open sets" 1 |n| many("[", n),
        "stars" 2 |n| many("a*", n),
        "looks" 5 |n| nested("(?=", "a", ")", n),
        "a long text" 1 |n| format!("(a|a)*b\n{}", many("a", n)),
        "looks at a long text" 1 |n| format!("(?=(a*))a*c\n{}", many("a", n)),
        "looks back at a long text" 1 |n| format!("(?<=a.*)b\n{}", many("a", n)),
    }
    "schemas" {
        "schemas in schemas" 11 |n| nested("{\"items\":", "true", "}", n),
        "not in not" 8 |n| nested("{\"not\":", "true", "}", n),
        "many properties" 10 |n| format!("{{\"properties\":{}}}\n{}", object(n, |n| format!("\"k{n}\":true")), object(n, field)),
        "many patterns and fields" 14 |n| format!("{{\"patternProperties\":{}}}\n{}", object(n / 2, |n| format!("\"^{n}$\":true")), object(n / 2, field)),
        "a chain of references" 35 |n| format!("{{\"$ref\":\"#/$defs/d0\",\"$defs\":{{{},\"d{n}\":true}}}}", numbered(n, |n| format!("\"d{n}\":{{\"$ref\":\"#/$defs/d{}\"}}", n + 1))),
        "references to one place" 24 |n| format!("{{\"allOf\":[{}],\"$defs\":{{\"d\":{{\"type\":\"integer\"}}}}}}\n1", numbered(n, |_| "{\"$ref\":\"#/$defs/d\"}".into())),
        "references to what is large" 19 |n| format!("{{\"$defs\":{{\"d\":{{\"properties\":{}}}}},\"anyOf\":[{}]}}", object(n / 2, |n| format!("\"k{n}\":true")), numbered(n / 2, |_| "{\"$ref\":\"#/$defs/d\"}".into())),
        "a long enumeration of many" 8 |n| format!("{{\"items\":{{\"enum\":[{}]}}}}\n[{}]", numbered(n / 2, |n| format!("{n}")), numbered(n / 2, |n| format!("{}", n + 10_000_000))),
        "many that are required of many" 16 |n| format!("{{\"items\":{{\"required\":[{}]}}}}\n[{}]", numbered(n / 2, |n| format!("\"k{n}\"")), numbered(n / 2, |_| "{}".into())),
        "a form that branches" 20 |n| format!("{{\"$ref\":\"#/$defs/d\",\"$defs\":{{\"d\":{{\"anyOf\":[{{\"items\":{{\"$ref\":\"#/$defs/d\"}}}},{{\"items\":{{\"$ref\":\"#/$defs/d\"}},\"minItems\":2}}]}}}}}}\n{}", nested("[", "", "]", (n / 10).min(120))),
        "unique items" 4 |n| format!("{{\"uniqueItems\":true}}\n[{}]", numbered(n, |n| format!("{n}"))),
        "many wrong items" 2 |n| format!("{{\"items\":{{\"type\":\"string\"}}}}\n[{}]", numbered(n, |_| "1".into())),
        "many surplus fields" 9 |n| format!("{{\"additionalProperties\":false,\"properties\":{}}}\n{}", object(n / 2, |n| format!("\"p{n}\":true")), object(n / 2, field)),
        "a long pattern of a long text" 1 |n| format!("{{\"pattern\":\"(a|a)*b\"}}\n\"{}\"", many("a", n)),
        "anchors" 14 |n| format!("{{\"$defs\":{}}}", object(n, |n| format!("\"d{n}\":{{\"$anchor\":\"a{n}\"}}"))),
        "unevaluated" 9 |n| format!("{{\"unevaluatedProperties\":false,\"allOf\":[{{\"properties\":{}}}]}}\n{}", object(n / 2, |n| format!("\"k{n}\":true")), object(n / 2, field)),
    }
    "frontmatter" {
        "many fields" 8 |n| front(&lines(n, |n| format!("k{n}: v\n"))),
        "lists in lists" 2 |n| front(&format!("a: {}", nested("[", "", "]", n))),
        "open lists" 1 |n| front(&format!("a: {}", many("[", n))),
        "maps in maps" 4 |n| front(&format!("a: {}", nested("{a: ", "b", "}", n))),
        "dashes" 2 |n| front(&format!("a:\n{}b", many("- ", n))),
        "deeper and deeper" 1 |n| front(&(0..(n as f64).sqrt() as usize).map(|n| format!("{}k:\n", many(" ", n))).collect::<String>()),
        "items" 4 |n| front(&format!("a:\n{}", many("- b\n", n))),
        "a long text" 1 |n| front(&format!("a: {}", many("x", n))),
        "a long quoted text" 1 |n| front(&format!("a: \"{}\"", many("x", n))),
        "a quote without an end" 2 |n| front(&format!("a: \"{}", many(" x\n", n))),
        "a text over many lines" 4 |n| front(&format!("a: >\n{}", many("  b\n", n))),
        "a text over many empty lines" 1 |n| front(&format!("a: >\n  b\n{}", many("\n", n))),
        "open lists on many lines" 6 |n| front(&many("a: [\n", n)),
        "a flow on many lines" 4 |n| front(&format!("a: [\n{}]", many(" b,\n", n))),
        "fields of one flow" 8 |n| front(&format!("a: {{{}}}", numbered(n, |n| format!("k{n}: v")))),
        "names" 2 |n| front(&format!("tools: {}", many("a,", n))),
        "names in parentheses" 2 |n| front(&format!("tools: {}", nested("(", "a", ")", n))),
        "comments" 4 |n| front(&many("# a\n", n)),
        "arguments in a command" 10 |n| format!("---\ndescription: d\n---\n{}", many("$ARGUMENTS ", n / 2) + &many("$1 ", n / 2)),
    }
    "agents" {
        "many fields" 8 |n| front(&lines(n, |n| format!("k{n}: v\n"))),
        "many tools" 9 |n| front(&format!("tools: {}", numbered(n, |n| format!("Tool{n}")))),
        "a long prompt" 1 |n| front("") + &many("x\n", n / 2),
    }
    "settings" {
        "unknown and deep" 6 |n| format!("{{\"x\":{}}}", nested("{\"a\":", "1", "}", n)),
        "unknown and deep lists" 2 |n| format!("{{\"x\":{}}}", nested("[", "1", "]", n)),
        "unknown fields" 9 |n| object(n, field),
        "rules" 9 |n| format!("{{\"permissions\":{{\"deny\":[{}]}}}}", numbered(n, |_| "\"Bash\"".into())),
        "variables" 11 |n| format!("{{\"env\":{}}}", object(n, |n| format!("\"V{n}\":\"x\""))),
        "hooks" 60 |n| format!("{{\"hooks\":{{\"PreToolUse\":[{}]}}}}", numbered(n, |_| "{\"hooks\":[{\"type\":\"command\",\"command\":\"true\"}]}".into())),
    }
    "protocol" {
        "a line without an end" 1 |n| many("x", n),
        "empty lines" 1 |n| many("\n", n),
        "many lines" 3 |n| many("{}\n", n),
        "a deep line" 2 |n| format!("{{\"type\":\"user\",\"message\":{}}}\n", nested("[", "", "]", n)),
        "a prompt of many blocks" 25 |n| format!("{{\"type\":\"user\",\"message\":{{\"content\":[{}]}}}}\n", numbered(n, |_| "{\"type\":\"text\",\"text\":\"x\"}".into())),
        "a deep answer" 2 |n| format!("{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"success\",\"request_id\":\"r\",\"response\":{}}}}}\n", nested("[", "", "]", n)),
        "an initialize with many agents" 32 |n| format!("{{\"type\":\"control_request\",\"request_id\":\"r\",\"request\":{{\"subtype\":\"initialize\",\"agents\":{}}}}}\n", object(n, |n| format!("\"a{n}\":{{\"description\":\"\",\"prompt\":\"\"}}"))),
    }
    "transcripts" {
        "lines one after another" 190 |n| lines(n, |n| line(n, n - 1, if n % 2 == 1 { "user" } else { "assistant" }, "\"x\"")),
        "lines beside each other" 190 |n| lines(n, |n| line(n, 0, "user", "\"x\"")),
        "lines in a circle" 190 |n| lines(n, |m| line(m, if m == 1 { n } else { m - 1 }, "user", "\"x\"")),
        "calls without results" 230 |n| lines(n, |n| line(n, n - 1, "assistant", &format!("[{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"a\",\"input\":{{}}}}]"))),
        "results without calls" 230 |n| lines(n, |n| line(n, n - 1, "user", &format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"\"}}]"))),
        "many calls at once" 62 |n| line(1, 0, "user", "\"x\"") + &line(2, 1, "assistant", &format!("[{}]", numbered(n, |n| format!("{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"a\",\"input\":{{}}}}")))),
        "calls and their results by turns" 240 |n| line(1, 0, "user", "\"x\"") + &lines(n, |n| if n % 2 == 1 {
            line(n + 1, n, "assistant", &format!("[{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"a\",\"input\":{{}}}}]"))
        } else {
            line(n + 1, n, "user", &format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{}\",\"content\":\"\"}}]", n - 1))
        }),
        "results of many calls at once" 120 |n| line(1, 0, "user", "\"x\"") + &line(2, 1, "assistant", &format!("[{}]", numbered(n, |n| format!("{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"a\",\"input\":{{}}}}"))))
            + &line(3, 2, "user", &format!("[{}]", numbered(n, |n| format!("{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"\"}}")))),
        "calls of one id" 62 |n| line(1, 0, "user", "\"x\"") + &line(2, 1, "assistant", &format!("[{}]", numbered(n, |_| "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"a\",\"input\":{}}".into()))),
        "a long way without a word" 150 |n| lines(n, |n| format!("{{\"type\":\"system\",\"uuid\":\"00000000-0000-4000-8000-{n:012x}\",\"parentUuid\":\"00000000-0000-4000-8000-{:012x}\"}}\n", n - 1)) + &line(n + 1, n, "user", "\"x\""),
        "a deep line" 2 |n| line(1, 0, "user", &nested("[", "", "]", n)),
        "a line without an end" 1 |n| many("x", n),
        "lines that are none" 2 |n| many("x\n", n),
        "summaries" 220 |n| lines(n, |n| format!("{{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"00000000-0000-4000-8000-{n:012x}\",\"parentUuid\":null,\"compactMetadata\":{{\"keptMessages\":1}}}}\n")),
    }
    "memory" {
        "imports of nothing" 5 |n| lines(n, |n| format!("@x{n}\n")),
        "imports of one file" 9 |n| many("@more.md\n", n),
        "a long import" 2 |n| format!("@{}", many("a/", n)),
        "up and up" 3 |n| format!("@{}more.md", many("../", n)),
        "backquotes" 1 |n| many("`", n),
        "fences" 4 |n| many("```\n", n),
        "at signs" 1 |n| many("@", n),
    }
    "mcp_results" {
        "deep and structured" 2 |n| format!("{{\"content\":[],\"structuredContent\":{}}}", nested("[", "", "]", n)),
        "a deep block" 2 |n| format!("{{\"content\":[{{\"type\":\"new\",\"x\":{}}}]}}", nested("[", "", "]", n)),
        "many blocks" 25 |n| format!("{{\"content\":[{}]}}", numbered(n, |_| "{\"type\":\"text\",\"text\":\"x\"}".into())),
        "a long text" 1 |n| format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}", many("x", n)),
        "unknown fields" 9 |n| format!("{{\"content\":[{}]}}", object(n, field)),
    }
    "snapshots" {
        "a deep line" 2 |n| nested("[", "", "]", n) + "\n",
        "many lines" 3 |n| many("{}\n", n),
        "a long line" 1 |n| many("x", n),
    }
    "journals" {
        "a deep line" 2 |n| nested("[", "", "]", n) + "\n",
        "many lines" 3 |n| many("{}\n", n),
        "a long line" 1 |n| many("x", n),
    }
}
