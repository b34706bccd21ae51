//! The state that a process leaves behind when it ends at any point.

use windlass_core::RawJson;
use windlass_engine::store::{Batch, Lease, Store};

use super::{Place, append, done, line, same, session, text, text_of};

/// Steps of a process.
#[derive(Debug, Clone, Copy)]
enum Step {
    Append(u32),
    AppendOfAgent(u32),
    AppendWithSnapshot(u32),
    Put(u32),
    Extend(u32),
    Release,
}

const STEPS: [Step; 11] = [
    Step::Append(1),
    Step::AppendOfAgent(2),
    Step::AppendWithSnapshot(3),
    Step::Put(4),
    Step::Extend(5),
    Step::Append(5),
    Step::AppendWithSnapshot(6),
    Step::AppendOfAgent(7),
    Step::Put(8),
    Step::Extend(9),
    Step::Release,
];

/// For every number of steps, in a separate session: a process performs that many steps and ends; another process finds the
/// results of all of them, and continues.
pub(super) async fn between_steps(place: &impl Place) -> Result<(), String> {
    for count in 0..=STEPS.len() {
        let (id, steps) = (session(count as u8 + 1), &STEPS[..count]);
        let killed = place.store().await;
        let lease = done("create", killed.create(id).await)?;
        for step in steps {
            perform(&killed, &lease, *step).await?;
        }
        drop(killed);

        let store = place.store().await;
        let of = |wanted: fn(&Step) -> Option<u32>| -> Vec<RawJson> {
            steps.iter().filter_map(wanted).map(line).collect()
        };
        let own = of(|step| match step {
            Step::Append(n) | Step::AppendWithSnapshot(n) => Some(*n),
            _ => None,
        });
        let what = format!("after {count} steps");
        same(&what, text(&store, id).await?, text_of(&own))?;
        let of_agent = of(|step| match step {
            Step::AppendOfAgent(n) => Some(*n),
            _ => None,
        });
        let stored = done("load", store.load(id, Some("a")).await)?;
        same(&what, stored.unwrap_or_default().text, text_of(&of_agent))?;
        let document = steps.iter().fold(None, |before, step| match step {
            Step::Put(n) => Some(n.to_string().into_bytes()),
            Step::Extend(n) => {
                Some([before.unwrap_or_default(), n.to_string().into_bytes()].concat())
            }
            _ => before,
        });
        same(&what, done("get", store.get(id, "a").await)?, document)?;

        let lease = match own.is_empty() {
            true => done("create", store.create(id).await)?,
            false => done("open", store.open(id).await)?,
        };
        append(&store, &lease, &[line(100)]).await?;
        let all = [own, vec![line(100)]].concat();
        same(&what, text(&store, id).await?, text_of(&all))?;
    }
    Ok(())
}

async fn perform<S: Store>(store: &S, lease: &Lease, step: Step) -> Result<(), String> {
    let batch = |agent, lines, snapshot| Batch {
        agent,
        lines,
        snapshot,
    };
    match step {
        Step::Append(n) => append(store, lease, &[line(n)]).await,
        Step::AppendOfAgent(n) => {
            let lines = [line(n)];
            let done = store.append(lease, batch(Some("a"), &lines, None)).await;
            done.map_err(|error| error.to_string())
        }
        Step::AppendWithSnapshot(n) => {
            let lines = [line(n)];
            let done = store.append(lease, batch(None, &lines, Some(b"s"))).await;
            done.map_err(|error| error.to_string())
        }
        Step::Put(n) => {
            let document = n.to_string();
            let done = store.put(lease, "a", document.as_bytes()).await;
            done.map_err(|error| error.to_string())
        }
        Step::Extend(n) => {
            let more = n.to_string();
            let done = store.extend(lease, "a", more.as_bytes()).await;
            done.map_err(|error| error.to_string())
        }
        Step::Release => {
            store.release(lease);
            Ok(())
        }
    }
}

pub(super) async fn torn(place: &impl Place) -> Result<(), String> {
    let killed = place.store().await;
    let lease = done("create", killed.create(session(1)).await)?;
    append(&killed, &lease, &[line(1), line(2)]).await?;
    drop(killed);
    place.tear(session(1));
    let store = place.store().await;
    let lease = done("open", store.open(session(1)).await)?;
    append(&store, &lease, &[line(3)]).await?;
    let found = text(&store, session(1)).await?;
    let lines: Vec<&[u8]> = found.split(|byte| *byte == b'\n').collect();
    let whole = |n: u32| {
        let line = line(n);
        lines.contains(&line.get().as_bytes())
    };
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let text = std::str::from_utf8(line).unwrap_or_default();
        if RawJson::parse(text).is_err() {
            return Err(format!("a line that is none: {text}"));
        }
    }
    same("the line before", whole(1), true)?;
    same("the line behind", whole(3), true)?;
    same("the end", found.last(), Some(&b'\n'))
}
