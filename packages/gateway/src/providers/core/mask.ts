import { isIPv6 } from "node:net";
import { Lru } from "../../lib/lru.ts";
import { isObject, parseObject } from "../../lib/text/json.ts";
import { secretsIn } from "../../lib/text/secret-members.ts";
import { createPieceFinder, PIECE, type PieceFinder } from "./secret-forms.ts";
import type { ChannelRecord } from "./types.ts";
import type { UpstreamError } from "./failed-answer.ts";
import { decodePercent } from "../../lib/text/percent-encoding.ts";

const HIDDEN = "***";
const REGION = /^[a-z]{2,}(?:-[a-z]+)+-\d$/;

/**
 * Each pattern requires that no character of its kind comes before it: a failed match is not retried a letter later.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g, HIDDEN],
  [/\bBasic\s+(?=[A-Za-z0-9+/_-]*[A-Z0-9])[A-Za-z0-9+/_-]{8,}=*/g, `Basic ${HIDDEN}`],
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
  /** All keys of the channel, joined by line feeds. */
  readonly key: string;
  readonly baseUrl: string;
  /** Further secrets, such as the password of a proxy. */
  readonly others?: readonly string[];
}

/** Collects the secrets that an upstream of the channel may repeat but no client may read. */
export function collectSecrets(channel: ChannelRecord, key: string, defaultUrl = ""): Secrets {
  return { key, baseUrl: channel.baseUrl || defaultUrl, others: settingSecrets(channel) };
}

/**
 * Removes the operator's data from an upstream's message: the channel's secrets, pieces of them and their encodings,
 * credentials of known forms, hosts, addresses, organisations, e-mail addresses.
 */
export function mask(message: string, secrets: Secrets): string {
  let text = hideSecrets(message, secrets);
  const host = parseHost(secrets.baseUrl);
  if (host !== undefined) text = text.replace(new RegExp(RegExp.escape(host), "gi"), HIDDEN);
  for (const [pattern, replacement] of PATTERNS) text = text.replace(pattern, replacement);
  return text.replace(/(?<![\w:.])[0-9a-f:.]+(?![\w:])/gi, (found) => (isIPv6(found) ? HIDDEN : found));
}

/** Returns the error without the operator's data. Codes and types stay unchanged, because programs read them. */
export function maskError(error: UpstreamError, secrets: Secrets): UpstreamError {
  const hide = (text: string | undefined) => text && hideSecrets(text, secrets);
  return {
    ...error,
    message: mask(error.message, secrets),
    type: hide(error.type),
    code: hide(error.code),
    param: hide(error.param),
    ...(error.innerError && { innerError: maskValue(error.innerError, secrets) }),
  };
}

/** Removes the secrets from every text of a value; nothing else is changed. */
export function maskValue<T>(value: T, secrets: Secrets): T {
  if (typeof value === "string") return hideSecrets(value, secrets) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => maskValue(item, secrets)) as T;
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [hideSecrets(name, secrets), maskValue(member, secrets)]),
  ) as T;
}

function hideSecrets(message: string, { key, others = [] }: Secrets): string {
  const { words, pieces } = getFinder(key, others);
  const text = pieces.hide(message, HIDDEN);
  return words.reduce((shown, word) => shown.replace(word, HIDDEN), text);
}

interface Finder {
  /** Patterns of secrets that are too short to be searched by pieces. */
  readonly words: readonly RegExp[];
  readonly pieces: PieceFinder;
}

const MAX_FINDERS = 256;
const finders = new Lru<string, Finder>(MAX_FINDERS);

function getFinder(key: string, others: readonly string[]): Finder {
  const name = JSON.stringify([key, others]);
  const known = finders.get(name);
  if (known) return known;
  const parts = [...splitSecretParts(key), ...others.map((other) => other.trim()).filter((other) => other !== "")];
  const finder = {
    words: parts.filter((part) => part.length < PIECE).map(wordPattern),
    pieces: createPieceFinder(parts),
  };
  finders.set(name, finder);
  return finder;
}

/** Matches a short secret only as a whole word: inside a longer word it is a coincidence. */
function wordPattern(secret: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${RegExp.escape(secret)}(?![\\p{L}\\p{N}])`, "giu");
}

/**
 * Returns the secret parts of a key: the parts of `id|secret|region`, the private members of a key file, the lines of
 * several keys.
 */
function splitSecretParts(key: string): string[] {
  const file = parseObject(key);
  const parts = file ? listSecretMembers(file) : key.split(/[|\n]/);
  return parts.map((part) => part.trim()).filter((part) => part !== "" && !REGION.test(part));
}

/** Members of key files that are not secret. */
const PUBLIC_MEMBERS: ReadonlySet<string> = new Set([
  "type",
  "auth_uri",
  "token_uri",
  "auth_provider_x509_cert_url",
  "universe_domain",
]);

function listSecretMembers(file: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(file).flatMap(([name, value]) => {
    if (typeof value !== "string" || PUBLIC_MEMBERS.has(name)) return [];
    return value.includes("-----BEGIN") ? [pemBody(value)] : [value];
  });
}

/**
 * Returns the body of a PEM key. Its first and last line are left out, because ordinary messages contain their words.
 */
function pemBody(pem: string): string {
  return pem.replace(/-----[A-Z ]+-----/g, "").replace(/\\n|\s/g, "");
}

const channelSecrets = new WeakMap<ChannelRecord, readonly string[]>();

/** Returns the secrets in a channel's settings, headers and parameters. */
function settingSecrets(channel: ChannelRecord): readonly string[] {
  const known = channelSecrets.get(channel);
  if (known) return known;
  const { setting, paramOverride, headers } = channel;
  const texts = [
    ...secretsIn(setting),
    ...secretsIn(paramOverride ?? {}),
    ...secretsIn(Object.fromEntries(headers), ["headers"]),
  ].map(({ text }) => text);
  const found = texts.flatMap((text) => addressSecrets(text) ?? [text.replace(/^\s*(?:bearer|basic)\s+/i, "")]);
  channelSecrets.set(channel, found);
  return found;
}

/** Returns an address's password (or the account in place of one) and parameters. */
function addressSecrets(text: string): string[] | undefined {
  const url = URL.parse(text);
  if (!url || url.host === "") return undefined;
  const account = url.password === "" ? url.username : url.password;
  const parameters = [...url.searchParams.values()].filter((value) => value.length >= PIECE);
  return [account, decodePercent(account) ?? account, ...parameters].filter((secret) => secret !== "");
}

function parseHost(baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { host } = new URL(baseUrl);
  return host === "" ? undefined : host;
}
