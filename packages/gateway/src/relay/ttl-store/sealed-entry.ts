import { isUtf8 } from "node:buffer";
import { parseObject } from "../../lib/text/json.ts";
import type { Vault } from "../../storage/secrets/secrets.ts";
import type { Entry } from "./ttl-store.ts";
import { redisEntry } from "../../storage/secrets/sealed-locations.ts";

export type Sealer = Pick<Vault, "seal" | "open">;

/** How a body is written as text. */
type Encoding = "utf8" | "latin1";

/** Returns the entry as text that only this installation can read, and only under its own key. */
export function sealEntry<E extends Entry>(key: string, { body, ...rest }: E, sealer: Sealer): string {
  const encoding: Encoding = isUtf8(body) ? "utf8" : "latin1";
  return sealer.seal(`${JSON.stringify({ ...rest, key, encoding })}\n${body.toString(encoding)}`, redisEntry(key));
}

/** Throws if the text was changed or its sealing key no longer exists; undefined for the text of another entry. */
export function openEntry<E extends Entry>(key: string, sealed: string, sealer: Sealer): E | undefined {
  const text = sealer.open(sealed, redisEntry(key));
  const end = text.indexOf("\n");
  const meta = parseObject(text.slice(0, end));
  if (meta?.["key"] !== key) return undefined;
  const { key: _key, encoding, ...rest } = meta;
  return { ...rest, body: Buffer.from(text.slice(end + 1), encoding as Encoding) } as unknown as E;
}
