//! Differences between operating systems. All Unix code is in [`unix`](self).

#[cfg(unix)]
mod orphans;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
pub(crate) use other::*;
