//! Multiple-choice questions of the model (`AskUserQuestion`).

use windlass_core::{
    RawJson,
    effect::{PermissionRequest, PermissionResponse},
    tools::ask_user_question::{Answers, AskUserQuestionInput, Question},
};

use super::{
    plain::one_line,
    styles::{ASKING, BOLD, DIM},
};

/// The questions of a call, if it is such a call.
pub(super) fn questions(request: &PermissionRequest) -> Option<AskUserQuestionInput> {
    (request.tool_name == "AskUserQuestion")
        .then(|| request.input.decode().ok())
        .flatten()
}

/// A question with its choices.
pub(super) fn text(question: &Question) -> String {
    let mut out = format!(
        "\n  {ASKING}?{ASKING:#} {BOLD}{}{BOLD:#}\n",
        one_line(&question.question)
    );
    for (number, choice) in (1..).zip(&question.options) {
        let (label, meaning) = (one_line(&choice.label), one_line(&choice.description));
        let gap = if meaning.is_empty() { "" } else { " · " };
        out.push_str(&format!("    {number} {label}{DIM}{gap}{meaning}{DIM:#}\n"));
    }
    out
}

/// How an answer can be given.
pub(super) fn ways(question: &Question) -> &'static str {
    match question.multi_select {
        true => "  numbers, or your own words > ",
        false => "  a number, or your own words > ",
    }
}

/// The answer of a typed line: the choices with these numbers, else the text itself; `None` if it is neither.
pub(super) fn understand(line: &str, question: &Question) -> Option<String> {
    let line = line.trim();
    let words = line.split([',', ' ']).filter(|word| !word.is_empty());
    let numbers: Option<Vec<usize>> = words.map(|word| word.parse().ok()).collect();
    let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else {
        return (!line.is_empty()).then(|| line.to_owned());
    };
    if numbers.len() > 1 && !question.multi_select {
        return None;
    }
    let labels: Option<Vec<&str>> = (numbers.into_iter())
        .map(|number| Some(question.options.get(number.checked_sub(1)?)?.label.as_str()))
        .collect();
    labels.map(|labels| labels.join(", "))
}

/// Allows the call, with these answers.
pub(super) fn answered(
    mut asked: AskUserQuestionInput,
    answers: Vec<String>,
) -> PermissionResponse {
    let texts = asked.questions.iter().map(|it| it.question.clone());
    asked.answers = Some(Answers(texts.zip(answers).collect()));
    PermissionResponse::Allow {
        // It was parsed from JSON, so it can be encoded.
        updated_input: RawJson::encode(&asked).ok(),
        updated_permissions: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(multi_select: bool) -> Question {
        let json = format!(
            r#"{{"question": "Which one?", "header": "One", "multiSelect": {multi_select}, "options": [
                {{"label": "Left", "description": "the left one"}}, {{"label": "Right", "description": ""}}]}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn numbers_are_choices_and_other_words_are_the_persons_own() {
        let (one, several) = (question(false), question(true));
        for (line, question, expected) in [
            ("1", &one, Some("Left")),
            (" 2 ", &one, Some("Right")),
            ("neither of 2", &one, Some("neither of 2")),
            ("1, 2", &several, Some("Left, Right")),
            ("1 2", &one, None),
            ("3", &one, None),
            ("0", &one, None),
            ("", &one, None),
        ] {
            assert_eq!(understand(line, question).as_deref(), expected, "{line}");
        }
    }
}
