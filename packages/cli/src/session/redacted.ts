import { CHANNEL_FIELDS } from "@fairway/wire";

const SECRET = /key|token|password|secret|cookie|authorization|^code$|^value$|^config$|^variables$/i;
/** Names that contain such a word but hold no secret. */
const HARMLESS = /^(key_count|key_hint|multi_key|prompt_tokens|completion_tokens|token_name|keyword|tokens)$/i;

function isSecret(name: string): boolean {
  return SECRET.test(name) && !HARMLESS.test(name) && !Object.hasOwn(CHANNEL_FIELDS, name);
}

/** Returns an address without the secrets of its query. */
export function redactedUrl(url: string): string {
  const parsed = new URL(url);
  for (const name of parsed.searchParams.keys()) if (isSecret(name)) parsed.searchParams.set(name, "REDACTED");
  return parsed.href;
}

/** Returns a JSON body without its secrets, and only the size of any other body. */
export function redactedBody(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), (name, value: unknown) => (isSecret(name) ? "REDACTED" : value));
  } catch {
    return `(${body.length} characters)`;
  }
}
