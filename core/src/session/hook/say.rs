//! Messages to the application about hooks (Agent SDK reference, `SDKHookStartedMessage` and related ones).

use alloc::{borrow::ToOwned, format, string::String};

use super::super::{Outcome, Shared, Thread};
use crate::{
    effect::EffectId,
    hook::{HookAnswer, InterpretedAnswer, Occurrence},
    message::{
        HookOutcome, HookProgress, HookResponse, HookStarted, InformationLevel, Informational,
        Message, SystemMessage,
    },
};

/// The outcome of a run that a hook ended.
pub(in crate::session) fn stopped_by_hook(reason: String) -> Outcome {
    Outcome::StoppedByHook(reason)
}

impl Thread {
    pub(super) fn emit_hook_started(
        &self,
        shared: &mut Shared,
        id: EffectId,
        occurrence: &Occurrence,
    ) {
        if !shared.spec.stream.hook_messages {
            return;
        }
        let message = HookStarted {
            hook_id: format!("{id}"),
            hook_name: occurrence.hook_name(),
            hook_event: occurrence.event(),
            uuid: shared.ids.uuid(),
            session_id: shared.id,
        };
        shared.say(Message::System(SystemMessage::HookStarted(message)));
    }

    pub(super) fn emit_hook_progress(
        &self,
        shared: &mut Shared,
        id: EffectId,
        stdout: String,
        stderr: String,
    ) {
        let Some((round, _)) = self.hooks.asked(id) else {
            return;
        };
        if !shared.spec.stream.hook_messages {
            return;
        }
        let message = HookProgress {
            hook_id: format!("{id}"),
            hook_name: round.occurrence.hook_name(),
            hook_event: round.event(),
            output: both(&stdout, &stderr),
            stdout,
            stderr,
            uuid: shared.ids.uuid(),
            session_id: shared.id,
        };
        shared.say(Message::System(SystemMessage::HookProgress(message)));
    }

    pub(super) fn emit_hook_response(
        &self,
        shared: &mut Shared,
        id: EffectId,
        answer: &HookAnswer,
        interpreted: &InterpretedAnswer,
        outcome: HookOutcome,
    ) {
        let Some((round, asked)) = self.hooks.asked(id) else {
            return;
        };
        if shared.spec.stream.hook_messages {
            let suppressed =
                matches!(interpreted, InterpretedAnswer::Trusted(output) if output.suppress_output);
            let (stdout, stderr) = match answer.written() {
                _ if suppressed => ("", ""),
                written => written,
            };
            let message = HookResponse {
                hook_id: format!("{id}"),
                hook_name: round.occurrence.hook_name(),
                hook_event: round.event(),
                output: both(stdout, stderr),
                stdout: stdout.to_owned(),
                stderr: stderr.to_owned(),
                exit_code: answer.exit_code(),
                outcome,
                uuid: shared.ids.uuid(),
                session_id: shared.id,
            };
            shared.say(Message::System(SystemMessage::HookResponse(message)));
        }
        if let InterpretedAnswer::Failed(reason) = interpreted {
            let name = round.occurrence.hook_name();
            let content = format!("The hook {} ({name}) failed: {reason}", asked.hook);
            self.inform(shared, InformationLevel::Warning, content);
        }
    }

    /// Emits a notice for the user that is not part of the conversation.
    pub(in crate::session) fn inform(
        &self,
        shared: &mut Shared,
        level: InformationLevel,
        content: String,
    ) {
        let message = Informational {
            content,
            level,
            uuid: shared.ids.uuid(),
            session_id: shared.id,
        };
        shared.say(Message::System(SystemMessage::Informational(message)));
    }
}

fn both(stdout: &str, stderr: &str) -> String {
    match (stdout, stderr) {
        (only, "") | ("", only) => only.to_owned(),
        (out, err) => format!("{}\n{err}", out.trim_end_matches('\n')),
    }
}
