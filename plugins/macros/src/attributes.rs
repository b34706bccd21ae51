//! What stands in the brackets of `#[tool(…)]`.

use proc_macro2::TokenStream;
use syn::{LitInt, LitStr, Result, meta::ParseNestedMeta, parse::Parser};

/// The attributes of a tool.
#[derive(Default)]
pub(crate) struct ToolAttributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) retry: Option<LitStr>,
    pub(crate) timeout_ms: Option<LitInt>,
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
    pub(crate) open_world: bool,
}

impl ToolAttributes {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut attributes = Self::default();
        syn::meta::parser(|meta| attributes.take(&meta)).parse2(tokens)?;
        Ok(attributes)
    }

    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.get_ident().map(ToString::to_string);
        match name.as_deref() {
            Some("name") => self.name = Some(meta.value()?.parse()?),
            Some("description") => self.description = Some(meta.value()?.parse()?),
            Some("retry") => self.retry = Some(retry(meta)?),
            Some("timeout_ms") => self.timeout_ms = Some(meta.value()?.parse()?),
            Some("read_only") => self.read_only = true,
            Some("destructive") => self.destructive = true,
            Some("idempotent") => self.idempotent = true,
            Some("open_world") => self.open_world = true,
            _ => {
                return Err(meta.error(
                    "a tool has `read_only`, `destructive`, `idempotent`, `open_world`, `name = \"…\"`, `description = \"…\"`, \
                     `retry = \"…\"` and `timeout_ms = …`",
                ));
            }
        }
        Ok(())
    }
}

fn retry(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    let class: LitStr = meta.value()?.parse()?;
    match class.value().as_str() {
        "never" | "run_again" | "run_again_with_key" => Ok(class),
        _ => Err(syn::Error::new(
            class.span(),
            "`retry` is \"never\", \"run_again\" or \"run_again_with_key\"",
        )),
    }
}
