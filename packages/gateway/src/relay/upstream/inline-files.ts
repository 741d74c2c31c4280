import { exactJson } from "../../dialects/core/request-spec.ts";
import { isObject, object, text } from "../../dialects/core/read.ts";
import type { Body, DialectId, JsonObject, JsonValue } from "../../dialects/core/types.ts";
import { AppError, invalidRequest } from "../../lib/app-error.ts";
import type { RemoteFile, RemoteFiles } from "./remote-files.ts";

const MAX_FILES = 16;
const AT_ONCE = 4;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
const MAX_DEPTH = 32;
const WEB = /^https?:\/\//i;
const MARK = Buffer.from("http");
/** Hosts whose files Gemini fetches itself. */
const OWN_HOSTS = /^https:\/\/(?:generativelanguage\.googleapis\.com|(?:www\.)?youtube\.com|youtu\.be)\//i;
const PLACES = ["messages", "input", "contents", "system"] as const;

/** Bodies whose files were fetched before, so that a retry on another channel fetches nothing again. */
const known = new WeakMap<Body, Map<boolean, Promise<Body>>>();

/**
 * Returns the request with the files in place of their URLs, for upstreams that accept only bytes; the same object if
 * it names no file by URL. Throws AppError.
 */
export async function withInlineFiles(
  body: Body,
  upstream: DialectId,
  files: RemoteFiles,
  signal: AbortSignal | undefined,
): Promise<Body> {
  if (!body.bytes.includes(MARK)) return body;
  const isGemini = upstream === "gemini-generate";
  const done = known.get(body) ?? new Map<boolean, Promise<Body>>();
  known.set(body, done);
  const before = done.get(isGemini);
  if (before) return before;
  const reading = inlined(body, isGemini, files, signal);
  done.set(isGemini, reading);
  reading.catch(() => done.delete(isGemini));
  return reading;
}

/** Called when no other channel will be tried. */
export function forgetInlineFiles(body: Body): void {
  known.delete(body);
}

async function inlined(
  body: Body,
  isGemini: boolean,
  files: RemoteFiles,
  signal: AbortSignal | undefined,
): Promise<Body> {
  const json = exactJson(body);
  const addresses = new Set<string>();
  const find = (url: string) => {
    if (WEB.test(url) && !(isGemini && OWN_HOSTS.test(url))) addresses.add(url);
    return undefined;
  };
  edited(json, { isGemini, file: find });
  if (addresses.size === 0) return body;
  if (addresses.size > MAX_FILES)
    throw invalidRequest("messages", `A request may name up to ${MAX_FILES} files by address.`);
  const found = await readAll([...addresses], files, signal);
  const changed = edited(json, { isGemini, file: (url) => found.get(url) });
  return { bytes: Buffer.from(JSON.stringify(changed)), json: () => changed };
}

async function readAll(
  addresses: readonly string[],
  files: RemoteFiles,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, RemoteFile>> {
  const found = new Map<string, RemoteFile>();
  const left = addresses.values();
  let total = 0;
  const work = async () => {
    for (const url of left) {
      signal?.throwIfAborted();
      const file = await files.read(url, { signal });
      total += file.bytes.length;
      if (total > MAX_TOTAL_BYTES) throw new AppError("request_too_large", { values: { limit: MAX_TOTAL_BYTES } });
      found.set(url, file);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, addresses.length) }, work));
  return found;
}

interface Edit {
  readonly isGemini: boolean;
  /** Undefined if the address stays. */
  file(url: string): RemoteFile | undefined;
}

function edited(json: JsonObject, edit: Edit): JsonObject {
  const changed: JsonObject = { ...json };
  for (const place of PLACES) if (json[place] !== undefined) changed[place] = walk(json[place], edit, 0);
  return changed;
}

function walk(value: JsonValue | undefined, edit: Edit, depth: number): JsonValue {
  if (Array.isArray(value)) return value.map((item) => walk(item, edit, depth + 1));
  if (!isObject(value) || depth > MAX_DEPTH) return value ?? null;
  const part = inlinePart(value, edit);
  if (part !== value) return part;
  const { content, parts, output } = value;
  const inner: JsonObject = {
    ...(typeof content === "object" && content !== null ? { content: walk(content, edit, depth + 1) } : {}),
    ...(Array.isArray(parts) ? { parts: walk(parts, edit, depth + 1) } : {}),
    ...(Array.isArray(output) ? { output: walk(output, edit, depth + 1) } : {}),
  };
  return Object.keys(inner).length === 0 ? value : { ...value, ...inner };
}

type EditPart = (part: JsonObject, edit: Edit) => JsonObject;

/** Content parts of the public protocols by their type; Gemini's parts have no type. */
const PARTS: Readonly<Record<string, EditPart>> = {
  image_url: imagePart,
  input_image: imagePart,
  input_file: filePart,
  image: sourcePart,
  document: sourcePart,
};

function inlinePart(part: JsonObject, edit: Edit): JsonObject {
  const type = text(part, "type");
  if (type === undefined) return geminiPart(part, edit);
  return Object.hasOwn(PARTS, type) ? (PARTS[type]?.(part, edit) ?? part) : part;
}

function imagePart(part: JsonObject, edit: Edit): JsonObject {
  const image = object(part, "image_url");
  const data = dataUrl(text(part, "image_url") ?? text(image, "url"), edit);
  if (data === undefined) return part;
  return { ...part, image_url: image ? { ...image, url: data } : data };
}

function filePart(part: JsonObject, edit: Edit): JsonObject {
  const url = text(part, "file_url");
  const data = dataUrl(url, edit);
  if (url === undefined || data === undefined) return part;
  const { file_url: _address, ...rest } = part;
  return { ...rest, filename: text(rest, "filename") ?? readFileName(url), file_data: data };
}

function sourcePart(part: JsonObject, edit: Edit): JsonObject {
  const source = object(part, "source");
  const file = source?.["type"] === "url" ? edit.file(text(source, "url") ?? "") : undefined;
  return file ? { ...part, source: base64Source(file) } : part;
}

function geminiPart(part: JsonObject, edit: Edit): JsonObject {
  const file = edit.isGemini ? undefined : edit.file(text(object(part, "fileData"), "fileUri") ?? "");
  if (!file) return part;
  const { fileData: _address, ...rest } = part;
  return { ...rest, inlineData: { mimeType: file.mediaType, data: file.bytes.toString("base64") } };
}

function dataUrl(url: string | undefined, edit: Edit): string | undefined {
  const file = url === undefined ? undefined : edit.file(url);
  return file && `data:${file.mediaType};base64,${file.bytes.toString("base64")}`;
}

function base64Source({ mediaType, bytes }: RemoteFile): JsonObject {
  return mediaType === "text/plain"
    ? { type: "text", media_type: mediaType, data: bytes.toString("utf8") }
    : { type: "base64", media_type: mediaType, data: bytes.toString("base64") };
}

function readFileName(url: string): string {
  return new URL(url).pathname.split("/").at(-1) || "file";
}
