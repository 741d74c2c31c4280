import type { JsonObject } from "../dialects/core/types.ts";
import { parseObject } from "../lib/text/json.ts";
import type { ObjectDialect } from "../providers/core/types.ts";
import type { UpstreamObjectTable } from "../storage/tables/schema-objects.ts";

/** `part` = a piece of an upload, whose id is in its column `name`; `container` = where a vendor runs code. */
export type ObjectKind = "file" | "upload" | "part" | "container";

/**
 * `sending` = its bytes are on the way; `failed` = the upstream no longer has it; `lost` = its channel or key no longer exists;
 * `expired` = its time is over; `deleting` = its user no longer exists, and the upstream's copy is being deleted.
 */
export type ObjectState = "sending" | "ready" | "failed" | "lost" | "expired" | "deleting";

/** Where the object's bytes are: an account of a channel. */
export interface ObjectAccount {
  readonly channelId: number;
  readonly keyMark: string;
}

/** Something that an upstream stores for a user. */
export interface StoredObject extends ObjectAccount {
  readonly id: string;
  readonly userId: number;
  /** The token that made it; 0 if the gateway made it. */
  readonly tokenId: number;
  readonly kind: ObjectKind;
  /** The protocol of the upstream's store, and so of the clients that can use it. */
  readonly dialect: ObjectDialect;
  readonly upstreamId: string;
  readonly name: string;
  readonly mime: string;
  readonly purpose: string;
  readonly bytes: number;
  readonly state: ObjectState;
  /** What is known about its contents, and members of the upstream's object that clients see. */
  readonly facts: JsonObject;
  /** Epoch seconds, as all times. */
  readonly createdAt: number;
  /** 0 = never. */
  readonly expiresAt: number;
  readonly nextCheckAt: number;
}

/** Columns in the order in which rows are written. */
export const OBJECT_COLUMNS = [
  "id",
  "user_id",
  "token_id",
  "kind",
  "dialect",
  "channel_id",
  "key_mark",
  "upstream_id",
  "name",
  "mime",
  "purpose",
  "bytes",
  "state",
  "facts",
  "created_at",
  "expires_at",
  "next_check_at",
] as const satisfies readonly (keyof UpstreamObjectTable)[];

/** Longer texts of clients are cut, because the object is named by its id alone. */
const MAX_LENGTHS = { name: 512, mime: 191, purpose: 32 } as const;

export function toValues(object: StoredObject): (string | number)[] {
  return [
    object.id,
    object.userId,
    object.tokenId,
    object.kind,
    object.dialect,
    object.channelId,
    object.keyMark,
    object.upstreamId,
    cut(object.name, MAX_LENGTHS.name),
    cut(object.mime, MAX_LENGTHS.mime),
    cut(object.purpose, MAX_LENGTHS.purpose),
    object.bytes,
    object.state,
    JSON.stringify(object.facts),
    object.createdAt,
    object.expiresAt,
    object.nextCheckAt,
  ];
}

export function fromRow(row: UpstreamObjectTable): StoredObject {
  return {
    id: row.id,
    userId: row.user_id,
    tokenId: row.token_id,
    kind: row.kind as ObjectKind,
    dialect: row.dialect as ObjectDialect,
    channelId: row.channel_id,
    keyMark: row.key_mark,
    upstreamId: row.upstream_id,
    name: row.name,
    mime: row.mime,
    purpose: row.purpose,
    bytes: row.bytes,
    state: row.state as ObjectState,
    facts: (parseObject(row.facts) ?? {}) as JsonObject,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    nextCheckAt: row.next_check_at,
  };
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}
