// Gemini requires the signature of a function call again, and chat clients drop fields that they do not know: a short one
// travels inside of the call's id. Base64 is written without the characters that ids may not hold, where it can be
// restored exactly. What other servers hang on their calls travels behind a mark of its own.
import { replaced } from "./json-edit.ts";
import { text } from "./read.ts";
import type { JsonObject } from "./types.ts";

const MARK = "__thought__";
const EXTRA = "__extra__";
/** Models whose signature may stand in an id because another gateway before them put it there. */
const SIGNS_IDS = /gemini/i;
/** Leads a signature that is written as it came. */
const RAW = "~";
/** Google's own value for calls whose signature is not known. */
export const NO_SIGNATURE = "skip_thought_signature_validator";

export interface SignedId {
  readonly id: string;
  readonly signature: string | undefined;
}

/** Clients and their databases take ids of this length; other vendors get the plain one. */
const MAX_ID = 200;

/** An id that carries a signature; clients send it back unchanged. Undefined where it would be too long. */
export function joinSignature(id: string, signature: string): string | undefined {
  const joined = `${id}${MARK}${toIdText(signature)}`;
  return joined.length <= MAX_ID ? joined : undefined;
}

/** The parts of an id; no signature for an id that carries none. */
export function splitSignature(joined: string): SignedId {
  const at = joined.indexOf(MARK);
  if (at < 0) return { id: joined, signature: undefined };
  return { id: joined.slice(0, at), signature: fromIdText(joined.slice(at + MARK.length)) };
}

/** An id that carries a further text; clients send it back unchanged. */
export function joinExtra(id: string, extra: string): string {
  return `${id}${EXTRA}${Buffer.from(extra).toString("base64url")}`;
}

/** The part that `joinExtra` added to an id. */
export function extraIn(joined: string): string | undefined {
  const at = joined.indexOf(EXTRA);
  return at < 0 ? undefined : Buffer.from(joined.slice(at + EXTRA.length), "base64url").toString("utf8");
}

/** Whether something travels in this id. */
export function isLoadedId(id: string | undefined): boolean {
  return id !== undefined && (id.includes(MARK) || id.includes(EXTRA));
}

/** The id that the upstream gave a call: others know nothing of what travels in it, and refuse long ids. */
export function plainCallId(joined: string): string {
  return splitSignature(withoutExtra(joined)).id;
}

/** The id as an upstream knows it that this model answers at. */
export function callIdFor(model: string, joined: string): string {
  return SIGNS_IDS.test(model) ? withoutExtra(joined) : plainCallId(joined);
}

/** A call or a result whose member `key` is such an id; the very same one where it is already. */
export function withCallIdFor(model: string, holder: JsonObject, key: string): JsonObject {
  const id = text(holder, key);
  return id !== undefined && isLoadedId(id) ? replaced(holder, key, callIdFor(model, id)) : holder;
}

function withoutExtra(joined: string): string {
  const at = joined.indexOf(EXTRA);
  return at < 0 ? joined : joined.slice(0, at);
}

function toIdText(signature: string): string {
  const written = signature.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return fromIdText(written) === signature ? written : RAW + signature;
}

function fromIdText(written: string): string {
  return written.startsWith(RAW) ? written.slice(RAW.length) : restored(written);
}

/** Clients may hold ids that were made before: their base64 is there as it came. */
function restored(written: string): string {
  if (!/^[\w-]*$/.test(written)) return written;
  const base64 = written.replaceAll("-", "+").replaceAll("_", "/");
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
}
