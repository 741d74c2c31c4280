import { isObject } from "../../core/read.ts";
import type { JsonObject } from "../../core/types.ts";
import { parseJson } from "../../../lib/text/json.ts";

const MARK = "fw1.";

/** Seals signed thinking of another vendor as the opaque text that clients of this protocol send back. */
export function sealThinking(blocks: readonly JsonObject[]): string {
  return MARK + Buffer.from(JSON.stringify(blocks)).toString("base64");
}

/** Returns the thinking; empty for text that another gateway or vendor sealed. */
export function openThinking(sealed: string | undefined): JsonObject[] {
  if (sealed?.startsWith(MARK) !== true) return [];
  const value = parseJson(Buffer.from(sealed.slice(MARK.length), "base64").toString("utf8"));
  return Array.isArray(value) ? value.filter(isObject) : [];
}
