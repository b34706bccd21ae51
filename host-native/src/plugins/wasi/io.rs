//! Streams of bytes. None of them ever has to be waited for.

use wasmtime::component::Resource;

use super::{
    bindings::wasi::io::{error, poll, streams},
    handles::{Failure, Input, Output, Pollable},
};
use crate::{
    files::FsError,
    plugins::{call_state::CallState, log_sink::LogLevel},
};

/// How many bytes a stream takes at once. This is what `check-write` answers, always.
const PIECE: usize = 1 << 20;

/// How many bytes the functions take that write and flush at once: the interface says so.
const FLUSHED: usize = 4096;

type Answer<T> = wasmtime::Result<Result<T, streams::StreamError>>;

/// The interface has no error for an empty list, and waiting for nothing would never end.
#[derive(Debug, thiserror::Error)]
#[error("it waited for nothing")]
struct WaitsForNothing;

/// More was written than the stream said that it takes, which traps.
#[derive(Debug, thiserror::Error)]
#[error("it wrote {0} bytes to a stream at once, which had taken {1}")]
struct TooMuch(u64, usize);

impl error::Host for CallState {}

impl error::HostError for CallState {
    fn to_debug_string(&mut self, error: Resource<Failure>) -> wasmtime::Result<String> {
        Ok(self.instance.handles.get(&error)?.0.to_string())
    }

    fn drop(&mut self, error: Resource<Failure>) -> wasmtime::Result<()> {
        self.instance.handles.remove(error).map(drop)
    }
}

impl poll::Host for CallState {
    fn poll(&mut self, list: Vec<Resource<Pollable>>) -> wasmtime::Result<Vec<u32>> {
        self.may_go_on()?;
        if list.is_empty() {
            return Err(WaitsForNothing.into());
        }
        Ok((0..).zip(list).map(|(index, _)| index).collect())
    }
}

impl poll::HostPollable for CallState {
    fn ready(&mut self, _pollable: Resource<Pollable>) -> wasmtime::Result<bool> {
        self.may_go_on()?;
        Ok(true)
    }

    fn block(&mut self, _pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        self.may_go_on()?;
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        self.instance.handles.remove(pollable).map(drop)
    }
}

impl streams::Host for CallState {}

impl CallState {
    fn read_stream(&mut self, stream: &Resource<Input>, len: u64) -> Answer<Vec<u8>> {
        self.may_go_on()?;
        let (id, at) = match self.instance.handles.get(stream)? {
            Input::Empty => return Ok(Err(streams::StreamError::Closed)),
            Input::File { id, at } => (*id, *at),
        };
        let bytes = match self.call.files.read(id, at, len, &mut self.call.reach) {
            Ok(bytes) if bytes.is_empty() && len > 0 => {
                return Ok(Err(streams::StreamError::Closed));
            }
            Ok(bytes) => bytes,
            Err(fault) => return self.stream_error(fault),
        };
        if let Input::File { at, .. } = self.instance.handles.get_mut(stream)? {
            *at = at.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        }
        Ok(Ok(bytes))
    }

    fn write_stream(&mut self, stream: &Resource<Output>, bytes: &[u8], most: usize) -> Answer<()> {
        self.may_go_on()?;
        permitted(u64::try_from(bytes.len()).unwrap_or(u64::MAX), most)?;
        let (id, at) = match self.instance.handles.get_mut(stream)? {
            Output::File { id, at } => (*id, *at),
            Output::Log(printed) => {
                let mut taken = std::mem::take(printed);
                let is_error = taken.is_error;
                // A full log takes nothing, so that nothing is kept for it.
                if self.call.log_left > 0 {
                    taken.take(bytes, |line| self.tell(is_error, line));
                }
                if let Output::Log(printed) = self.instance.handles.get_mut(stream)? {
                    *printed = taken;
                }
                return Ok(Ok(()));
            }
        };
        let end = match self.call.files.write(id, at, bytes, &mut self.call.reach) {
            Ok(end) => end,
            Err(fault) => return self.stream_error(fault),
        };
        // At the end is at the end, wherever that is next time.
        if let Output::File { at: Some(at), .. } = self.instance.handles.get_mut(stream)? {
            *at = end;
        }
        Ok(Ok(()))
    }

    fn write_zeroes_to(&mut self, stream: &Resource<Output>, len: u64, most: usize) -> Answer<()> {
        let length = permitted(len, most)?;
        self.write_stream(stream, &vec![0; length], most)
    }

