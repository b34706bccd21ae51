//! Why a registry gave no plugin, in words for the person who named it.

use oci_client::errors::{OciDistributionError, OciErrorCode};
use windlass::http::DownloadError;

use super::error::InstallError;
use crate::cli::plain::{fit, one_line};

/// The columns that the words of a registry may take: some answer with a page.
const WORDS: usize = 200;

const NOT_THERE: &str =
    "the registry has no such artifact: check the repository and the tag, or digest";
const NOT_LET_IN: &str = "the registry does not let you have it: log in with `docker login`, or name yourself with --username and --password-stdin. Where it has no such repository, it may say the same";

/// What is wrong, and what to do.
pub(super) fn of(source: &str, error: &OciDistributionError) -> InstallError {
    use OciDistributionError as E;

    let reason = match error {
        E::RequestError(error) => return DownloadError::failed(source, error).into(),
        E::ImageManifestNotFoundError(_) => NOT_THERE.to_owned(),
        E::UnauthorizedError { .. } | E::AuthenticationFailure(_) => NOT_LET_IN.to_owned(),
        E::RegistryError { envelope, .. } => {
            let first = envelope.errors.first();
            first.map_or_else(|| unexpected(error), |it| of_code(&it.code, &it.message))
        }
        E::ServerError { code, message, .. } => of_status(*code, message),
        E::DigestError(fault) => format!(
            "what it sends is not what it was asked for ({}): the tag or digest may be wrong, or the registry damaged",
            words(&fault.to_string())
        ),
        E::ImageIndexParsingNoPlatformResolverError => {
            "it is a list of images for several platforms, not a component: push the component itself, such as with `wkg oci push`".to_owned()
        }
        E::IoError(fault) => format!("the connection broke: {fault}. Try again"),
        _ => unexpected(error),
    };
    InstallError::Registry {
        source_text: source.to_owned(),
        reason,
    }
}

fn of_code(code: &OciErrorCode, message: &str) -> String {
    use OciErrorCode as C;

    match code {
        C::BlobUnknown
        | C::ManifestBlobUnknown
        | C::ManifestUnknown
        | C::NameUnknown
        | C::NotFound => NOT_THERE.to_owned(),
        C::Unauthorized | C::Denied => NOT_LET_IN.to_owned(),
        C::Toomanyrequests => {
            "the registry takes no more requests at the moment: try again later".to_owned()
        }
        _ => format!("the registry says: {}", words(message)),
    }
}

fn of_status(status: u16, message: &str) -> String {
    match status {
        401 | 403 => NOT_LET_IN.to_owned(),
        404 => format!("{NOT_THERE}. Is it a registry?"),
        500.. => format!("the registry failed ({status}): try again later"),
        _ => format!(
            "it answered with {status}: {}. Is it a registry?",
            words(message)
        ),
    }
}

fn unexpected(error: &OciDistributionError) -> String {
    format!(
        "its answer is not that of a registry ({}): check the address",
        words(&error.to_string())
    )
}

/// The beginning of what a registry says, on a line.
fn words(text: &str) -> String {
    fit(&one_line(text), WORDS).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_5_a_page_in_place_of_an_answer_is_not_printed_whole() {
        let page = format!("<html>\n<p>\u{1b}[31m{}</p></html>", "x".repeat(100_000));
        for (status, remedy) in [
            (200, "Is it a registry?"),
            (404, "check the repository"),
            (503, "try again later"),
            (403, "docker login"),
        ] {
            let fault = of(
                "oci://example.com/a:1",
                &OciDistributionError::ServerError {
                    code: status,
                    url: "https://example.com/v2/a".to_owned(),
                    message: page.clone(),
                },
            );
            let said = fault.to_string();
            assert!(said.contains(remedy), "{said}");
            assert!(said.len() < 600 && !said.contains('\u{1b}'), "{said}");
        }
        let parsed = OciDistributionError::VersionedParsingError(page);
        let said = of("oci://example.com/a:1", &parsed).to_string();
        assert!(
            said.len() < 600 && said.contains("check the address"),
            "{said}"
        );
    }
}
