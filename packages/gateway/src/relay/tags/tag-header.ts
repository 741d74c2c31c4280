import { isTagKey, MAX_TAGS, normalizeTagValue } from "@fairway/wire";
import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../../lib/app-error.ts";
import { decodePercent } from "../../lib/text/percent-encoding.ts";

export const TAG_HEADER = "x-fairway-tags";
export const END_USER_HEADER = "x-fairway-end-user";
const TAG_HEADER_NAME = "X-Fairway-Tags";
const END_USER_HEADER_NAME = "X-Fairway-End-User";

/** Returns the tags of the header `X-Fairway-Tags`; throws `invalid_request` with what is wrong with it. */
export function readTagHeader(headers: IncomingHttpHeaders): ReadonlyMap<string, string> | undefined {
  const text = joinHeader(headers[TAG_HEADER]);
  if (text === undefined) return undefined;
  const tags = new Map<string, string>();
  for (const item of text.split(",")) {
    const part = item.trim();
    if (part === "") continue;
    const [key, value] = readTag(part);
    if (tags.has(key)) throw malformed(`names the tag ${key} twice`);
    tags.set(key, value);
  }
  if (tags.size > MAX_TAGS) throw malformed(`has more than ${MAX_TAGS} tags`);
  return tags;
}

function readTag(part: string): [key: string, value: string] {
  const at = part.indexOf("=");
  const key = at < 0 ? part : part.slice(0, at).trimEnd();
  if (!isTagKey(key)) throw malformed("has a key other than a-z followed by at most 31 of a-z, 0-9, _, . and -");
  const value = at < 0 ? undefined : decodeValue(part.slice(at + 1));
  if (value === undefined)
    throw malformed(`has a value of the tag ${key} that is not 1 to 64 characters of percent-encoded UTF-8`);
  return [key, value];
}

/** Returns undefined for bytes that are neither visible ASCII nor percent-encoded, which every server reads differently. */
function decodeValue(raw: string): string | undefined {
  if (!/^[\x20-\x7e]*$/.test(raw)) return undefined;
  return normalizeTagValue(decodePercent(raw) ?? "");
}

/** Returns the value of the header `X-Fairway-End-User`; throws `invalid_request` if it cannot be read. */
export function readEndUserHeader(headers: IncomingHttpHeaders): string | undefined {
  const raw = joinHeader(headers[END_USER_HEADER]);
  if (raw === undefined || raw.trim() === "") return undefined;
  const text = decodeText(raw);
  if (text === undefined)
    throw new AppError("invalid_request", {
      param: END_USER_HEADER_NAME,
      values: { reason: `The header ${END_USER_HEADER_NAME} is not percent-encoded UTF-8 without control characters.` },
    });
  return text;
}

function decodeText(raw: string): string | undefined {
  if (!/^[\x20-\x7e]*$/.test(raw)) return undefined;
  const text = decodePercent(raw)?.trim() ?? "";
  return text !== "" && hasNoControl(text) ? text : undefined;
}

/** Returns true if the text has no character that a log must not contain. */
export function hasNoControl(text: string): boolean {
  return text.isWellFormed() && !/[\p{Cc}\u2028\u2029]/u.test(text);
}

export function joinHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(",") : value;
}

export function tagRequired(what: string, header: string): AppError {
  return new AppError("tag_required", { param: header, values: { what, header } });
}

function malformed(fault: string): AppError {
  return new AppError("invalid_request", {
    param: TAG_HEADER_NAME,
    values: { reason: `The header ${TAG_HEADER_NAME} ${fault}.` },
  });
}
