import type { IncomingHttpHeaders } from "node:http";

/** A key in its 48-character form, and the suffix after it (`sk-KEY-12`). */
export interface ApiKey {
  readonly key: string;
  readonly pin: string | undefined;
}

const KEY = /^[0-9A-Za-z]{48}$/;
const SUBPROTOCOL = "openai-insecure-api-key.";
/** Google clients call /v1 by default, even for endpoints that the gateway does not implement. */
const GEMINI =
  /^(?:\/v1beta|\/upload\/|\/v1\/(?:models|tunedModels|files|batches|cachedContents|interactions|fileSearchStores|auth_tokens))/;
/** Links of compatible gateways to the log of a key contain the key in the query. */
const LOG_OF_KEY = "/api/log/token";
/** The value of `Authorization` of drawing clients that send their key elsewhere. */
const MJ_PLACEHOLDER = "midjourney-proxy";

/**
 * Finds the key of a relay request. The first place that is not empty decides; later ones are ignored. Undefined =
 * there is no key anywhere; "malformed" = there is a text that cannot be a key.
 */
export function readApiKey(headers: IncomingHttpHeaders, url: string): ApiKey | "malformed" | undefined {
  const text = readKeyText(headers, url);
  return text === "" ? undefined : parseApiKey(text);
}

/** Returns the key as the client wrote it; "" if there is none. */
export function readKeyText(headers: IncomingHttpHeaders, url: string): string {
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  return (
    fromAuthorization(headers, path) ||
    readHeader(headers["x-api-key"]) ||
    fromRoute(headers, path, mark < 0 ? "" : url.slice(mark))
  );
}

/** Returns the key from places that only some routes have; no route has two of them except those of Gemini. */
function fromRoute(headers: IncomingHttpHeaders, path: string, search: string): string {
  if (isGemini(path)) return readHeader(headers["x-goog-api-key"]) || queryKey(search);
  if (path === LOG_OF_KEY) return queryKey(search);
  if (isDrawing(path)) return readHeader(headers["mj-api-secret"]);
  return path.startsWith("/v1/realtime") ? fromSubprotocol(headers) : "";
}

/** Removes `sk-` and separates the pinned channel. */
export function parseApiKey(text: string): ApiKey | "malformed" {
  const bare = text.startsWith("sk-") ? text.slice(3) : text;
  const dash = bare.indexOf("-");
  const key = dash < 0 ? bare : bare.slice(0, dash);
  if (!KEY.test(key)) return "malformed";
  return { key, pin: dash < 0 ? undefined : bare.slice(dash + 1) };
}

function fromAuthorization(headers: IncomingHttpHeaders, path: string): string {
  const text = (headers.authorization ?? "").trim();
  if (text === MJ_PLACEHOLDER && isDrawing(path)) return "";
  return text.length >= 6 && text.slice(0, 6).toLowerCase() === "bearer" ? afterScheme(text) : text;
}

/** Removes the scheme; a bare key may begin with the same letters. */
function afterScheme(text: string): string {
  const rest = text.slice(6);
  return rest === "" || rest.startsWith(" ") ? rest.trim() : text;
}

function fromSubprotocol(headers: IncomingHttpHeaders): string {
  const items = (headers["sec-websocket-protocol"] ?? "").split(",").map((item) => item.trim());
  return items.find((item) => item.startsWith(SUBPROTOCOL))?.slice(SUBPROTOCOL.length) ?? "";
}

function queryKey(search: string): string {
  return (new URLSearchParams(search).get("key") ?? "").trim();
}

function isGemini(path: string): boolean {
  return GEMINI.test(path);
}

function isDrawing(path: string): boolean {
  return /^\/(mj-[a-z]+\/)?mj(\/|$)/.test(path);
}

function readHeader(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header)?.trim() ?? "";
}
