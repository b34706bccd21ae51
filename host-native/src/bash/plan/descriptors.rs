//! The open descriptors of a shell, as values that are passed to programs.

use std::{
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    sync::Arc,
};

use super::Streams;

/// The open descriptors of a shell.
#[derive(Debug, Clone)]
pub(super) struct Descriptors {
    /// Descriptors 0 to 9; `None` is closed.
    numbered: [Option<Arc<OwnedFd>>; 10],
    /// The reading ends of process substitutions, from [`HIGHEST`] downwards.
    processes: Vec<Arc<OwnedFd>>,
}

/// The descriptor of the first process substitution, the same as in bash.
const HIGHEST: u8 = 63;

impl Descriptors {
    pub(super) fn new(streams: Streams) -> Self {
        let mut all = Self {
            numbered: Default::default(),
            processes: Vec::new(),
        };
        all.set(0, streams.stdin);
        all.set(1, streams.stdout);
        all.set(2, streams.stderr);
        all
    }

    pub(super) fn get(&self, number: u8) -> Option<BorrowedFd<'_>> {
        let descriptor = self.numbered.get(usize::from(number))?;
        descriptor.as_ref().map(|open| open.as_fd())
    }

    /// An open descriptor, for another number to share.
    pub(super) fn shared(&self, number: u8) -> Option<Arc<OwnedFd>> {
        self.numbered.get(usize::from(number)).cloned().flatten()
    }

    pub(super) fn set(&mut self, number: u8, to: OwnedFd) {
        self.put(number, Some(Arc::new(to)));
    }

    /// Takes over the standard input of another set.
    pub(super) fn take_input_of(&mut self, others: Self) {
        let [input, ..] = others.numbered;
        self.numbered[0] = input;
    }

    /// Sets a descriptor; `None` closes it.
    pub(super) fn put(&mut self, number: u8, to: Option<Arc<OwnedFd>>) {
        if let Some(place) = self.numbered.get_mut(usize::from(number)) {
            *place = to;
        }
    }

    /// Adds the reading end of a process substitution and returns its number; `None` if no numbers are left.
    pub(super) fn add_process(&mut self, from: OwnedFd) -> Option<u8> {
        let number = HIGHEST - u8::try_from(self.processes.len()).ok()?;
        if number < 10 {
            return None;
        }
        self.processes.push(Arc::new(from));
        Some(number)
    }

    pub(super) fn processes(&self) -> usize {
        self.processes.len()
    }

    /// Closes all process substitutions after the first `count`.
    pub(super) fn keep_processes(&mut self, count: usize) {
        self.processes.truncate(count);
    }

    /// All descriptors above the three standard ones, with their numbers.
    pub(super) fn above_standard(&self) -> impl Iterator<Item = (i32, BorrowedFd<'_>)> {
        let numbered = (3..).zip(self.numbered.iter().skip(3));
        let numbered = numbered.filter_map(|(number, open)| Some((number, open.as_ref()?.as_fd())));
        let processes = self.processes.iter().zip(0..);
        numbered.chain(processes.map(|(open, at)| (i32::from(HIGHEST) - at, open.as_fd())))
    }
}
