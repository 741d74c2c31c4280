import type { Database } from "./database.ts";
import { upsertSql } from "./inserts.ts";
import type { RawDatabase, RawTransaction } from "./engines/raw.ts";

/** What may be kept in memory and must be read again after a change. */
export type Topic = "options" | "channels" | "tokens" | "users";

export type Revisions = Readonly<Record<Topic, number>>;

const NONE: Revisions = { options: 0, channels: 0, tokens: 0, users: 0 };
const BUMP = { table: "revisions", columns: ["topic", "revision"], key: ["topic"], add: ["revision"] } as const;

/** A column of a query of tokens: the revision that its rows have, from the same view of the database. */
export const TOKENS_REVISION = `coalesce((select revision from revisions where topic = 'tokens'), 0) as revision`;

/** Counts a topic up in the transaction of the change, so that no reader can see one without the other. */
export async function bump(tx: RawTransaction, kind: RawDatabase["kind"], topic: Topic): Promise<void> {
  await tx.run(upsertSql(kind, BUMP), [topic, 1]);
}

/** The counts of all topics; a topic that never changed is 0. */
export async function readRevisions({ raw }: Pick<Database, "raw">): Promise<Revisions> {
  const rows = await raw.rows<{ topic: Topic; revision: number }>("select topic, revision from revisions", []);
  return { ...NONE, ...Object.fromEntries(rows.map(({ topic, revision }) => [topic, revision])) };
}
