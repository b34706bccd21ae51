//! The attributes `#[tool]`, `#[input]`, `#[judge]` and `#[observer]` of the crate `windlass-plugin`, which exports and documents them.

mod attributes;
mod hook;
mod input;
mod signature;
mod text;
mod tool;

use proc_macro::TokenStream;
use syn::{Item, ItemFn, parse_macro_input};

/// See `windlass_plugin::tool`.
#[proc_macro_attribute]
pub fn tool(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    tool::expand(attributes.into(), function)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// See `windlass_plugin::input`.
#[proc_macro_attribute]
pub fn input(attributes: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as Item);
    input::expand(attributes.into(), item)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// See `windlass_plugin::judge`.
#[proc_macro_attribute]
pub fn judge(attributes: TokenStream, item: TokenStream) -> TokenStream {
    hook(hook::Kind::Judge, attributes, item)
}

/// See `windlass_plugin::observer`.
#[proc_macro_attribute]
pub fn observer(attributes: TokenStream, item: TokenStream) -> TokenStream {
    hook(hook::Kind::Observer, attributes, item)
}

fn hook(kind: hook::Kind, attributes: TokenStream, item: TokenStream) -> TokenStream {
    let function = parse_macro_input!(item as ItemFn);
    hook::expand(kind, attributes.into(), &function)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
