import * as z from "zod/mini";
import { MAX_GRACE_SECONDS } from "../core/constants.ts";
import { endpoint } from "../core/endpoint.ts";
import { idParams } from "../core/envelope.ts";

/** Replaced keys of one token that may work at once, next to its current key. */
export const MAX_OLD_KEYS = 3;

/** Returns the first and last characters of a key, which identify it. */
export function keyHint(key: string): string {
  return `sk-${key.slice(0, 4)}…${key.slice(-4)}`;
}

/** A key that was replaced and still works. */
export const OldKey = z.object({
  id: z.int(),
  /** First and last characters. */
  hint: z.string(),
  /** Epoch seconds at which the key was made. */
  created_at: z.int(),
  /** Epoch seconds at which the key stops working. */
  expires_at: z.int(),
  /** Epoch seconds of the last use to about a minute; 0 = not used since it was replaced. */
  last_used_at: z.int(),
});
export type OldKey = z.output<typeof OldKey>;

/** The new key of a token, and the replaced ones that still work, newest first. */
export const RotatedKey = z.object({
  /** The new key, without `sk-`. */
  key: z.string(),
  hint: z.string(),
  old: z.array(OldKey),
});
export type RotatedKey = z.output<typeof RotatedKey>;

export const tokenRotate = endpoint({
  name: "tokenRotate",
  method: "POST",
  path: "/api/token/{id}/rotate",
  access: "user",
  rate: "critical",
  summary:
    "Gives one of the caller's tokens a new key. The replaced key works for `grace_seconds` more; with 0 it stops at once on every replica. If four replaced keys would work, the oldest stops at once.",
  params: idParams,
  body: z.strictObject({
    /** Seconds for which the replaced key still works; 86400 if absent. */
    grace_seconds: z.optional(z.int().check(z.minimum(0), z.maximum(MAX_GRACE_SECONDS))),
  }),
  data: RotatedKey,
  fails: ["token_not_found", "entity_changed", "replicas_differ"],
});

export const tokenOldKeys = endpoint({
  name: "tokenOldKeys",
  method: "GET",
  path: "/api/token/{id}/keys",
  access: "user",
  summary: "The replaced keys of one of the caller's tokens that still work, newest first.",
  params: idParams,
  data: z.array(OldKey),
  fails: ["token_not_found"],
});

export const tokenOldKeyEnd = endpoint({
  name: "tokenOldKeyEnd",
  method: "DELETE",
  path: "/api/token/{id}/keys/{key_id}",
  access: "user",
  summary: "Ends a replaced key before its time, at once on every replica.",
  params: z.extend(idParams, { key_id: idParams.shape.id }),
  fails: ["token_not_found"],
});
