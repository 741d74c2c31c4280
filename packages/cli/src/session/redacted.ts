const SECRET = /key|token|password|secret|cookie|authorization|^code$|^value$|^config$|^variables$/i;
/** Names that hold the word, and no secret. */
const HARMLESS =
  /^(key_count|key_hint|multi_key|max_input_tokens|prompt_tokens|completion_tokens|token_name|keyword|tokens)$/i;

function isSecret(name: string): boolean {
  return SECRET.test(name) && !HARMLESS.test(name);
}

/** An address without the secrets of its query. */
export function redactedUrl(url: string): string {
  const parsed = new URL(url);
  for (const name of parsed.searchParams.keys()) if (isSecret(name)) parsed.searchParams.set(name, "REDACTED");
  return parsed.href;
}

/** A body of JSON without its secrets; of anything else only the size. */
export function redactedBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), (name, value: unknown) => (isSecret(name) ? "REDACTED" : value));
  } catch {
    return `(${body.length} characters)`;
  }
}
