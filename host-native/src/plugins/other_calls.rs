//! `windlass:host/state`, `config` and `progress` during a call.

use super::{
    bindings::windlass::host::{config, progress, state},
    call_state::CallState,
    log_sink::{LogLevel, LogLine},
    role::ROLE_SETTING,
    state::StateFault,
};
use crate::credentials::is_withheld;

type Answer<T> = wasmtime::Result<Result<T, state::StateError>>;

impl CallState {
    fn told<T>(&mut self, done: Result<T, StateFault>) -> Result<T, state::StateError> {
        done.map_err(|fault| match fault {
            StateFault::NotGranted => state::StateError::NotGranted,
            StateFault::Invalid => state::StateError::Invalid,
            StateFault::Full => state::StateError::Full,
            StateFault::Io(error) => {
                self.note(&format!("its state cannot be used: {error}"));
                state::StateError::Io
            }
        })
    }
}

impl state::Host for CallState {
    fn get(&mut self, key: String) -> Answer<Option<Vec<u8>>> {
        self.may_go_on()?;
        let done = self.call.bound.state.get(&key);
        Ok(self.told(done))
    }

    fn set(&mut self, key: String, value: Vec<u8>) -> Answer<()> {
        self.may_go_on()?;
        let done = self.call.bound.state.set(&key, &value);
        Ok(self.told(done))
    }

    fn remove(&mut self, key: String) -> Answer<()> {
        self.may_go_on()?;
        let done = self.call.bound.state.remove(&key);
        Ok(self.told(done))
    }

    fn keys(&mut self, prefix: String) -> Answer<Vec<String>> {
        self.may_go_on()?;
        let done = self.call.bound.state.keys(&prefix);
        Ok(self.told(done))
    }
}

impl config::Host for CallState {
    fn get(&mut self, name: String) -> wasmtime::Result<Option<String>> {
        self.may_go_on()?;
        if let Some(role) = name.strip_prefix(ROLE_SETTING) {
            let path = self.call.bound.authority.roles.path(role);
            return Ok(path.map(str::to_owned));
        }
        // What one plugin was granted as a secret no plugin reads.
        let may = self.call.bound.authority.lets_read_variable(&name) && !is_withheld(&name);
        let value = || match &self.instance.variables {
            Some(variables) => variables.get(&name).cloned(),
            None => std::env::var(&name).ok(),
        };
        Ok(may.then(value).flatten())
    }
}

impl progress::Host for CallState {
    fn report(&mut self, message: String, fraction: Option<f64>) -> wasmtime::Result<()> {
        self.may_go_on()?;
        let Some(report) = self.call.reports.take(&message, fraction) else {
            return Ok(());
        };
        let line = LogLine {
            component: &self.instance.component,
            level: LogLevel::Info,
            message: &report,
            from_host: false,
        };
        self.instance.log.write(line);
        self.call.reports.tell(report);
        Ok(())
    }
}
