//! The macro that makes a component of functions.

/// Makes a plugin of functions with the attributes [`tool`](macro@crate::tool), [`judge`](macro@crate::judge) and
/// [`observer`](macro@crate::observer).
///
/// ```ignore
/// windlass_plugin::plugin! {
///     tools: [count_lines, rename],
///     judges: [no_writes_elsewhere],
///     observers: [audit],
///     grants: { "filesystem": "write" },
///     limits: { "memory_bytes": 16777216, "timeout_ms": 5000 },
/// }
/// ```
///
/// Each part may be left out. `grants` and `limits` are JSON, as `wit/README.md` describes them. With
/// `instance: "session"` at the end, the tools keep what lies in memory (a `static`, a `thread_local!`) from call to call of a
/// session, at most; without it, each call begins anew. Name and version are those of the crate. `windlass plugin build` makes the component, and asks it for the declaration.
#[macro_export]
macro_rules! plugin {
    (
        $(tools: [$($tool:ident),+ $(,)?] $(,)?)?
        $(judges: [$($judge:ident),+ $(,)?] $(,)?)?
        $(observers: [$($observer:ident),+ $(,)?] $(,)?)?
        $(grants: $grants:tt $(,)?)?
        $(limits: $limits:tt $(,)?)?
        $(instance: $instance:literal $(,)?)?
    ) => {
        const _: () = {
            struct Component;

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
                        $(.instance($instance))?
                        $($(.tool::<$tool>())+)?
                        $($(.hook(<$judge as $crate::Judge>::FACTS))+)?
                        $($(.hook(<$observer as $crate::Observer>::FACTS))+)?
                        .into_json()
                }
            }

            $crate::declared::export_declared!(Component with_types_in $crate::declared);

            $crate::plugin_tools!($($($tool),+)?);
            $crate::plugin_judges!($($($judge),+)?);
            $crate::plugin_observers!($($($observer),+)?);
        };
    };
}

/// The export of the tools, if there are any.
#[doc(hidden)]
#[macro_export]
macro_rules! plugin_tools {
    () => {};
    ($($tool:ident),+) => {
        const _: () = {
            struct Tools;

            impl $crate::bindings::Guest for Tools {
                fn call(call: $crate::ToolCall) -> $crate::ToolResult {
                    let name = call.name.as_str();
                    $(
                        if name == <$tool as $crate::Tool>::FACTS.name {
                            return $crate::answer(<$tool as $crate::Tool>::call(&call));
                        }
                    )+
                    let error = $crate::ToolError::new(::std::format!("This plugin has no tool {name}."));
                    $crate::answer(Err(error))
                }
            }

            $crate::bindings::export_bindings!(Tools with_types_in $crate::bindings);
        };
    };
}

/// The export of the judges, if there are any.
#[doc(hidden)]
#[macro_export]
macro_rules! plugin_judges {
    () => {};
    ($($judge:ident),+) => {
        fn judge(event: &$crate::HookEvent) -> ::core::result::Result<$crate::Judgement, $crate::HookError> {
            let name = event.hook.as_str();
            $(
                if name == <$judge as $crate::Judge>::FACTS.name {
                    return <$judge as $crate::Judge>::judge(event);
                }
            )+
            Err($crate::HookError::new(::std::format!("this plugin has no judge {name}")))
        }

        $crate::export_judge!(judge);
    };
}

/// The export of the observers, if there are any.
#[doc(hidden)]
#[macro_export]
macro_rules! plugin_observers {
    () => {};
    ($($observer:ident),+) => {
        fn observe(event: &$crate::HookEvent) -> ::core::result::Result<(), $crate::HookError> {
            let name = event.hook.as_str();
            $(
                if name == <$observer as $crate::Observer>::FACTS.name {
                    return <$observer as $crate::Observer>::observe(event);
                }
            )+
            Err($crate::HookError::new(::std::format!("this plugin has no observer {name}")))
        }

        $crate::export_observer!(observe);
    };
}
