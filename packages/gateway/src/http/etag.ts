import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Refusal } from "../lib/refusal.ts";

/** Throws `entity_changed` if the entity changed since the client read it; runs inside the entity's lock. */
export type CheckTag = (tag: string) => void;

const HASH_CHARS = 22;

/** Returns the same tag for the same values, whichever replica answers. */
export function buildEtag(values: Readonly<Record<string, unknown>>): string {
  return createHash("sha256").update(JSON.stringify(values)).digest("base64url").slice(0, HASH_CHARS);
}

/** Sets the header `ETag` as a strong tag; `tag` comes from `buildEtag`. */
export function setTag(response: ServerResponse, tag: string): void {
  response.setHeader("ETag", `"${tag}"`);
}

/** Returns the tags that `If-Match` names; undefined if there are none. Proxies that compress make tags weak. */
export function wantedTags(request: IncomingMessage): readonly string[] | undefined {
  const header = request.headers["if-match"]?.trim();
  if (header === undefined || header === "" || header === "*") return undefined;
  return header.split(",").map((tag) => tag.trim().replace(/^W\//, "").replace(/^"|"$/g, ""));
}

/** Returns the check for the version in `If-Match`; undefined without the header. */
export function tagCheck(request: IncomingMessage): CheckTag | undefined {
  const wanted = wantedTags(request);
  return (
    wanted &&
    ((tag) => {
      if (!wanted.includes(tag)) throw new Refusal("entity_changed");
    })
  );
}
