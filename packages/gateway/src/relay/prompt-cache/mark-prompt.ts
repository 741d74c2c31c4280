import { createHash } from "node:crypto";
import type { DialectId } from "../../dialects/core/types.ts";
import { spliceMembers } from "../../lib/text/json-splice.ts";
import type { ChannelRecord, ProviderAdapter } from "../../providers/core/types.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { RelayRequest } from "../request/request.ts";
import { placeBlockMarks, type MarkLife } from "./block-marks.ts";
import { placeBreakpoint } from "./breakpoints.ts";
import { applyEdits, type MarkPlaces } from "./byte-edits.ts";
import { placeCachePoints } from "./cache-points.ts";
import { readCachingMode, type CachingMode } from "./caching-mode.ts";
import { refusesMarks } from "./refused-marks.ts";
import type { SeenPrefixes } from "./seen-prefixes.ts";

/** What marks depend on beyond the request. */
export interface PromptCaching {
  readonly prefixes: SeenPrefixes;
  readonly current: () => Pick<Snapshot, "options" | "prices">;
}

/** The marks of a request that is sent: their number, how long the prefix lives, and why they were set. */
export interface MarkNote {
  readonly n: number;
  readonly ttl: MarkLife | "30m";
  /** `key`: only the member that leads a conversation to the same cache was added. */
  readonly why: "always" | "history" | "seen" | "key";
}

interface Marked {
  readonly bytes: Buffer;
  readonly note: MarkNote;
}

interface MarkTarget {
  readonly channel: ChannelRecord;
  readonly plan: { readonly provider: ProviderAdapter; readonly route: { readonly dialect: DialectId } };
  readonly upstreamModel: string;
}

/** Members by which clients mark prompts themselves; such a request stays as it is. */
const OWN_MARKS = ['"cache_control"', '"cachePoint"', '"prompt_cache_breakpoint"', '"prompt_cache_options"'].map(
  (name) => Buffer.from(name),
);
const CACHE_KEY = Buffer.from('"prompt_cache_key"');
/** Protocols with breakpoints, and a member that leads a conversation to the same cache. */
const BREAKPOINTS: ReadonlySet<DialectId> = new Set(["openai-chat", "openai-responses"]);
/** A prefix near the smallest one may be too short by the vendor's count. */
const SURELY_LONG = 1.1;
const BYTES_PER_TOKEN = 4;
/** The only life of a written prefix that OpenAI offers. */
const OPENAI_LIFE = "30m";
const LIFE_MS = { "5m": 300_000, "1h": 3_600_000 } as const;

/**
 * Marks the prefix of a prompt that the vendor shall cache, where the channel or the client wants that and it pays.
 * Undefined if the bytes stay as they are; the same request has the same places each time.
 */
export function markPrompt(
  bytes: Buffer,
  request: RelayRequest,
  target: MarkTarget,
  { caching, now }: { readonly caching: PromptCaching | undefined; readonly now: number },
): Marked | undefined {
  const { channel, plan } = target;
  const { dialect } = plan.route;
  const findSmallest = plan.provider.cacheMarks?.[dialect];
  const mode = findSmallest && caching && readCachingMode(channel, request);
  if (!mode || !isCacheable(request.spec.model, caching) || refusesMarks(channel, now)) return undefined;
  const places = hasOwnMarks(bytes, request) ? undefined : findPlaces(bytes, plan, mode);
  if (!places) return undefined;
  const prefix = hashPrefix(bytes, places, [request.caller.userId, channel.id, target.upstreamModel]);
  const isSeen = (lifeMs: number) => caching.prefixes.seen(prefix, lifeMs);
  const why = isLong(places, findSmallest(target.upstreamModel)) ? findReason(mode, places, isSeen) : undefined;
  const marked = why && {
    bytes: applyEdits(bytes, places.edits),
    note: { n: places.edits.length, ttl: mode.life, why },
  };
  return BREAKPOINTS.has(dialect) ? withCacheKey(bytes, marked, request, { places, prefix }) : marked;
}

function isLong({ prefixEnd }: MarkPlaces, least: number | undefined): boolean {
  return least !== undefined && prefixEnd / BYTES_PER_TOKEN >= least * SURELY_LONG;
}

/** True if the operator wants marks for the model, and cached input of it is cheaper. */
function isCacheable(model: string, { current }: PromptCaching): boolean {
  const { options, prices } = current();
  const { PromptCacheModels: names } = options;
  const price = prices.find(model);
  const isListed = names.length === 0 || names.some((name) => model.startsWith(name));
  return isListed && price?.kind === "tokens" && price.cacheRatio < 1;
}

function hasOwnMarks(bytes: Buffer, { body }: RelayRequest): boolean {
  return OWN_MARKS.some((name) => bytes.includes(name) || body.bytes.includes(name));
}

function findPlaces(
  bytes: Buffer,
  { provider, route: { dialect } }: MarkTarget["plan"],
  { life }: CachingMode,
): MarkPlaces | undefined {
  const points = provider.cachePoints?.[dialect];
  if (points) return placeCachePoints(bytes, points, life);
  if (dialect === "anthropic-messages") return placeBlockMarks(bytes, life);
  return dialect === "openai-chat" || dialect === "openai-responses" ? placeBreakpoint(bytes, dialect) : undefined;
}

/** Evidence that the prefix comes again: a conversation that continues, or a prefix that came before. */
function findReason(
  { mode, life }: CachingMode,
  { hasHistory }: MarkPlaces,
  isSeen: (lifeMs: number) => boolean,
): MarkNote["why"] | undefined {
  if (mode === "always") return "always";
  const wasSeen = isSeen(LIFE_MS[life]);
  if (hasHistory) return "history";
  return wasSeen ? "seen" : undefined;
}

/** Returns 32 hexadecimal digits of what several conversations of the user have in common. */
function hashPrefix(bytes: Buffer, { shared }: MarkPlaces, owner: readonly (string | number)[]): string {
  const hash = createHash("sha256").update(JSON.stringify(owner));
  for (const { start, end } of shared) hash.update(bytes.subarray(start, end)).update("\n");
  return hash.digest("hex").slice(0, 32);
}

/** Leads requests with the same beginning to the same cache, unless the client does so itself. */
function withCacheKey(
  bytes: Buffer,
  marked: Marked | undefined,
  { body }: RelayRequest,
  { places, prefix }: { readonly places: MarkPlaces; readonly prefix: string },
): Marked | undefined {
  const sent = marked?.bytes ?? bytes;
  const keyed = hasCacheKey(body.bytes) || hasCacheKey(bytes) ? sent : addCacheKey(sent, places, prefix);
  if (keyed === bytes) return undefined;
  const { n, why } = marked?.note ?? KEY_ALONE;
  return { bytes: keyed, note: { n, ttl: OPENAI_LIFE, why } };
}

const KEY_ALONE = { n: 0, why: "key" } as const;

function hasCacheKey(bytes: Buffer): boolean {
  return bytes.includes(CACHE_KEY);
}

/** Prompts that have nothing in common need no key. */
function addCacheKey(bytes: Buffer, { shared }: MarkPlaces, prefix: string): Buffer {
  if (shared.length === 0) return bytes;
  return spliceMembers(bytes, [{ key: "prompt_cache_key", json: JSON.stringify(prefix) }]) ?? bytes;
}
