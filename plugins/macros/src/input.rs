//! `#[input]`: a struct or enum as the input of a tool, or as a part of one.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Item, Result, spanned::Spanned};

/// The item, with what reads it from JSON and what makes its schema.
pub(crate) fn expand(attributes: TokenStream, item: Item) -> Result<TokenStream> {
    if !attributes.is_empty() {
        let message =
            "`#[input]` takes nothing: use `#[serde(…)]` and `#[schemars(…)]` on the fields";
        return Err(Error::new(attributes.span(), message));
    }
    // A field that a model misspells is an error that it can mend, and not an input that means something else.
    let strict = match &item {
        Item::Struct(_) => quote!(, deny_unknown_fields),
        Item::Enum(_) => TokenStream::new(),
        other => {
            let message = "`#[input]` stands before a struct or an enum";
            return Err(Error::new(other.span(), message));
        }
    };
    Ok(quote! {
        #[derive(
            ::core::fmt::Debug,
            ::windlass_plugin::serde::Deserialize,
            ::windlass_plugin::schemars::JsonSchema,
        )]
        #[serde(crate = "::windlass_plugin::serde" #strict)]
        #[schemars(crate = "::windlass_plugin::schemars")]
        #item
    })
}
