import { isIPv6 } from "node:net";

const HIDDEN = "***";
/** A piece of a secret this long is worth hiding; a shorter secret is hidden where it is as a word. */
const PIECE = 8;
const REGION = /^[a-z]{2,}(?:-[a-z]+)+-\d$/;

/** Each begins where nothing of its kind comes before: what does not match is not tried again a letter further on. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g, HIDDEN],
  [/\bBearer\s+[\w.~+/=|-]{6,}/gi, `Bearer ${HIDDEN}`],
  [/\b(?:sk|pk|rk|gsk|xai|pplx|fw|jina|hf|pat|ak|app)[-_][\w*-]{6,}/g, HIDDEN],
  [/\bAIza[\w-]{8,}/g, HIDDEN],
  [/\bya29\.[\w.-]+/g, HIDDEN],
  [/\b(?:AKIA|ASIA|AKID|ABSK|AIDA|AROA)[A-Za-z0-9]{8,}/g, HIDDEN],
  [/[\w-]{1,16}\*{3,}[\w-]{0,16}/g, HIDDEN],
  [/\b(?:org-|org_|proj_|proj-|acct_)[\w-]{3,}/g, HIDDEN],
  [/(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, HIDDEN],
  [/\b(https?|wss?):\/\/(?:[^\s/?#"'<>)]*)/gi, `$1://${HIDDEN}`],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b/g, HIDDEN],
];

export interface Secrets {
  readonly key: string;
  readonly baseUrl: string;
}

/**
 * Takes out of an upstream's message what belongs to the operator: the channel's key and pieces of it, credentials of
 * known forms, hosts, addresses, organisations, e-mail addresses.
 */
export function mask(message: string, secrets: Secrets): string {
  let text = message;
  for (const secret of partsOf(secrets.key)) {
    text = secret.length < PIECE ? hideWord(text, secret) : hidePieces(text, secret);
  }
  const host = hostOf(secrets.baseUrl);
  if (host !== undefined) text = text.replaceAll(host, HIDDEN);
  for (const [pattern, replacement] of PATTERNS) text = text.replace(pattern, replacement);
  return text.replace(/(?<![\w:.])[0-9a-f:.]+(?![\w:])/gi, (found) => (isIPv6(found) ? HIDDEN : found));
}

/** The secret parts of a key: `id|secret|region` by part, a service account by its private members. */
function partsOf(key: string): string[] {
  const parts = key.trimStart().startsWith("{") ? membersOf(key) : key.split("|");
  return parts.map((part) => part.trim()).filter((part) => part !== "" && !REGION.test(part));
}

function membersOf(key: string): string[] {
  try {
    const account = JSON.parse(key) as Record<string, unknown>;
    const members = ["private_key", "private_key_id", "client_email", "client_id", "project_id"];
    return members.map((member) => account[member]).filter((value) => typeof value === "string");
  } catch {
    return [key];
  }
}

/** Short secrets are words of their own: inside of longer words they are a coincidence. */
function hideWord(text: string, secret: string): string {
  const word = new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(secret)}(?![\\p{L}\\p{N}])`, "gu");
  return text.replace(word, HIDDEN);
}

/** Replaces every stretch of at least eight characters that also is in the secret. */
function hidePieces(text: string, secret: string): string {
  let result = "";
  let at = 0;
  while (at < text.length) {
    let length = at + PIECE <= text.length && secret.includes(text.slice(at, at + PIECE)) ? PIECE : 0;
    if (length === 0) {
      result += text[at++];
      continue;
    }
    while (at + length < text.length && secret.includes(text.slice(at, at + length + 1))) length++;
    result += HIDDEN;
    at += length;
  }
  return result;
}

function hostOf(baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { host } = new URL(baseUrl);
  return host === "" ? undefined : host;
}
