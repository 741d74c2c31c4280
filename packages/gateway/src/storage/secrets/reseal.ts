import type { Database } from "../database.ts";
import type { RawTransaction } from "../engines/raw.ts";
import { hasSecrets } from "../../lib/text/secret-members.ts";
import { SECRET_COLUMNS, secretPath, type SecretColumn } from "./channel-texts.ts";
import {
  channelKey,
  channelText,
  optionValue,
  providerSecret,
  secondFactor,
  tokenKey,
  webhookTarget,
  type SealedLocation,
} from "./sealed-locations.ts";
import { isSealed, VaultError, type Vault } from "./secrets.ts";
import { hashedForms } from "./token-key-forms.ts";

/** A column with sealed texts. */
interface SealedColumn {
  readonly table: string;
  readonly id: string;
  readonly column: string;
  /** The column `key_hash` holds the keyed hash of one of these forms of the text. */
  readonly hashed?: (text: string) => readonly string[];
  buildLocation(id: string | number): SealedLocation;
  /** True for a plain text that has to be sealed. */
  readonly isSecret?: (text: string) => boolean;
}

function channelPlace(column: SecretColumn): SealedColumn {
  return {
    table: "channels",
    id: "id",
    column,
    buildLocation: (id) => channelText(Number(id), column),
    isSecret: (text) => hasSecrets(text, secretPath(column)),
  };
}

const PLACES: readonly SealedColumn[] = [
  {
    table: "channels",
    id: "id",
    column: "key_sealed",
    hashed: (key) => [key],
    buildLocation: (id) => channelKey(Number(id)),
  },
  ...SECRET_COLUMNS.map(channelPlace),
  { table: "tokens", id: "id", column: "key_sealed", hashed: hashedForms, buildLocation: (id) => tokenKey(Number(id)) },
  { table: "users", id: "id", column: "totp_secret", buildLocation: (id) => secondFactor(Number(id)) },
  { table: "options", id: "key", column: "value", buildLocation: (key) => optionValue(String(key)) },
  {
    table: "webhook_endpoints",
    id: "id",
    column: "target_sealed",
    buildLocation: (id) => webhookTarget(Number(id)),
  },
  {
    table: "identity_providers",
    id: "slug",
    column: "secret_sealed",
    buildLocation: (slug) => providerSecret(String(slug)),
  },
];

/** The columns that a rotation of keys reads, for a test that finds the others. */
export const SEALED_COLUMNS: readonly string[] = PLACES.map(({ table, column }) => `${table}.${column}`);

const BATCH = 200;
/** Number of newest rows to search for a key that is known as a whole; channels have only such keys. */
const NEWEST = 200;

interface Row {
  readonly id: string | number;
  readonly sealed: string | null;
  readonly hash: string | null;
}

/**
 * Opens the newest sealed text of every table. Throws a VaultError if the keys do not belong to this database, at the
 * start and before anything is written that others cannot read.
 */
export async function verifyVault(database: Database, vault: Vault): Promise<void> {
  for (const place of PLACES) {
    const { table, id, column, hashed, buildLocation } = place;
    const rows = await database.raw.rows<Row>(
      `select "${id}" as id, "${column}" as sealed, ${hashed ? "key_hash" : "null"} as hash from ${table} where "${column}" like ? or "${column}" like ? order by "${id}" desc limit ${NEWEST}`,
      ["v1:%", "v2:%"],
    );
    const sealed = rows.filter((row) => row.sealed !== null && isSealed(row.sealed));
    for (const row of sealed) {
      const text = vault.open(row.sealed ?? "", buildLocation(row.id));
      const forms = row.hash === null ? undefined : hashed?.(text);
      // A key whose last letters alone are known proves nothing, so an older one decides.
      if (forms?.length === 0) continue;
      checkHash(vault, row, forms);
      break;
    }
  }
}

function checkHash(vault: Vault, { hash }: Row, forms: readonly string[] | undefined): void {
  if (hash === null || forms === undefined || forms.some((form) => vault.matchesHash(form, hash))) return;
  throw new VaultError(
    "the last key of FAIRWAY_ENCRYPTION_KEY is not the one that this database began with, so no token would be found: put the first key back at the end of the list",
  );
}

/** Returns a sealed text of a row, with its location. */
export function sealedIn(
  table: string,
  row: Readonly<Record<string, unknown>>,
): { readonly sealed: string; readonly location: SealedLocation } | undefined {
  for (const own of PLACES) {
    const sealed = own.table === table && row[own.column];
    if (typeof sealed === "string" && isSealed(sealed))
      return { sealed, location: own.buildLocation(row[own.id] as string | number) };
  }
  return undefined;
}

/**
 * Seals everything with the active key, including secrets that an earlier version stored as plain text; returns how
 * many texts changed. Safe while a gateway is running.
 */
export async function reseal(database: Database, vault: Vault): Promise<number> {
  let changed = 0;
  for (const location of PLACES) changed += await resealTable(database, vault, location);
  return changed;
}

async function resealTable(database: Database, vault: Vault, location: SealedColumn): Promise<number> {
  const { table, id, column, isSecret } = location;
  const isDue = (text: string) => (isSealed(text) ? vault.needsReseal(text) : isSecret?.(text) === true);
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
      row.sealed !== null && isDue(row.sealed) ? [{ id: row.id, sealed: row.sealed }] : [],
    );
    if (old.length > 0)
      changed += await database.raw.transaction((tx) => resealRows(tx, update, { vault, location, rows: old }));
  }
}

interface Resealing {
  readonly vault: Vault;
  readonly location: SealedColumn;
  readonly rows: readonly { readonly id: Row["id"]; readonly sealed: string }[];
}

/** A text that changed in the meantime is already sealed with the active key, so it is skipped. */
async function resealRows(tx: RawTransaction, update: string, { vault, location, rows }: Resealing): Promise<number> {
  let changed = 0;
  for (const { id, sealed } of rows) {
    const own = location.buildLocation(id);
    const text = isSealed(sealed) ? vault.open(sealed, own) : sealed;
    changed += await tx.run(update, [vault.seal(text, own), id, sealed]);
  }
  return changed;
}
