import { randomText } from "../lib/ids.ts";
import type { ObjectDialect } from "../providers/core/types.ts";

/** Kinds of objects that clients name by an id of this gateway. */
export type NamedKind = "file" | "upload" | "part" | "batch";

/** At least 128 random bits, also of lower-case letters and digits. */
const RANDOM_CHARS = 25;
/** Milliseconds since 1970 until the year 5188. */
const TIME_CHARS = 9;
const LOWER = "0123456789abcdefghijklmnopqrstuvwxyz";

/** What a client of the protocol sees before the random part. Gemini's collections (`files/`) are not part of the id. */
const PREFIXES: Readonly<Record<ObjectDialect, Readonly<Record<NamedKind, string>>>> = {
  openai: { file: "file-", upload: "upload_", part: "part_", batch: "batch_" },
  anthropic: { file: "file_", upload: "upload_", part: "part_", batch: "msgbatch_" },
  gemini: { file: "", upload: "", part: "", batch: "" },
};

/**
 * Creates an id from the time and at least 128 random bits. Rows store whole seconds; the time in the id orders those of
 * one second, in every collation, so that lists are newest first. Nothing in it tells the user, the channel or the
 * upstream's own id: objects outlive channels, and lists must not show what an account holds.
 *
 * @param now epoch milliseconds
 */
export function createObjectId(dialect: ObjectDialect, kind: NamedKind, now: number): string {
  const random = dialect === "gemini" ? randomText(RANDOM_CHARS, LOWER) : randomText(RANDOM_CHARS);
  return PREFIXES[dialect][kind] + formatTime(now) + random;
}

/** The same without a prefix, of letters that Google's names may have. */
export function createLowerId(now: number): string {
  return formatTime(now) + randomText(RANDOM_CHARS, LOWER);
}

function formatTime(now: number): string {
  return Math.floor(now).toString(LOWER.length).padStart(TIME_CHARS, "0");
}

const PATH_ID = /^[\w-]{1,128}$/;

/** True for texts that may be an id of an object; anything else is unknown without a query. */
export function isObjectId(text: string): boolean {
  return PATH_ID.test(text);
}
