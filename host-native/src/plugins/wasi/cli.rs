//! A program without environment, arguments, input and terminal; what it prints goes to the log.

use wasmtime::component::Resource;

use super::{
    bindings::wasi::cli::{
        environment, exit, stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr,
        terminal_stdin, terminal_stdout,
    },
    handles::{Input, NoTerminal, Output},
    printed::Printed,
};
use crate::plugins::call_state::CallState;

/// The component ended itself, so that there is no result.
#[derive(Debug, thiserror::Error)]
#[error("it ended itself by `exit`")]
struct Exited;

impl environment::Host for CallState {
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(Some(self.call.reach.working_directory().to_owned()))
    }
}

impl exit::Host for CallState {
    fn exit(&mut self, _status: Result<(), ()>) -> wasmtime::Result<()> {
        Err(Exited.into())
    }

    fn exit_with_code(&mut self, _code: u8) -> wasmtime::Result<()> {
        Err(Exited.into())
    }
}

impl stdin::Host for CallState {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<Input>> {
        self.may_go_on()?;
        self.instance.handles.add(Input::Empty)
    }
}

impl stdout::Host for CallState {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<Output>> {
        self.may_go_on()?;
        self.instance.handles.add(Output::Log(Printed::to_output()))
    }
}

impl stderr::Host for CallState {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<Output>> {
        self.may_go_on()?;
        self.instance.handles.add(Output::Log(Printed::to_error()))
    }
}

impl terminal_stdin::Host for CallState {
    fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<NoTerminal>>> {
        Ok(None)
    }
}

impl terminal_stdout::Host for CallState {
    fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<NoTerminal>>> {
        Ok(None)
    }
}

impl terminal_stderr::Host for CallState {
    fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<NoTerminal>>> {
        Ok(None)
    }
}

impl terminal_input::Host for CallState {}

impl terminal_input::HostTerminalInput for CallState {
    fn drop(&mut self, _terminal: Resource<NoTerminal>) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl terminal_output::Host for CallState {}

impl terminal_output::HostTerminalOutput for CallState {
    fn drop(&mut self, _terminal: Resource<NoTerminal>) -> wasmtime::Result<()> {
        Ok(())
    }
}
