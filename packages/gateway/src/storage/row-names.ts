import { inChunks } from "../lib/chunks.ts";
import type { RawDatabase } from "./engines/raw.ts";

const IDS_PER_STATEMENT = 200;
const NAME_COLUMNS = { tokens: "name", users: "username", channels: "name" } as const;

/** Names of rows by id; deleted users and tokens have one as long as their row exists. */
export async function readRowNames(
  raw: Pick<RawDatabase, "rows">,
  table: keyof typeof NAME_COLUMNS,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  for (const some of inChunks(ids, IDS_PER_STATEMENT)) {
    const marks = some.map(() => "?").join(", ");
    const text = `select id, ${NAME_COLUMNS[table]} as name from ${table} where id in (${marks})`;
    for (const { id, name } of await raw.rows<{ id: number; name: string }>(text, some)) names.set(Number(id), name);
  }
  return names;
}
