import type { Database } from "./database.ts";
import { upsertSql } from "./inserts.ts";
import type { RawDatabase, RawTransaction } from "./engines/raw.ts";

/** Topics that may be cached in memory and must be reloaded after a change. */
export type Topic = "options" | "channels" | "tokens" | "users";

export type Revisions = Readonly<Record<Topic, number>>;

const NONE: Revisions = { options: 0, channels: 0, tokens: 0, users: 0 };
const BUMP = { table: "revisions", columns: ["topic", "revision"], key: ["topic"], add: ["revision"] } as const;

/** A column for token queries: the revision of tokens, from the same database snapshot. */
export const TOKENS_REVISION = `coalesce((select revision from revisions where topic = 'tokens'), 0) as revision`;

/** Increments a topic in the transaction of the change, so that readers see both or neither. */
export async function bump(tx: RawTransaction, kind: RawDatabase["kind"], topic: Topic): Promise<void> {
  await tx.run(upsertSql(kind, BUMP), [topic, 1]);
}

/**
 * Records on a token that its limit changed, after `bump` and in the same transaction, so that stores of limits outside
 * the database find the change by its revision.
 */
export async function noteLimitChange(tx: RawTransaction, tokenId: number): Promise<void> {
  const revision = "(select revision from revisions where topic = 'tokens')";
  await tx.run(`update tokens set limit_revision = ${revision} where id = ?`, [tokenId]);
}

/** Returns a number that increases with each change of the contents of a snapshot. */
export function snapshotRevision({ options, channels }: Revisions): number {
  return options + channels;
}

/** Returns the revisions of all topics; 0 for a topic that never changed. */
export async function readRevisions({ raw }: Pick<Database, "raw">): Promise<Revisions> {
  const rows = await raw.rows<{ topic: Topic; revision: number }>("select topic, revision from revisions", []);
  return { ...NONE, ...Object.fromEntries(rows.map(({ topic, revision }) => [topic, revision])) };
}
