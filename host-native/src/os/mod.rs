//! What differs between operating systems. Everything Unix stands in [`unix`](self).

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
