//! Leases: who may write to a session.

use windlass_engine::store::{Store as _, StoreError};

use super::{Place, append, done, line, refused, same, session, text, text_of};

fn is_busy(error: &StoreError) -> bool {
    matches!(error, StoreError::Busy(_))
}

fn is_stale(error: &StoreError) -> bool {
    matches!(error, StoreError::Stale(_))
}

pub(super) async fn exists(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let lease = done("create", store.create(session(1)).await)?;
    append(&store, &lease, &[line(1)]).await?;
    store.release(&lease);
    let again = place.store().await.create(session(1)).await;
    refused("create", again, |error| {
        matches!(error, StoreError::Exists(_))
    })
}

pub(super) async fn unknown(place: &impl Place) -> Result<(), String> {
    let opened = place.store().await.open(session(1)).await;
    refused("open", opened, |error| {
        matches!(error, StoreError::Unknown(_))
    })
}

pub(super) async fn one_writer(place: &impl Place) -> Result<(), String> {
    let (one, other) = (place.store().await, place.store().await);
    let lease = done("create", one.create(session(1)).await)?;
    append(&one, &lease, &[line(1)]).await?;
    refused("open by another", other.open(session(1)).await, is_busy)?;
    refused("open by the same", one.open(session(1)).await, is_busy)?;
    append(&one, &lease, &[line(2)]).await?;
    let expected = text_of(&[line(1), line(2)]);
    same("the lines", text(&other, session(1)).await?, expected)
}

pub(super) async fn one_after_the_other(place: &impl Place) -> Result<(), String> {
    for n in 1..4 {
        let store = place.store().await;
        let lease = match n {
            1 => done("create", store.create(session(1)).await)?,
            _ => done("open", store.open(session(1)).await)?,
        };
        append(&store, &lease, &[line(n)]).await?;
        store.release(&lease);
    }
    let expected = text_of(&[line(1), line(2), line(3)]);
    same(
        "the lines",
        text(&place.store().await, session(1)).await?,
        expected,
    )
}

pub(super) async fn stale(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let old = done("create", store.create(session(1)).await)?;
    append(&store, &old, &[line(1)]).await?;
    store.release(&old);
    store.release(&old); // passed over
    let lines = [line(2)];
    let batch = windlass_engine::store::Batch {
        lines: &lines,
        ..Default::default()
    };
    refused("append", store.append(&old, batch).await, is_stale)?;
    let new = done("open", store.open(session(1)).await)?;
    refused("append", store.append(&old, batch).await, is_stale)?;
    refused("put", store.put(&old, "a", b"x").await, is_stale)?;
    refused("extend", store.extend(&old, "a", b"x").await, is_stale)?;
    store.release(&old); // takes nothing from the new one
    append(&store, &new, &[line(3)]).await?;
    let expected = text_of(&[line(1), line(3)]);
    same("the lines", text(&store, session(1)).await?, expected)
}

pub(super) async fn epochs(place: &impl Place) -> Result<(), String> {
    let store = place.store().await;
    let first = done("create", store.create(session(1)).await)?;
    append(&store, &first, &[line(1)]).await?;
    store.release(&first);
    let second = done("open", store.open(session(1)).await)?;
    same("the second is higher", second.epoch > first.epoch, true)
}

pub(super) async fn end_with_their_process(place: &impl Place) -> Result<(), String> {
    let killed = place.store().await;
    let lease = done("create", killed.create(session(1)).await)?;
    append(&killed, &lease, &[line(1)]).await?;
    drop(killed); // and nothing was given back
    let store = place.store().await;
    let lease = done("open", store.open(session(1)).await)?;
    append(&store, &lease, &[line(2)]).await
}

pub(super) async fn keep_from_deletion(place: &impl Place) -> Result<(), String> {
    let (one, other) = (place.store().await, place.store().await);
    let lease = done("create", one.create(session(1)).await)?;
    append(&one, &lease, &[line(1)]).await?;
    refused("delete", other.delete(session(1)).await, is_busy)?;
    append(&one, &lease, &[line(2)]).await?;
    one.release(&lease);
    done("delete", other.delete(session(1)).await)
}
