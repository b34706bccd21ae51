//! Texts that a declaration takes from the source: names and documentation.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The documentation of an item as one text: lines of a paragraph are joined, an empty line separates paragraphs.
pub(crate) fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(line);
    let mut text = String::new();
    for line in lines.flat_map(|line| line.lines().map(str::to_owned).collect::<Vec<_>>()) {
        match line.trim() {
            "" if text.is_empty() || text.ends_with('\n') => {}
            "" => text.push_str("\n\n"),
            line => {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push(' ');
                }
                text.push_str(line);
            }
        }
    }
    text.trim_end().to_owned()
}

/// The text of one documentation comment. An empty line of a comment is an empty text, which has no lines, so it is one here.
fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = &meta.value
    else {
        return None;
    };
    let text = text.value();
    meta.path.is_ident("doc").then(|| {
        if text.is_empty() {
            "\n".to_owned()
        } else {
            text
        }
    })
}

/// `CountLines` for `count_lines`.
pub(crate) fn upper_camel_case(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn documentation_becomes_paragraphs() {
        let item: syn::ItemStruct = parse_quote! {
            /// Counts the
            /// lines.
            ///
            /// Of one file.
            #[derive(Debug)]
            struct A;
        };
        assert_eq!(
            documentation(&item.attrs),
            "Counts the lines.\n\nOf one file."
        );
    }

    #[test]
    fn names_of_functions_become_names_of_tools() {
        assert_eq!(upper_camel_case("count_lines"), "CountLines");
        assert_eq!(upper_camel_case("_go2"), "Go2");
    }
}
