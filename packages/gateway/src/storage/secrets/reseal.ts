import type { Database } from "../database.ts";
import type { RawTransaction } from "../engines/raw.ts";
import { isSealed, VaultError, type Vault } from "./secrets.ts";

/** Where sealed texts are. */
interface SealedColumn {
  readonly table: string;
  readonly id: string;
  readonly column: string;
  /** Hash of the same text, when one is kept. */
  readonly hash?: string;
}

const PLACES: readonly SealedColumn[] = [
  { table: "channels", id: "id", column: "key_sealed", hash: "key_hash" },
  { table: "tokens", id: "id", column: "key_sealed", hash: "key_hash" },
  { table: "users", id: "id", column: "totp_secret" },
  { table: "options", id: "key", column: "value" },
];
const BATCH = 200;

interface Row {
  readonly id: string | number;
  readonly sealed: string | null;
  readonly hash: string | null;
}

/**
 * Opens the newest sealed text of every table. Throws a VaultError when the keys are not those of this database:
 * found out at the start, before anything is written that others cannot read.
 */
export async function verifyVault(database: Database, vault: Vault): Promise<void> {
  for (const { table, id, column, hash } of PLACES) {
    const [row] = await database.raw.rows<Row>(
      `select "${id}" as id, "${column}" as sealed, ${hash ?? "null"} as hash from ${table} where "${column}" like ? order by "${id}" desc limit 1`,
      ["v1:%"],
    );
    if (!row || row.sealed === null) continue;
    const text = vault.open(row.sealed);
    if (row.hash !== null && vault.hashKey(text) !== row.hash) {
      throw new VaultError(
        "the last key of FAIRWAY_ENCRYPTION_KEY is not the one that this database began with, so no token would be found: put the first key back at the end of the list",
      );
    }
  }
}

/** Seals everything with the active key; answers how many texts changed. Runs beside a working gateway. */
export async function reseal(database: Database, vault: Vault): Promise<number> {
  let changed = 0;
  for (const place of PLACES) changed += await resealTable(database, vault, place);
  return changed;
}

async function resealTable(database: Database, vault: Vault, { table, id, column }: SealedColumn): Promise<number> {
  const select = `select "${id}" as id, "${column}" as sealed from ${table} where "${id}" > ? order by "${id}" limit ${BATCH}`;
  const update = `update ${table} set "${column}" = ? where "${id}" = ? and "${column}" = ?`;
  let changed = 0;
  let last: Row["id"] = id === "id" ? 0 : "";
  for (;;) {
    const rows: Row[] = await database.raw.rows<Row>(select, [last]);
    const next = rows.at(-1);
    if (!next) return changed;
    last = next.id;
    const old = rows.flatMap((row) =>
      row.sealed !== null && isSealed(row.sealed) && vault.needsReseal(row.sealed)
        ? [{ id: row.id, sealed: row.sealed }]
        : [],
    );
    if (old.length > 0) changed += await database.raw.transaction((tx) => resealRows(tx, update, vault, old));
  }
}

/** A text that somebody changed meanwhile is sealed with the active key already, so it is left alone. */
async function resealRows(
  tx: RawTransaction,
  update: string,
  vault: Vault,
  rows: readonly { readonly id: Row["id"]; readonly sealed: string }[],
): Promise<number> {
  let changed = 0;
  for (const row of rows) changed += await tx.run(update, [vault.seal(vault.open(row.sealed)), row.id, row.sealed]);
  return changed;
}
