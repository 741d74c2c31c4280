import { isObject, parseObject, type JsonValue } from "./json.ts";

/**
 * Secrets in JSON that operators write: passwords in addresses, headers, and members whose name or value is that of a
 * credential. They are stored sealed and shown as hints; a hint that a client sends stands for the stored secret.
 */

const MARK = "****";
const HINT_CHARS = 4;
/** For shorter secrets not even the last letters are shown. */
const SHORTEST_HINTED = 20;

/** The last word of a member's name, whatever the separator of its words. */
const SECRET_NAME =
  /(?:^|[_\-.\s]|(?<=[a-z0-9])(?=[A-Z]))(?:api[_-]?keys?|keys?|tokens?|secrets?|passwords?|passwd|passphrase|pwd|credentials?|authorization|signature|cookie|bearer)$/i;
/** The form of credentials, whatever their name. */
const SECRET_VALUE =
  /^\s*(?:bearer|basic)\s+\S{6,}|\beyJ[\w-]{8,}\.|^(?:sk|pk|rk|gsk|xai|pplx|ghp|gho|ghs|glpat|xox[abp]|hf|AIza|ya29)[-_.]?[\w.-]{12,}$|\b(?:AKIA|ASIA|ABSK)[A-Za-z0-9]{8,}|-----BEGIN [A-Z ]*PRIVATE KEY/i;
/** Headers that contain no secrets; every other header is hidden. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "anthropic-beta",
  "anthropic-version",
  "api-version",
  "content-type",
  "http-referer",
  "openai-beta",
  "openai-organization",
  "openai-project",
  "referer",
  "user-agent",
  "x-title",
]);
const HEADERS: ReadonlySet<string> = new Set(["headers", "header_override"]);
const NUMBER = /^-?\d{1,12}(?:\.\d+)?$/;
const WITH_SCHEME = /^(\s*[a-z][\w+.-]*:[\\/]{2,})([^\\/?#]*)@/i;
const SECRET_PARAMETER = /([?&](?:[\w.-]*(?:key|token|secret|password|signature|sig))=)[^&#]+/gi;

type Path = readonly string[];

/** Returns the text with hints in place of secrets; unchanged if there are none, or if it is not a JSON object. */
export function hintedText(text: string, path: Path = []): string {
  const value = parseExact(text);
  if (value === undefined || secretsIn(value, path).length === 0) return text;
  return JSON.stringify(hinted(value, path));
}

/** Returns any value with hints in place of secrets, including those in JSON texts. */
export function hinted(value: unknown, path: Path = []): unknown {
  return mapTexts(
    value,
    path,
    (text, at) => findHint(text, at) ?? (text.startsWith("{") ? hintedText(text, at) : text),
  );
}

export function hasSecrets(text: string, path: Path = []): boolean {
  return findSecrets(text, path).length > 0;
}

export interface FoundSecret {
  readonly path: Path;
  /** The whole text that contains it. */
  readonly text: string;
  /** True if it belongs to the address in which it is written. */
  readonly isInAddress: boolean;
}

/** Returns the secrets of a JSON text. */
export function findSecrets(text: string, path: Path = []): FoundSecret[] {
  const value = parseObject(text);
  return value === undefined ? [] : secretsIn(value, path);
}

/**
 * Returns the text with each hint replaced by the value that `stored` has at the same place; or, if a hint has no
 * stored value there, the path of the field in `unknown`.
 */
export function restoredText(
  text: string,
  stored: string | null | undefined,
  path: Path = [],
): { readonly text: string } | { readonly unknown: string } {
  if (!text.includes(MARK)) return { text };
  const sources = new Map(findSecrets(stored ?? "", path).map((found) => [pathText(found.path), found.text]));
  let unknown: string | undefined;
  const restored = (given: string, at: Path): string => {
    if (given.startsWith("{") && given.includes(MARK))
      return JSON.stringify(mapTexts(parseExact(given), at, restored)) ?? given;
    if (!isHint(given)) return given;
    const source = sources.get(pathText(at));
    if (source !== undefined && findHint(source, at) === given) return source;
    // A text of four asterisks is not a hint if a secret cannot be in that place.
    if (source !== undefined || findHint(given, at) !== undefined) unknown ??= at.slice(path.length).join(".");
    return given;
  };
  const whole = restored(text, path);
  return unknown === undefined ? { text: whole } : { unknown };
}

