//! Which rows of the transition table a run took, told from the phases before and after each input.

use std::collections::{BTreeSet, VecDeque};

use windlass_core::diagram;
use windlass_testkit::PhaseChange;

/// The rows so far.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) taken: BTreeSet<String>,
    table: Vec<(String, String, String)>,
}

impl Rows {
    pub(super) fn note(&mut self, change: PhaseChange) {
        if self.table.is_empty() {
            self.table = read_table();
        }
        let (before, after) = (format!("{:?}", change.from), format!("{:?}", change.to));
        for row in self.shortest_way(&before, &after, change.stopped) {
            let (from, to, event) = &self.table[row];
            self.taken.insert(format!("{from} --> {to} : {event}"));
        }
    }

    /// The machine passes through phases in which there is nothing to wait for; the way it took is
    /// the shortest one that begins with an interrupt exactly if somebody interrupted.
    fn shortest_way(&self, from: &str, to: &str, stops: bool) -> Vec<usize> {
        let mut queue: VecDeque<(String, Vec<usize>)> = VecDeque::from([(from.to_owned(), vec![])]);
        while let Some((at, way)) = queue.pop_front() {
            if at == to && !way.is_empty() {
                return way;
            }
            for (row, (source, target, event)) in self.table.iter().enumerate() {
                let begins = way.is_empty();
                if *source == at && way.len() < 5 && (event == "Interrupt") == (begins && stops) {
                    let mut longer = way.clone();
                    longer.push(row);
                    queue.push_back((target.clone(), longer));
                }
            }
        }
        Vec::new()
    }
}

fn read_table() -> Vec<(String, String, String)> {
    diagram()
        .lines()
        .filter_map(|line| {
            let (ways, event) = line.trim().split_once(" : ")?;
            let (from, to) = ways.split_once(" --> ")?;
            Some((from.to_owned(), to.to_owned(), event.to_owned()))
        })
        .collect()
}
