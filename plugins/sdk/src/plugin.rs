//! The macro that makes a component of functions.

/// Makes a plugin of functions with the attribute [`tool`](crate::tool).
///
/// ```ignore
/// windlass_plugin::plugin! {
///     tools: [count_lines, rename],
///     grants: { "filesystem": "write" },
///     limits: { "memory_bytes": 16777216, "timeout_ms": 5000 },
/// }
/// ```
///
/// `grants` and `limits` are JSON, as `wit/README.md` describes them; both may be left out. Name and version are those of the crate.
/// `windlass plugin build` makes the component, and asks it for the declaration.
#[macro_export]
macro_rules! plugin {
    (
        tools: [$($tool:ident),+ $(,)?]
        $(, grants: $grants:tt)?
        $(, limits: $limits:tt)?
        $(,)?
    ) => {
        const _: () = {
            struct Component;

            impl $crate::bindings::Guest for Component {
                fn call(call: $crate::ToolCall) -> $crate::ToolResult {
                    let name = call.name.as_str();
                    $(
                        if name == <$tool as $crate::Tool>::FACTS.name {
                            return $crate::answer(<$tool as $crate::Tool>::call(&call));
                        }
                    )+
                    $crate::answer(Err($crate::ToolError::new(format!("This plugin has no tool {name}."))))
                }
            }

            impl $crate::declared::Guest for Component {
                fn declaration() -> ::std::string::String {
                    // A constant: what describes the plugin is no part of the component that hosts load.
                    if ::core::option_env!("WINDLASS_DECLARE").is_none() {
                        return ::std::string::String::new();
                    }
                    #[allow(unused_mut, unused_assignments)]
                    let (mut grants, mut limits) = ($crate::serde_json::json!({}), $crate::serde_json::json!({}));
                    $(grants = $crate::serde_json::json!($grants);)?
                    $(limits = $crate::serde_json::json!($limits);)?
                    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
                    $crate::Declaration::new(name, version, grants, limits)
                        $(.tool::<$tool>())+
                        .into_json()
                }
            }

            $crate::bindings::export_bindings!(Component with_types_in $crate::bindings);
            $crate::declared::export_declared!(Component with_types_in $crate::declared);
        };
    };
}
