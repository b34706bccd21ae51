//! Files that were cut anywhere.

use std::fs;

use proptest::prelude::*;
use windlass_core::transcript::Transcript;

use super::{Scribe, TranscriptWriter, facts, files, session, talk, writer};
use crate::transcript::SavedSession;

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A kill tears the last line; whatever was acknowledged is there, and what is written afterwards too.
    #[test]
    fn sess_4_a_torn_line_takes_nothing_with_it(first in 1_usize..7, torn in 0.0_f64..1.0) {
        let root = tempfile::tempdir().unwrap();
        let talk = talk();
        let mut before = writer(root.path());
        before.persist(&talk.entries[..first]).unwrap();
        let path = before.path().to_path_buf();
        let acknowledged = fs::read(&path).unwrap();
        before.persist(&talk.entries[first..=first]).unwrap();
        let whole = fs::read(&path).unwrap();
        let cut = acknowledged.len() + ((whole.len() - acknowledged.len()) as f64 * torn) as usize;
        fs::write(&path, &whole[..cut]).unwrap();

        let saved = SavedSession::load(session(), path.clone()).unwrap();
        for entry in &talk.entries[..first] {
            prop_assert!(saved.contains(entry.uuid));
        }
        let scribe = Scribe::new(facts()).going_on(saved.ids(), saved.leaf());
        let mut after = TranscriptWriter::new(files(root.path()), scribe).going_on(saved.path.clone());
        after.persist(&talk.entries).unwrap();
        let now = fs::read(&path).unwrap();
        prop_assert!(now.starts_with(&whole[..cut]), "nothing was taken away");
        let read = Transcript::read(&now);
        prop_assert!(read.unreadable.len() <= 1);
        let conversation = read.conversation();
        prop_assert_eq!(conversation.repairs, vec![]);
        let messages = format!("{:?}", conversation.messages);
        for words in ["first prompt", "I look.", "of a", "of b", "first answer", "second prompt", "second answer"] {
            prop_assert!(messages.contains(words), "{}", words);
        }
    }

    /// Whatever bytes a file holds, it is read without a panic, and what is appended to it can be read.
    #[test]
    fn sess_4_any_bytes_are_gone_on_from(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let root = tempfile::tempdir().unwrap();
        let sessions = files(root.path());
        fs::create_dir_all(sessions.folder()).unwrap();
        let path = sessions.session(session());
        fs::write(&path, &bytes).unwrap();
        let saved = SavedSession::load(session(), path.clone()).unwrap();
        let scribe = Scribe::new(facts()).going_on(saved.ids(), saved.leaf());
        let mut writer = TranscriptWriter::new(sessions, scribe).going_on(path.clone());
        writer.persist(&talk().entries).unwrap();
        let read = SavedSession::load(session(), path).unwrap();
        prop_assert_eq!(read.transcript().conversation().messages.len(), 6);
    }
}
