import { createHmac, randomBytes } from "node:crypto";
import { findPageAddress } from "../texts/page-address.ts";
import type { SigningKey, StoredEvent } from "../types.ts";
import { JSON_HEADERS, type Format, type Outgoing } from "./format.ts";

const PREFIX = "whsec_";
const KEY_BYTES = 32;
const GRACE_SECONDS = 24 * 3600;

/** JSON with a signature of the Standard Webhooks specification. */
export const STANDARD: Format = {
  name: "standard",
  isText: false,
  pauseMs: 0,
  build({ target, events, nowMs, redelivery, serverAddress }: Outgoing) {
    const [event] = events;
    if (!event) throw new Error("a message without an event");
    const id = buildMessageId(event.id);
    const seconds = Math.floor(nowMs / 1_000);
    const body = JSON.stringify(buildPayload(event, serverAddress));
    return {
      url: target.url,
      headers: {
        ...JSON_HEADERS,
        "webhook-id": id,
        "webhook-timestamp": String(seconds),
        "webhook-signature": sign(target.keys, { id, seconds, body }),
        ...(redelivery > 0 && { "fairway-redelivery": String(redelivery) }),
      },
      body,
    };
  },
};

export function buildMessageId(eventId: number): string {
  return `evt_${eventId}`;
}

function buildPayload({ id, type, at_ms, severity, data }: StoredEvent, serverAddress: string) {
  return {
    type,
    timestamp: new Date(at_ms).toISOString(),
    id: buildMessageId(id),
    severity,
    entity: { scope: type.split(".")[0] ?? "", id: data["id"] ?? null, name: data["name"] ?? data["username"] ?? null },
    data,
    url: serverAddress === "" ? null : findPageAddress([type], serverAddress),
  };
}

/** Signs with each key that is valid; after a rotation these are two. */
function sign(
  keys: readonly SigningKey[],
  message: { readonly id: string; readonly seconds: number; readonly body: string },
): string {
  const { id, seconds, body } = message;
  return keys
    .filter(({ until }) => until === undefined || until > seconds)
    .map(({ key }) => {
      const bytes = Buffer.from(key.slice(PREFIX.length), "base64");
      return `v1,${createHmac("sha256", bytes).update(`${id}.${seconds}.${body}`).digest("base64")}`;
    })
    .join(" ");
}

export function createSigningKey(): string {
  return `${PREFIX}${randomBytes(KEY_BYTES).toString("base64")}`;
}

/** Returns the keys with a new first one; the former one signs for another day, older ones end. */
export function rotateKeys(keys: readonly SigningKey[], key: string, nowSeconds: number): SigningKey[] {
  const former = keys.find(({ until }) => until === undefined);
  return [{ key }, ...(former ? [{ key: former.key, until: nowSeconds + GRACE_SECONDS }] : [])];
}
