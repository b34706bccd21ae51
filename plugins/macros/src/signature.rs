//! The parameters of a function that is a tool.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, FnArg, ItemFn, Result, Type, spanned::Spanned};

/// What a tool function takes.
pub(crate) struct Signature {
    /// The type of its input.
    pub(crate) input: Type,
    /// What stands in a call of it after the input.
    pub(crate) rest: Vec<TokenStream>,
}

/// Reads the parameters: an input, and then references to what the call brings.
///
/// # Errors
/// What is not understood, at the place where it stands.
pub(crate) fn read(function: &ItemFn) -> Result<Signature> {
    let signature = &function.sig;
    if let Some(asyncness) = &signature.asyncness {
        let message =
            "a tool is a plain function: the functions of the host return when they are done";
        return Err(Error::new(asyncness.span(), message));
    }
    if !signature.generics.params.is_empty() {
        let message = "a tool has no type parameters: its schema is made of the type of its input";
        return Err(Error::new(signature.generics.span(), message));
    }
    let mut types = Vec::new();
    for parameter in &signature.inputs {
        match parameter {
            FnArg::Typed(parameter) => types.push(parameter.ty.as_ref()),
            FnArg::Receiver(receiver) => {
                let message = "a tool is a function, not a method: each call has a fresh instance";
                return Err(Error::new(receiver.span(), message));
            }
        }
    }
    let Some((input, rest)) = types.split_first() else {
        let message =
            "a tool takes its input: a struct with the attribute `#[input]`, even without fields";
        return Err(Error::new(signature.paren_token.span.join(), message));
    };
    Ok(Signature {
        input: (*input).clone(),
        rest: rest.iter().map(|ty| argument(ty)).collect::<Result<_>>()?,
    })
}

/// What is passed for a parameter after the input.
fn argument(parameter: &Type) -> Result<TokenStream> {
    let unknown = || {
        let message = "after its input a tool may take `&Workspace` (the granted directories) and `&ToolCall`";
        Error::new(parameter.span(), message)
    };
    let Type::Reference(reference) = parameter else {
        return Err(unknown());
    };
    let Type::Path(path) = reference.elem.as_ref() else {
        return Err(unknown());
    };
    let last = path.path.segments.last().ok_or_else(unknown)?;
    if last.ident == "Workspace" {
        Ok(quote!(&::windlass_plugin::Workspace::granted()))
    } else if last.ident == "ToolCall" {
        Ok(quote!(call))
    } else {
        Err(unknown())
    }
}
