import { MAX_TAGS, normalizeTagValue, OTHER_VALUE, type TagRule } from "@fairway/wire";
import { AppError } from "../../lib/app-error.ts";
import { isObject } from "../../lib/text/json.ts";
import type { CallTags } from "../request/request.ts";
import { refuseBlocked } from "./blocked-values.ts";
import { readEndUser } from "./end-user.ts";
import type { TagSource } from "./tag-source.ts";
import { joinHeader, readTagHeader, tagRequired } from "./tag-header.ts";

/** Bytes that the column of tags has room for. */
const MAX_BYTES = 255;

/**
 * Returns what the call is for; undefined if it names nothing. Throws `invalid_request` for a malformed header,
 * `tag_not_allowed` and `tag_required` as the policies say, and `tag_blocked` and `end_user_blocked` as the limits say.
 */
export function readCallTags(source: TagSource): CallTags | undefined {
  const tags = readTags(source);
  const { tagLimits } = source.caller;
  if (tags && tagLimits) refuseBlocked(tags, tagLimits);
  return tags;
}

function readTags(source: TagSource): CallTags | undefined {
  const { headers, caller, settings } = source;
  const given = readTagHeader(headers);
  const endUser = readEndUser(source);
  const tags = caller.tags || settings?.policy ? collectTags(source, given) : undefined;
  if (!tags || tags.size === 0) return endUser === "" ? undefined : { text: "", endUser, isCut: false };
  return { ...formatTags(tags), endUser };
}

/** Fixed tags come first: they have room in the column before those that a client chooses. */
function collectTags(source: TagSource, given: ReadonlyMap<string, string> | undefined): Map<string, string> {
  const { fixed = {} } = source.caller.tags ?? {};
  const tags = new Map(Object.entries(fixed));
  for (const [key, rule] of listRules(source)) {
    const value = tags.get(key) ?? given?.get(key) ?? readElsewhere(source, key) ?? (rule.default || undefined);
    if (value !== undefined) tags.set(key, admitValue(key, value, rule));
    else if (rule.required) throw tagRequired(`tag ${key}`, "X-Fairway-Tags");
  }
  return tags;
}

/** Returns the rule of each key: a token's or team's goes before the operator's. */
function* listRules({ caller, settings }: TagSource): Generator<[key: string, rule: TagRule]> {
  const own = caller.tags?.policy?.keys;
  if (own) yield* Object.entries(own);
  for (const entry of Object.entries(settings?.policy?.keys ?? {}))
    if (!own || !Object.hasOwn(own, entry[0])) yield entry;
}

/** Values of the body and of other products' headers are ignored if they cannot be tags. */
function readElsewhere({ body, headers, settings }: TagSource, key: string): string | undefined {
  const metadata = body["metadata"];
  const own = isObject(metadata) && Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  const value = typeof own === "string" ? normalizeTagValue(own) : undefined;
  if (value !== undefined) return value;
  for (const [name, target] of settings?.headers ?? []) {
    const [first = ""] = target === key ? (joinHeader(headers[name]) ?? "").split(",", 1) : [];
    const mapped = normalizeTagValue(first);
    if (mapped !== undefined) return mapped;
  }
  return undefined;
}

function admitValue(key: string, value: string, { values = "any", strict }: TagRule): string {
  if (values === "any" || values.includes(value)) return value;
  if (strict) throw new AppError("tag_not_allowed", { param: "X-Fairway-Tags", values: { key, value } });
  return OTHER_VALUE;
}

function formatTags(tags: ReadonlyMap<string, string>): Pick<CallTags, "text" | "isCut"> {
  const parts: string[] = [];
  let room = MAX_BYTES;
  for (const [key, value] of tags) {
    const part = `${key}=${value}`;
    const bytes = Buffer.byteLength(part) + (parts.length === 0 ? 0 : 1);
    if (bytes > room || parts.length >= MAX_TAGS) continue;
    room -= bytes;
    parts.push(part);
  }
  return { text: parts.toSorted(compareKeys).join("|"), isCut: parts.length < tags.size };
}

function compareKeys(one: string, other: string): number {
  return one.slice(0, one.indexOf("=")) < other.slice(0, other.indexOf("=")) ? -1 : 1;
}
