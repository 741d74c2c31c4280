import { randomUUID } from "node:crypto";
import type { RawDatabase, RawTransaction } from "../../../storage/engines/raw.ts";
import { upsertSql } from "../../../storage/inserts.ts";

const NAME = "identity";
const COLUMNS = ["name", "number", "text"] as const;

/** Returns what identifies this database and its copies, and creates it where it is missing. */
export async function readIdentity(database: RawDatabase): Promise<string> {
  const known = await read(database);
  if (known !== undefined) return known;
  await database.run(upsertSql(database.kind, { table: "ledger_state", columns: COLUMNS, key: ["name"] }), [
    NAME,
    0,
    randomUUID(),
  ]);
  return (await read(database)) ?? "";
}

async function read(database: RawTransaction): Promise<string | undefined> {
  const rows = await database.rows<{ text: string }>("select text from ledger_state where name = ?", [NAME]);
  return rows[0]?.text;
}
