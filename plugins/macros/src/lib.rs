//! The attributes `#[tool]` and `#[input]` of the crate `windlass-plugin`, which exports and documents them.

mod attributes;
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
