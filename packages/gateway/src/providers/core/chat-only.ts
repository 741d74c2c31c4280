// Many servers that copy the OpenAI protocol have chat but no Responses API. The first answer that says so is believed
// for an hour. During that hour, Responses clients are served over chat, as with the channel's switch `responses_mode`.
import type { ChannelRecord, UpstreamRoute } from "./types.ts";

const REMEMBERED_MS = 3_600_000;
const MAX_REMEMBERED = 1_024;
/**
 * "Not found" counts only as the whole message, because it may also concern an object that the request names ("Item
 * with id … not found").
 */
const UNKNOWN_PATH = /invalid url|unknown (?:url|path|endpoint|request url)|no route|cannot post|method not allowed/i;
const BARE = /^(?:404:? )?(?:page |path |url )?not found[.!]?$/i;
const OF_MODEL = /model|deployment|response/i;

interface ChatOnly {
  readonly channelId: number;
  /** Milliseconds of the monotonic clock. */
  readonly until: number;
}

const known = new Map<string, ChatOnly>();

/** The answer by which a server refuses a path. */
export interface RefusedPath {
  readonly status: number;
  readonly message: string;
  readonly code: string | undefined;
}

/** True while the channel is served over chat. Costs nothing if no channel is. */
export function isChatOnly(channel: ChannelRecord): boolean {
  if (known.size === 0) return false;
  return (known.get(endpointKey(channel))?.until ?? 0) > performance.now();
}

/** Returns true if the server does not know the Responses path; from then on, the channel is served over chat. */
export function learnChatOnly(channel: ChannelRecord, route: UpstreamRoute, refused: RefusedPath): boolean {
  const isAsked = route.operation === "responses" && channel.baseUrl !== "";
  if (!isAsked || channel.setting["responses_mode"] === "always" || !isUnknownPath(refused)) return false;
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(endpointKey(channel), { channelId: channel.id, until: performance.now() + REMEMBERED_MS });
  return true;
}

/** Lists the channels that are served over chat now, with the milliseconds until Responses is tried again. */
export function chatOnlyChannels(): readonly { readonly channelId: number; readonly waitMs: number }[] {
  const now = performance.now();
  return [...known.values()]
    .filter(({ until }) => until > now)
    .map(({ channelId, until }) => ({ channelId, waitMs: Math.round(until - now) }));
}

/**
 * True if the answer refuses the path. An unknown model, response or item is also a 404 but does not count: a client
 * that names one would switch Responses off for every client of the channel.
 */
function isUnknownPath({ status, message, code }: RefusedPath): boolean {
  if (status === 405 || status === 501) return true;
  if (status === 404 && (code === "bad_response_status_code" || BARE.test(message.trim()))) return true;
  if (code?.includes("model") === true || OF_MODEL.test(message.replaceAll(/\/?v1\/responses/g, ""))) return false;
  return (status === 404 || status === 400) && UNKNOWN_PATH.test(message);
}

function endpointKey({ id, baseUrl }: ChannelRecord): string {
  return `${id} ${baseUrl}`;
}
