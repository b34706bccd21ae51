//! The macro that turns a function and a declaration into the exports of a component.

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
