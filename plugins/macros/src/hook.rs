//! `#[judge]` and `#[observer]`: functions as hooks.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Error, FnArg, ItemFn, LitInt, LitStr, Result, Type, meta::ParseNestedMeta, parse::Parser,
    spanned::Spanned,
};

use crate::text::upper_camel_case;

/// What a hook may answer.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// That a call is refused, asked about or narrowed.
    Judge,
    /// Nothing.
    Observer,
}

/// What stands in the brackets.
#[derive(Default)]
struct HookAttributes {
    on: Option<LitStr>,
    matcher: Option<LitStr>,
    name: Option<LitStr>,
    timeout_ms: Option<LitInt>,
}

impl HookAttributes {
    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.get_ident().map(ToString::to_string);
        match name.as_deref() {
            Some("on") => self.on = Some(meta.value()?.parse()?),
            Some("matcher") => self.matcher = Some(meta.value()?.parse()?),
            Some("name") => self.name = Some(meta.value()?.parse()?),
            Some("timeout_ms") => self.timeout_ms = Some(meta.value()?.parse()?),
            _ => {
                return Err(meta.error(
                    "a hook has `on = \"…\"` (the event), `matcher = \"…\"`, `name = \"…\"` and `timeout_ms = …`",
                ));
            }
        }
        Ok(())
    }
}

/// The function, and beside it a type of the same name that implements the trait of its kind.
pub(crate) fn expand(kind: Kind, tokens: TokenStream, function: &ItemFn) -> Result<TokenStream> {
    let mut attributes = HookAttributes::default();
    syn::meta::parser(|meta| attributes.take(&meta)).parse2(tokens)?;
    let (ident, visibility) = (&function.sig.ident, &function.vis);
    let Some(on) = attributes.on else {
        let message = "a hook needs an event: `on = \"PreToolUse\"`";
        return Err(Error::new(ident.span(), message));
    };
    let name = attributes
        .name
        .unwrap_or_else(|| LitStr::new(&upper_camel_case(&ident.to_string()), ident.span()));
    let matcher = optional(attributes.matcher.as_ref());
    let timeout = optional(attributes.timeout_ms.as_ref());
    let input = argument(function)?;
    let (kind, kind_name, method, answer) = match kind {
        Kind::Judge => (
            quote!(Judge),
            "judge",
            quote!(judge),
            quote!(::windlass_plugin::Judgement),
        ),
        Kind::Observer => (quote!(Observer), "observer", quote!(observe), quote!(())),
    };
    let into = match kind_name {
        "judge" => quote!(::windlass_plugin::IntoJudgement::into_judgement),
        _ => quote!(::windlass_plugin::IntoObserved::into_observed),
    };
    Ok(quote! {
        #function

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #visibility struct #ident {}

        impl ::windlass_plugin::#kind for #ident {
            const FACTS: ::windlass_plugin::HookFacts = ::windlass_plugin::HookFacts {
                name: #name,
                kind: #kind_name,
                event: #on,
                matcher: #matcher,
                timeout_ms: #timeout,
            };

            fn #method(
                event: &::windlass_plugin::HookEvent,
            ) -> ::core::result::Result<#answer, ::windlass_plugin::HookError> {
                #into(#ident(#input))
            }
        }
    })
}

/// What the function is called with: the event itself, or its input in a type.
fn argument(function: &ItemFn) -> Result<TokenStream> {
    let mut parameters = function.sig.inputs.iter();
    match (parameters.next(), parameters.next()) {
        (Some(FnArg::Typed(parameter)), None) => Ok(match parameter.ty.as_ref() {
            Type::Reference(_) => quote!(event),
            _ => quote!(event.input()?),
        }),
        _ => {
            let message = "a hook takes one parameter: `&HookEvent`, or a type that its input is read into, such as `event::PreToolUse`";
            Err(Error::new(function.sig.inputs.span(), message))
        }
    }
}

fn optional(value: Option<&impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn what_is_no_hook_is_said_where_it_stands() {
        let refused = |attributes: TokenStream, function: ItemFn| {
            expand(Kind::Judge, attributes, &function)
                .unwrap_err()
                .to_string()
        };
        let error = refused(
            quote!(),
            parse_quote!(
                fn a(event: &HookEvent) {}
            ),
        );
        assert!(error.contains("needs an event"), "{error}");
        let error = refused(
            quote!(on = "Stop"),
            parse_quote!(
                fn a() {}
            ),
        );
        assert!(error.contains("one parameter"), "{error}");
        let error = refused(
            quote!(event = "Stop"),
            parse_quote!(
                fn a(event: &HookEvent) {}
            ),
        );
        assert!(error.contains("`on = "), "{error}");
    }
}
