// Many servers that copy the OpenAI protocol have chat and no Responses API. The first answer that says so is believed
// for an hour: Responses clients are served over chat meanwhile, as the channel's switch `responses_mode` would do.
import type { ChannelRecord, UpstreamRoute } from "./types.ts";

const REMEMBERED_MS = 3_600_000;
const MAX_REMEMBERED = 1_024;
/** A thing that the request names may be missing too ("Item with id … not found"), so the bare words stand alone. */
const UNKNOWN_PATH = /invalid url|unknown (?:url|path|endpoint|request url)|no route|cannot post|method not allowed/i;
const BARE = /^(?:404:? )?(?:page |path |url )?not found[.!]?$/i;
const OF_MODEL = /model|deployment|response/i;

interface ChatOnly {
  readonly channelId: number;
  /** Milliseconds of the monotonic clock. */
  readonly until: number;
}

const known = new Map<string, ChatOnly>();

/** How a refused path is reported. */
export interface RefusedPath {
  readonly status: number;
  readonly message: string;
  readonly code: string | undefined;
}

/** Costs nothing while every server has what it is asked for. */
export function isChatOnly(channel: ChannelRecord): boolean {
  if (known.size === 0) return false;
  return (known.get(endpointKey(channel))?.until ?? 0) > performance.now();
}

/** True when the server does not know the path of Responses; the channel is served over chat from then on. */
export function learnChatOnly(channel: ChannelRecord, route: UpstreamRoute, refused: RefusedPath): boolean {
  const isAsked = route.operation === "responses" && channel.baseUrl !== "";
  if (!isAsked || channel.setting["responses_mode"] === "always" || !isUnknownPath(refused)) return false;
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(endpointKey(channel), { channelId: channel.id, until: performance.now() + REMEMBERED_MS });
  return true;
}

/** Channels that are served over chat now, with the milliseconds until Responses is tried again. */
export function chatOnlyChannels(): readonly { readonly channelId: number; readonly waitMs: number }[] {
  const now = performance.now();
  return [...known.values()]
    .filter(({ until }) => until > now)
    .map(({ channelId, until }) => ({ channelId, waitMs: Math.round(until - now) }));
}

/**
 * A model, a response or an item that is unknown is a 404 too, and no reason to ask in another way: a client that names one
 * would switch Responses off for every client of the channel.
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