function isHint(text: string): boolean {
  return (
    /^\s*(?:(?:bearer|basic)\s+)?\*{4}[^*\s]{0,4}\s*$/i.test(text) || /(?:^|[:/])\*{4}@|=\*{4}(?:[&#]|$)/.test(text)
  );
}

/** Returns the text without its secret; undefined if it contains none. */
function findHint(text: string, path: Path): string | undefined {
  const inAddress = hintedAddress(text);
  if (inAddress !== undefined) return inAddress;
  if (!isSecret(text, path)) return undefined;
  return MARK + (text.length >= SHORTEST_HINTED ? text.slice(-HINT_CHARS) : "");
}

/** Hides passwords before the host and values of parameters that are credentials. */
function hintedAddress(text: string): string | undefined {
  const masked = text.replace(WITH_SCHEME, hideAccount);
  const result = /^\s*[a-z][\w+.-]*:[\\/]/i.test(text) ? masked.replace(SECRET_PARAMETER, `$1${MARK}`) : masked;
  if (result !== text) return result;
  // Other spellings of the same address, such as `http:user:password@host`.
  const parsed = URL.parse(text);
  return parsed && (parsed.username !== "" || parsed.password !== "") && parsed.host !== "" ? MARK : undefined;
}

/** Hides the account of an address; one without a password is a secret itself. */
function hideAccount(_whole: string, scheme: string, account: string): string {
  return `${scheme}${account.slice(0, account.indexOf(":") + 1)}${MARK}@`;
}

function isSecret(text: string, path: Path): boolean {
  if (text.trim() === "" || NUMBER.test(text.trim())) return false;
  if (SECRET_VALUE.test(text)) return true;
  if (path.some((part) => HEADERS.has(part))) return isSecretHeader(path.at(-1) ?? "", text);
  // The entries of a list use its name.
  const name = path.findLast((part) => !/^\d+$/.test(part)) ?? "";
  return SECRET_NAME.test(name);
}

/**
 * Returns true if a header is secret. The key of the channel is inserted when a call is made, so its placeholder is not
 * a secret.
 */
function isSecretHeader(name: string, text: string): boolean {
  if (PLAIN_HEADERS.has(name.toLowerCase())) return false;
  return !/^\s*(?:bearer|basic|token|key)?\s*$/i.test(text.replaceAll("{key}", ""));
}

/** Returns the secrets of a value. */
export function secretsIn(value: unknown, path: Path = []): FoundSecret[] {
  const found: FoundSecret[] = [];
  mapTexts(value, path, (text, at) => {
    if (findHint(text, at) !== undefined)
      found.push({ path: at, text, isInAddress: hintedAddress(text) !== undefined });
    else if (text.startsWith("{")) found.push(...findSecrets(text, at));
    return text;
  });
  return found;
}

function mapTexts(value: unknown, path: Path, change: (text: string, path: Path) => string): unknown {
  if (typeof value === "string") return change(value, path);
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, [...path, String(index)], change));
  if (!isObject(value) || isRawJson(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapTexts(member, [...path, name], change)]),
  );
}

function pathText(path: Path): string {
  return JSON.stringify(path);
}

interface RawJson {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}

/** The type library does not have these yet. */
const { rawJSON, isRawJSON: isRawJson } = JSON as unknown as RawJson;

/** Parses an object whose numbers retain their digits when it is serialized again. */
function parseExact(text: string): JsonValue | undefined {
  if (parseObject(text) === undefined) return undefined;
  const keepDigits = (_name: string, value: unknown, { source }: { readonly source?: string } = {}): unknown =>
    typeof value === "number" && source !== undefined ? rawJSON(source) : value;
  return JSON.parse(text, keepDigits as (name: string, value: unknown) => unknown) as JsonValue;
}
