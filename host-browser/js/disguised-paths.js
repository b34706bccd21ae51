/**
 * What another layer might take for a way out of a directory, or for a name that a rule closes. The lists are JSON: the attacks on the
 * native host read them here, so that both hosts withstand the same ones.
 */

/** What might be taken for `..`, for a separator or for the root. */
export const LOOK_ALIKES = [
  "\uff0e\uff0e/outside/secret",
  "\uff0e\uff0e\uff0foutside\uff0fsecret",
  "..\uff0foutside\uff0fsecret",
  "\u2025/outside/secret",
  "\u2024\u2024/outside/secret",
  "..\u2215outside\u2215secret",
  "..\u2044outside\u2044secret",
  "..\\outside\\secret",
  "sub\\..\\..\\outside\\secret",
  "..\uff3coutside\uff3csecret",
  "%2e%2e/outside/secret",
  "%2E%2E%2Foutside%2Fsecret",
  "..%2foutside%2fsecret",
  "..%5coutside%5csecret",
  "%252e%252e/outside/secret",
  "..%c0%afoutside%c0%afsecret",
  "..\u200b/outside/secret",
  ".\u200d./outside/secret",
  "..\ufe0f/outside/secret",
  "..\u202e/outside/secret",
  ".. /outside/secret",
  ".../outside/secret",
  "..;/outside/secret",
  "\u2215etc\u2215passwd",
  "\uff0fetc\uff0fpasswd",
  "%2fetc%2fpasswd",
  "\\etc\\passwd",
  "file:/etc/passwd",
  "C:/etc/passwd",
  "~/outside/secret",
  "$PWD/../outside/secret-not-expanded",
  "\\outside\\secret",
  "file:///outside/secret",
  "..%2foutside/secret"
];

/** What might be taken for `.env`. */
export const SPELLINGS = [
  ".ENV",
  ".Env",
  ".\uff45\uff4e\uff56",
  "\uff0eenv",
  ".env ",
  ".env.",
  ".env\u200b",
  ".e\u0301nv",
  "%2eenv",
  ".env%00",
  ".env::$DATA",
  ".\\.env",
  "sub\\..\\.env"
];
