//! Where a request of the Messages API may have `cache_control`, and in which order.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Value;

use super::{HistoryFault, HistoryRule, fault};
use crate::request::{blocks, cache_marks, list};

/// The maximum number of marks in a request.
const MAX_MARKS: usize = 4;

/// All faults in the marks of a request, in the order in which the API reads them: tools, system prompt, messages.
pub(crate) fn faults(body: &Value) -> Vec<HistoryFault> {
    let mut marks = Marks::default();
    let count = cache_marks(body);
    if count > MAX_MARKS {
        marks.fault("the body", &format!("{count} marks"));
    }
    for (index, tool) in list(body, "tools").iter().enumerate() {
        let waits = tool.get("defer_loading").and_then(Value::as_bool);
        let wrong = (waits == Some(true)).then_some("a mark on a definition that waits");
        marks.look_at(tool, wrong, || format!("tools[{index}]"));
    }
    for (index, block) in list(body, "system").iter().enumerate() {
        marks.look_at(block, unmarkable(block), || format!("system[{index}]"));
    }
    for (index, message) in list(body, "messages").iter().enumerate() {
        let place = || format!("messages[{index}]");
        let wrong = Some("a mark on a message, in place of a block");
        marks.look_at(message, wrong, place);
        for (at, block) in blocks(message).iter().enumerate() {
            let place = || format!("{}.content[{at}]", place());
            marks.look_at(block, unmarkable(block), place);
            // Only a tool result has nested content; a tool input may contain anything.
            if block.get("type").and_then(Value::as_str) == Some("tool_result") {
                for (part, inner) in blocks(block).iter().enumerate() {
                    let place = || format!("{}.content[{part}]", place());
                    marks.look_at(inner, unmarkable(inner), place);
                }
            }
        }
    }
    marks.faults
}

#[derive(Default)]
struct Marks {
    faults: Vec<HistoryFault>,
    /// Whether a mark with a lifetime of five minutes was seen: longer ones must come before it.
    short: bool,
}

impl Marks {
    fn fault(&mut self, place: &str, found: &str) {
        let fault = fault(HistoryRule::CacheMarks, place, found);
        self.faults.push(fault);
    }

    /// Checks the mark of a holder, if it has one. `wrong`: why it must not have one.
    fn look_at(&mut self, holder: &Value, wrong: Option<&str>, place: impl Fn() -> String) {
        let Some(mark) = holder.get("cache_control") else {
            return;
        };
        if let Some(wrong) = wrong {
            self.fault(&place(), wrong);
        }
        let field = |name: &str| mark.get(name).and_then(Value::as_str);
        let long = match (field("type"), mark.get("ttl").map(|_| field("ttl"))) {
            (Some("ephemeral"), None | Some(Some("5m"))) => false,
            (Some("ephemeral"), Some(Some("1h"))) => true,
            _ => return self.fault(&place(), &mark.to_string()),
        };
        if long && self.short {
            self.fault(&place(), "a mark for an hour behind one for five minutes");
        }
        self.short |= !long;
    }
}

/// Why a content block must not have a mark, if so.
fn unmarkable(block: &Value) -> Option<&'static str> {
    match block.get("type").and_then(Value::as_str) {
        Some("thinking" | "redacted_thinking") => Some("a mark on thinking"),
        Some("text") if block.get("text").and_then(Value::as_str) == Some("") => {
            Some("a mark on an empty text")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use serde_json::json;

    use super::*;

    #[test]
    fn marks_stand_where_the_api_takes_them() {
        let mark = json!({"type": "ephemeral"});
        let hour = json!({"type": "ephemeral", "ttl": "1h"});
        let text = |mark: &Value| json!({"type": "text", "text": "a", "cache_control": mark});
        let user = |content: Value| json!([{"role": "user", "content": content}]);
        let good = [
            json!({"system": [text(&hour)], "messages": user(json!([text(&mark)]))}),
            json!({"tools": [{"name": "a", "cache_control": mark}]}),
            json!({"messages": user(json!([{"type": "tool_use", "input": {"cache_control": 1}}]))}),
        ];
        for body in good {
            assert_eq!(faults(&body), vec![], "{body}");
        }
        let bad = [
            json!({"system": [text(&mark)], "messages": user(json!([text(&hour)]))}),
            json!({"tools": [{"name": "a", "defer_loading": true, "cache_control": mark}]}),
            json!({"messages": [{"role": "user", "content": "a", "cache_control": mark}]}),
            json!({"messages": user(json!([{"type": "redacted_thinking", "cache_control": mark}]))}),
            json!({"messages": user(json!([{"type": "text", "text": "", "cache_control": mark}]))}),
            json!({"messages": user(json!([text(&json!({"type": "forever"}))]))}),
            json!({"messages": user(json!([text(&json!({"type": "ephemeral", "ttl": "1d"}))]))}),
            json!({"messages": user(json!(vec![text(&mark); 5]))}),
        ];
        for body in bad {
            assert_eq!(faults(&body).len(), 1, "{body}: {:?}", faults(&body));
        }
    }
}
