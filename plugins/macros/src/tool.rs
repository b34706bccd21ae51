//! `#[tool]`: a function as a tool.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, LitStr, Result};

use crate::{
    attributes::ToolAttributes,
    signature,
    text::{documentation, upper_camel_case},
};

/// The function, and beside it a type of the same name that implements `windlass_plugin::Tool`: types and functions have name
/// spaces of their own, so `plugin!` can name both by one word.
pub(crate) fn expand(attributes: TokenStream, function: ItemFn) -> Result<TokenStream> {
    let attributes = ToolAttributes::parse(attributes)?;
    let signature = signature::read(&function)?;
    let ident = &function.sig.ident;
    let visibility = &function.vis;
    let name = attributes
        .name
        .unwrap_or_else(|| LitStr::new(&upper_camel_case(&ident.to_string()), ident.span()));
    let description = attributes
        .description
        .unwrap_or_else(|| LitStr::new(&documentation(&function.attrs), ident.span()));
    if description.value().trim().is_empty() {
        let message =
            "a tool needs a documentation comment: the model reads it to know what the tool is for";
        return Err(Error::new(ident.span(), message));
    }
    let (read_only, destructive) = (attributes.read_only, attributes.destructive);
    let (idempotent, open_world) = (attributes.idempotent, attributes.open_world);
    let retry = attributes
        .retry
        .unwrap_or_else(|| LitStr::new("never", ident.span()));
    let timeout = match attributes.timeout_ms {
        Some(timeout) => quote!(::core::option::Option::Some(#timeout)),
        None => quote!(::core::option::Option::None),
    };
    let (input, rest) = (&signature.input, &signature.rest);
    Ok(quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility struct #ident {}

        impl ::windlass_plugin::Tool for #ident {
            type Input = #input;

            const FACTS: ::windlass_plugin::ToolFacts = ::windlass_plugin::ToolFacts {
                name: #name,
                description: #description,
                read_only: #read_only,
                destructive: #destructive,
                idempotent: #idempotent,
                open_world: #open_world,
                retry: #retry,
                timeout_ms: #timeout,
            };

            fn call(
                call: &::windlass_plugin::ToolCall,
            ) -> ::core::result::Result<::windlass_plugin::ToolResult, ::windlass_plugin::ToolError> {
                let input: #input = call.parse_input()?;
                ::windlass_plugin::IntoToolResult::into_tool_result(#ident(input, #(#rest),*))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn refused(attributes: TokenStream, function: ItemFn) -> String {
        expand(attributes, function).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_tool_is_said_where_it_stands() {
        let nothing = TokenStream::new;
        let error = refused(
            nothing(),
            parse_quote!(
                fn a(input: Input) {}
            ),
        );
        assert!(error.contains("documentation comment"), "{error}");
        let error = refused(
            nothing(),
            parse_quote!(
                #[doc = "A."]
                fn a() {}
            ),
        );
        assert!(error.contains("takes its input"), "{error}");
        let error = refused(
            nothing(),
            parse_quote!(
                #[doc = "A."]
                async fn a(input: Input) {}
            ),
        );
        assert!(error.contains("plain function"), "{error}");
        let error = refused(
            nothing(),
            parse_quote!(
                #[doc = "A."]
                fn a(input: Input, x: u8) {}
            ),
        );
        assert!(error.contains("&Workspace"), "{error}");
        let error = refused(
            nothing(),
            parse_quote!(
                #[doc = "A."]
                fn a<T>(input: T) {}
            ),
        );
        assert!(error.contains("type parameters"), "{error}");
        let error = refused(
            quote!(readonly),
            parse_quote!(
                #[doc = "A."]
                fn a(input: Input) {}
            ),
        );
        assert!(error.contains("read_only"), "{error}");
        let error = refused(
            quote!(retry = "x"),
            parse_quote!(
                #[doc = "A."]
                fn a(input: Input) {}
            ),
        );
        assert!(error.contains("run_again"), "{error}");
    }
}
