import { createHash } from "node:crypto";
import type { BatchDeps } from "./types.ts";

const HASH_BYTES = 8;

/** The hashes of the custom ids of a batch, by which its results are recognized. */
export class CustomIds {
  #hashes = new Set<bigint>();

  /** Returns false for an id that was there before. */
  add(id: string): boolean {
    const before = this.#hashes.size;
    this.#hashes.add(hash(id));
    return this.#hashes.size > before;
  }

  has(id: string): boolean {
    return this.#hashes.has(hash(id));
  }

  /** Writes the hashes as text. */
  toText(): string {
    const bytes = Buffer.allocUnsafe(this.#hashes.size * HASH_BYTES);
    let at = 0;
    for (const one of this.#hashes) at = bytes.writeBigUInt64BE(one, at);
    return bytes.toString("base64");
  }

  static fromText(text: string): CustomIds {
    const bytes = Buffer.from(text, "base64");
    const ids = new CustomIds();
    for (let at = 0; at + HASH_BYTES <= bytes.length; at += HASH_BYTES) ids.#hashes.add(bytes.readBigUInt64BE(at));
    return ids;
  }
}

/** Two ids of one batch collide less often than a disk loses a bit. */
function hash(id: string): bigint {
  return createHash("sha256").update(id).digest().readBigUInt64BE();
}

/** Returns the ids of a batch; undefined if they were not stored. */
export async function readKnownIds(
  id: string,
  { database }: Pick<BatchDeps, "database">,
): Promise<CustomIds | undefined> {
  const row = await database.db.selectFrom("batch_ids").select("hashes").where("batch_id", "=", id).executeTakeFirst();
  return row && CustomIds.fromText(row.hashes);
}
