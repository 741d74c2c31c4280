import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { nameCaller, type Principal } from "../../identity/principal.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";

/** A balance change with an idempotency key, so that repeating it changes nothing. */
export interface Once {
  /** Prefix of the request ids of all changes that this caller sends with this key. */
  readonly prefix: string;
  /** Identifies the key and the change in the ledger. */
  readonly requestId: string;
}

/** The format that the relay accepts. */
const KEY = /^[\w.\-:]{1,255}$/;
/** Number of base64url characters of a hash that fit into a request id. */
const HASH_CHARS = 26;

/**
 * Reads the header `Idempotency-Key`; undefined if there is none. Each caller has separate keys. Throws
 * `idempotency_key_invalid`.
 */
export function readIdempotencyKey(
  request: IncomingMessage,
  caller: Principal,
  change: Readonly<Record<string, string | number>>,
): Once | undefined {
  const header = request.headers["idempotency-key"];
  if (header === undefined) return undefined;
  const key = String(header).trim();
  if (!KEY.test(key)) throw new Refusal("idempotency_key_invalid", { field: "Idempotency-Key" });
  const prefix = `once-${hashValue([nameCaller(caller), key])}`;
  return { prefix, requestId: `${prefix}-${hashValue(change)}` };
}

/**
 * Returns whether the change was applied before; throws `idempotency_key_reused` if the key was used for another
 * change. The caller is locked.
 */
export async function isApplied(tx: RawTransaction, { prefix, requestId }: Once): Promise<boolean> {
  const rows = await tx.rows<{ request_id: string }>(
    "select request_id from ledger where request_id > ? and request_id < ? and kind = 'adjust'",
    // "." follows "-", so it ends the range of texts with this prefix.
    [`${prefix}-`, `${prefix}.`],
  );
  const [known] = rows;
  if (known && known.request_id !== requestId)
    throw new Refusal("idempotency_key_reused", { field: "Idempotency-Key" });
  return known !== undefined;
}

function hashValue(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, HASH_CHARS);
}
