// Gemini requires the signature of a function call again, but chat clients drop fields that they do not know, so a
// short signature is put inside the call's id. Base64 is written without the characters that ids may not hold, if it
// can be restored exactly. The extra members that other servers add to their calls follow a mark of their own.
import { replaced } from "./json-edit.ts";
import { text } from "./read.ts";
import type { JsonObject } from "./types.ts";

const MARK = "__thought__";
const EXTRA = "__extra__";
/** Models whose signature may be in an id because another gateway in front of them put it there. */
const SIGNS_IDS = /gemini/i;
/** Precedes a signature that is written unchanged. */
const RAW = "~";
/** Google's own value for calls whose signature is unknown. */
export const NO_SIGNATURE = "skip_thought_signature_validator";

export interface SignedId {
  readonly id: string;
  readonly signature: string | undefined;
}

/** The longest id that clients and their databases accept; other vendors get the plain id. */
const MAX_ID = 200;

/** Returns an id that carries a signature; clients send it back unchanged. Undefined if it would be too long. */
export function joinSignature(id: string, signature: string): string | undefined {
  const joined = `${id}${MARK}${toIdText(signature)}`;
  return joined.length <= MAX_ID ? joined : undefined;
}

/** Splits an id; there is no signature if the id carries none. */
export function splitSignature(joined: string): SignedId {
  const at = joined.indexOf(MARK);
  if (at < 0) return { id: joined, signature: undefined };
  return { id: joined.slice(0, at), signature: fromIdText(joined.slice(at + MARK.length)) };
}

/** Returns an id that carries a further text; clients send it back unchanged. */
export function joinExtra(id: string, extra: string): string {
  return `${id}${EXTRA}${Buffer.from(extra).toString("base64url")}`;
}

/** Returns the text that `joinExtra` added to an id. */
export function extraIn(joined: string): string | undefined {
  const at = joined.indexOf(EXTRA);
  return at < 0 ? undefined : Buffer.from(joined.slice(at + EXTRA.length), "base64url").toString("utf8");
}

/** True if the id carries something. */
export function isLoadedId(id: string | undefined): boolean {
  return id !== undefined && (id.includes(MARK) || id.includes(EXTRA));
}

/**
 * Returns the id that the upstream gave a call. Other upstreams do not know what a longer id carries, and refuse it.
 */
export function plainCallId(joined: string): string {
  return splitSignature(withoutExtra(joined)).id;
}

/** Returns the id in the form that the upstream of this model knows. */
export function callIdFor(model: string, joined: string): string {
  return SIGNS_IDS.test(model) ? withoutExtra(joined) : plainCallId(joined);
}

/** Returns a call or a result whose member `key` is such an id; the same object if it already is. */
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

/** Restores base64. Clients may still hold older ids, whose base64 is unchanged. */
function restored(written: string): string {
  if (!/^[\w-]*$/.test(written)) return written;
  const base64 = written.replaceAll("-", "+").replaceAll("_", "/");
  return base64.padEnd(Math.ceil(base64.length / 4) * 4, "=");
}