    /// Writes a printed line to the log. False if it takes no more.
    fn tell(&mut self, is_error: bool, line: &str) -> bool {
        let level = match is_error {
            true => LogLevel::Warn,
            false => LogLevel::Info,
        };
        self.log_line(level, line);
        self.call.log_left > 0
    }

    fn stream_error<T>(&mut self, fault: FsError) -> Answer<T> {
        let failure = self.instance.handles.add(Failure(fault))?;
        Ok(Err(streams::StreamError::LastOperationFailed(failure)))
    }
}

/// A number of bytes that a stream takes at once.
fn permitted(length: u64, most: usize) -> Result<usize, TooMuch> {
    let permitted = usize::try_from(length)
        .ok()
        .filter(|length| *length <= most);
    permitted.ok_or(TooMuch(length, most))
}

impl streams::HostInputStream for CallState {
    fn read(&mut self, stream: Resource<Input>, len: u64) -> Answer<Vec<u8>> {
        self.read_stream(&stream, len)
    }

    fn blocking_read(&mut self, stream: Resource<Input>, len: u64) -> Answer<Vec<u8>> {
        self.read_stream(&stream, len)
    }

    fn skip(&mut self, stream: Resource<Input>, len: u64) -> Answer<u64> {
        let read = self.read_stream(&stream, len)?;
        Ok(read.map(|bytes| u64::try_from(bytes.len()).unwrap_or(u64::MAX)))
    }

    fn blocking_skip(&mut self, stream: Resource<Input>, len: u64) -> Answer<u64> {
        self.skip(stream, len)
    }

    fn subscribe(&mut self, _stream: Resource<Input>) -> wasmtime::Result<Resource<Pollable>> {
        self.may_go_on()?;
        self.instance.handles.add(Pollable)
    }

    fn drop(&mut self, stream: Resource<Input>) -> wasmtime::Result<()> {
        match self.instance.handles.remove(stream)? {
            Input::Empty => Ok(()),
            Input::File { id, .. } => Ok(self.call.files.close(id, &mut self.call.reach)?),
        }
    }
}

impl streams::HostOutputStream for CallState {
    fn check_write(&mut self, _stream: Resource<Output>) -> Answer<u64> {
        self.may_go_on()?;
        Ok(Ok(PIECE as u64))
    }

    fn write(&mut self, stream: Resource<Output>, bytes: Vec<u8>) -> Answer<()> {
        self.write_stream(&stream, &bytes, PIECE)
    }

    fn blocking_write_and_flush(&mut self, stream: Resource<Output>, bytes: Vec<u8>) -> Answer<()> {
        self.write_stream(&stream, &bytes, FLUSHED)
    }

    /// Nothing: whole files are kept when they are synced or closed, and whole lines are told.
    fn flush(&mut self, _stream: Resource<Output>) -> Answer<()> {
        self.may_go_on()?;
        Ok(Ok(()))
    }

    fn blocking_flush(&mut self, stream: Resource<Output>) -> Answer<()> {
        self.flush(stream)
    }

    fn subscribe(&mut self, _stream: Resource<Output>) -> wasmtime::Result<Resource<Pollable>> {
        self.may_go_on()?;
        self.instance.handles.add(Pollable)
    }

    fn write_zeroes(&mut self, stream: Resource<Output>, len: u64) -> Answer<()> {
        self.write_zeroes_to(&stream, len, PIECE)
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        stream: Resource<Output>,
        len: u64,
    ) -> Answer<()> {
        self.write_zeroes_to(&stream, len, FLUSHED)
    }

    fn splice(&mut self, to: Resource<Output>, from: Resource<Input>, len: u64) -> Answer<u64> {
        let bytes = match self.read_stream(&from, len)? {
            Ok(bytes) => bytes,
            Err(failed) => return Ok(Err(failed)),
        };
        // One read gives no more than one write takes.
        let written = self.write_stream(&to, &bytes, PIECE)?;
        Ok(written.map(|()| u64::try_from(bytes.len()).unwrap_or(u64::MAX)))
    }

    fn blocking_splice(
        &mut self,
        to: Resource<Output>,
        from: Resource<Input>,
        len: u64,
    ) -> Answer<u64> {
        self.splice(to, from, len)
    }

    fn drop(&mut self, stream: Resource<Output>) -> wasmtime::Result<()> {
        match self.instance.handles.remove(stream)? {
            Output::File { id, .. } => Ok(self.call.files.close(id, &mut self.call.reach)?),
            Output::Log(mut printed) => {
                let rest = printed.end();
                self.tell(printed.is_error, &rest);
                Ok(())
            }
        }
    }
}
