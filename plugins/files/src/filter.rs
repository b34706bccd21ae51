//! Which files a caller asked for: glob patterns and file types.

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use windlass_plugin::ToolError;

/// The maximum nesting of braces: each level is a recursive call when the pattern is compiled.
const DEEPEST: usize = 50;

/// Patterns and types that a file must match. Paths are given with a slash in front, relative to the tree.
pub(crate) struct Filter {
    globs: Override,
    types: Types,
}

impl Filter {
    /// Only files below the directory `base` that match one of the patterns, and none that matches one with `!` in
    /// front. Patterns are read as ripgrep's `--glob` reads them: without a slash they match at any depth.
    pub(crate) fn new<'a>(
        base: &str,
        globs: impl IntoIterator<Item = &'a str>,
        file_type: Option<&str>,
    ) -> Result<Self, ToolError> {
        let mut builder = OverrideBuilder::new(format!("/{base}"));
        for glob in globs {
            if depth(glob) > DEEPEST {
                return Err(ToolError::new(format!(
                    "The glob has braces in braces, more than {DEEPEST} deep."
                )));
            }
            builder.add(glob).map_err(|error| bad_glob(glob, &error))?;
        }
        let globs = builder
            .build()
            .map_err(|error| ToolError::new(format!("The glob cannot be used: {error}.")))?;
        Ok(Self {
            globs,
            types: select(file_type)?,
        })
    }

    /// Whether a file, or everything in a directory, is left out.
    pub(crate) fn exclude(&self, path: &str, is_directory: bool) -> bool {
        self.globs.matched(path, is_directory).is_ignore()
            || (!is_directory && self.types.matched(path, false).is_ignore())
    }
}

/// How many braces are open at once, at most.
fn depth(glob: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for character in glob.chars() {
        match character {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

fn bad_glob(glob: &str, error: &ignore::Error) -> ToolError {
    // The error repeats the pattern, in its own quotes.
    ToolError::new(format!("The glob `{glob}` is malformed: {error}."))
}

fn select(file_type: Option<&str>) -> Result<Types, ToolError> {
    let Some(file_type) = file_type else {
        return Ok(Types::empty());
    };
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    builder.select(file_type);
    builder.build().map_err(|_| {
        ToolError::new(format!(
            "There is no file type `{file_type}`. Types are named as in ripgrep (rust, py, js, ts, go, java, cpp, md); \
             or use glob instead."
        ))
    })
}

/// Splits a list of patterns at spaces and commas, except in braces.
pub(crate) fn split_globs(globs: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    globs
        .split(|character: char| {
            match character {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && (character == ',' || character.is_whitespace())
        })
        .filter(|glob| !glob.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_5_grep_glob_lists_are_taken_apart_outside_braces() {
        assert_eq!(
            split_globs("*.rs, *.{ts,tsx} !a*"),
            ["*.rs", "*.{ts,tsx}", "!a*"]
        );
        assert_eq!(split_globs(" "), [""; 0]);
    }
}
