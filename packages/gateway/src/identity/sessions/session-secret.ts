import { randomBytes } from "node:crypto";
import { Secret } from "../../lib/secret.ts";
import type { Database } from "../../storage/database.ts";
import { upsertSql } from "../../storage/inserts.ts";
import { optionValue } from "../../storage/secrets/sealed-locations.ts";
import { type Vault } from "../../storage/secrets/secrets.ts";

/** A row of `options` that no call shows, because it is not an option of the registry. */
const KEY = "fairway.session_secret";
const PLACE = optionValue(KEY);
const BYTES = 32;

type Sealer = Pick<Vault, "seal" | "open">;

/**
 * Returns the secret from the environment, or else the one in the database, which the first start creates. It is the
 * same on all replicas.
 */
export async function loadSessionSecret(
  { raw }: Pick<Database, "raw">,
  sealer: Sealer,
  given: Secret | undefined,
): Promise<Secret> {
  if (given) return given;
  const insert = upsertSql(raw.kind, { table: "options", columns: ["key", "value"], key: ["key"] });
  await raw.run(insert, [KEY, sealer.seal(randomBytes(BYTES).toString("hex"), PLACE)]);
  const [row] = await raw.rows<{ value: string }>('select value from options where "key" = ?', [KEY]);
  if (!row) throw new Error("the session secret was not stored");
  return new Secret(sealer.open(row.value, PLACE));
}
