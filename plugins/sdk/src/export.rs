//! The macros that turn functions and a declaration into the exports of a component.

/// Exports a plugin: `export_tools!(declaration: "../plugin.json", call: call);`
///
/// `declaration` is the path of the JSON file, relative to the file that invokes the macro, as for `include_str!`.
/// `call` is a function `fn(&ToolCall) -> Result<ToolResult, E>` with `E: Into<ToolError>`; an error becomes a result
/// that the model reads as a failure.
#[macro_export]
macro_rules! export_tools {
    (declaration: $declaration:literal, call: $call:expr $(,)?) => {
        const _: () = {
            struct Component;

            impl $crate::bindings::Guest for Component {
                fn call(call: $crate::ToolCall) -> $crate::ToolResult {
                    $crate::answer($call(&call).map_err($crate::ToolError::from))
                }
            }

    $crate::bindings::export_bindings!(Component with_types_in $crate::bindings);

            $crate::export_declaration!($declaration);
        };
    };
}

/// Exports the declaration of a plugin without tools: `export_declaration!("../plugin.json");`
///
/// The path is relative to the file that invokes the macro, as for `include_str!`. [`export_tools!`](crate::export_tools) does
/// the same for a plugin with tools; a plugin has one declaration.
#[macro_export]
macro_rules! export_declaration {
    ($declaration:literal) => {
        const _: () = {
            // A static in a custom link section of a wasm object becomes a custom section of the module (with `#[used]`
            // it would stand in the data as well). Native object files have other rules for section names and no use
            // for this one.
            #[cfg(target_family = "wasm")]
            #[allow(dead_code)]
            #[unsafe(link_section = "windlass:plugin")]
            static DECLARATION: [u8; include_bytes!($declaration).len()] =
                *include_bytes!($declaration);
        };
    };
}

/// Exports the function behind the judges of a plugin: `export_judge!(judge);`
///
/// `judge` is a function `fn(&HookEvent) -> Result<Judgement, E>` with `E: Into<HookError>`; an error refuses. A plugin with
/// several judges tells them apart by `event.hook`.
#[macro_export]
macro_rules! export_judge {
    ($judge:expr $(,)?) => {
        const _: () = {
            struct Judge;

            impl $crate::bindings::judge::Guest for Judge {
                fn judge(
                    event: $crate::HookEvent,
                ) -> ::core::result::Result<$crate::Judgement, ::std::string::String> {
                    $judge(&event)
                        .map_err(|error| ::std::string::ToString::to_string(&$crate::HookError::from(error)))
                }
            }

    $crate::bindings::judge::export_judge_bindings!(Judge with_types_in $crate::bindings::judge);
        };
    };
}

/// Exports the function behind the observers of a plugin: `export_observer!(observe);`
///
/// `observe` is a function `fn(&HookEvent) -> Result<(), E>` with `E: Into<HookError>`; an error is reported, and the run goes
/// on. A plugin with several observers tells them apart by `event.hook`.
#[macro_export]
macro_rules! export_observer {
    ($observe:expr $(,)?) => {
        const _: () = {
            struct Observer;

            impl $crate::bindings::observer::Guest for Observer {
                fn observe(
                    event: $crate::HookEvent,
                ) -> ::core::result::Result<(), ::std::string::String> {
                    $observe(&event)
                        .map_err(|error| ::std::string::ToString::to_string(&$crate::HookError::from(error)))
                }
            }

    $crate::bindings::observer::export_observer_bindings!(Observer with_types_in $crate::bindings::observer);
        };
    };
}
