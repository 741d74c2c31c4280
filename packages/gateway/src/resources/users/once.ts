import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Principal } from "../../identity/principal.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { RawTransaction } from "../../storage/engines/raw.ts";

/** A change of a balance that its caller named, so that another try of it changes nothing. */
export interface Once {
  /** Begins the request id of every change that this caller sends with this key. */
  readonly prefix: string;
  /** Names the key and the change in the ledger. */
  readonly requestId: string;
}

/** As the relay takes it. */
const KEY = /^[\w.\-:]{1,255}$/;
/** Base64url characters of a hash that a request id has room for. */
const HASH_CHARS = 26;

/** The header `Idempotency-Key`; undefined without one. Each caller has keys of its own. Refuses with `idempotency_key_invalid`. */
export function readIdempotencyKey(
  request: IncomingMessage,
  caller: Principal,
  change: Readonly<Record<string, string | number>>,
): Once | undefined {
  const header = request.headers["idempotency-key"];
  if (header === undefined) return undefined;
  const key = String(header).trim();
  if (!KEY.test(key)) throw new Refusal("idempotency_key_invalid", { field: "Idempotency-Key" });
  const prefix = `once-${hashValue([caller.userId, key])}`;
  return { prefix, requestId: `${prefix}-${hashValue(change)}` };
}

/** Whether the change was applied before; refuses with `idempotency_key_reused` where the key named another one. The caller is locked. */
export async function isApplied(tx: RawTransaction, { prefix, requestId }: Once): Promise<boolean> {
  const rows = await tx.rows<{ request_id: string }>(
    "select request_id from ledger where request_id > ? and request_id < ? and kind = 'adjust'",
    // The sign behind "-" ends what begins with it.
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
