import { isUtf8 } from "node:buffer";
import type { Usage } from "../../dialects/types.ts";
import { parseObject } from "../../lib/json.ts";
import type { Vault } from "../../storage/secrets.ts";

/** A whole, successful answer. */
export interface KeptAnswer {
  /** The bytes that the client got; of a stream its event blocks. */
  readonly body: Buffer;
  /** "" for streams, whose head follows from the request. */
  readonly contentType: string;
  /** What was charged for it. */
  readonly usage: Usage;
  /** The group that served. */
  readonly group: string;
  /** Epoch milliseconds. */
  readonly keptAt: number;
}

export type Sealer = Pick<Vault, "seal" | "open">;

/** What stands before the body. */
interface Meta extends Omit<KeptAnswer, "body"> {
  readonly key: string;
  /** How the body is written as text. */
  readonly encoding: "utf8" | "latin1";
}

/** The answer as text that only this installation can read, and only under its own key. */
export function sealAnswer(key: string, { body, ...rest }: KeptAnswer, sealer: Sealer): string {
  const meta: Meta = { ...rest, key, encoding: isUtf8(body) ? "utf8" : "latin1" };
  return sealer.seal(`${JSON.stringify(meta)}\n${body.toString(meta.encoding)}`);
}

/** Throws for a text that was changed or is sealed with a key that is gone; undefined for one of another key. */
export function openAnswer(key: string, sealed: string, sealer: Sealer): KeptAnswer | undefined {
  const text = sealer.open(sealed);
  const end = text.indexOf("\n");
  const meta = parseObject(text.slice(0, end)) as Meta | undefined;
  if (meta?.key !== key) return undefined;
  const { contentType, usage, group, keptAt, encoding } = meta;
  return { contentType, usage, group, keptAt, body: Buffer.from(text.slice(end + 1), encoding) };
}
