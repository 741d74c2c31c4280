import { randomText } from "../lib/ids.ts";
import type { ObjectDialect } from "../providers/core/types.ts";

/** Kinds of objects that clients name by an id of this gateway. */
export type NamedKind = "file" | "upload" | "part" | "batch";

const LENGTH = 26;
const LOWER = "0123456789abcdefghijklmnopqrstuvwxyz";

/** What a client of the protocol sees before the random part. Gemini's collections (`files/`) are not part of the id. */
const PREFIXES: Readonly<Record<ObjectDialect, Readonly<Record<NamedKind, string>>>> = {
  openai: { file: "file-", upload: "upload_", part: "part_", batch: "batch_" },
  anthropic: { file: "file_", upload: "upload_", part: "part_", batch: "msgbatch_" },
  gemini: { file: "", upload: "", part: "", batch: "" },
};

/**
 * Creates an id of at least 128 random bits that says nothing about the user, the channel or the upstream's own id:
 * objects outlive channels, and lists must not show what an account holds.
 */
export function createObjectId(dialect: ObjectDialect, kind: NamedKind): string {
  return PREFIXES[dialect][kind] + (dialect === "gemini" ? createLowerId() : randomText(LENGTH));
}

/** The same without a prefix, of letters that Google's names may have. */
export function createLowerId(): string {
  return randomText(LENGTH, LOWER);
}

const PATH_ID = /^[\w-]{1,128}$/;

/** True for texts that may be an id of an object; anything else is unknown without a query. */
export function isObjectId(text: string): boolean {
  return PATH_ID.test(text);
}
