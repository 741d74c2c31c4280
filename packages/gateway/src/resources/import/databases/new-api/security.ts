import { seconds } from "../../../../lib/clock.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import type { RawTransaction } from "../../../../storage/engines/raw.ts";
import { secondFactor } from "../../../../storage/secrets/sealed-locations.ts";
import { insertMany } from "../rows.ts";
import type { ImportContext } from "./context.ts";

/** The second factors of an account. */
export interface Security {
  /** Base32 secret of an enabled authenticator. */
  secret?: string;
  readonly passkeys: ForeignRow[];
}

/**
 * Returns the second factors by the user's id in the source. They are read before the users, so that no account is
 * imported without its second factor.
 */
export async function readSecurity({ source, report }: ImportContext): Promise<Map<number, Security>> {
  const all = new Map<number, Security>();
  const of = (row: ForeignRow) => {
    const security = all.get(row.int("user_id")) ?? { passkeys: [] };
    all.set(row.int("user_id"), security);
    return security;
  };
  for await (const row of readRows(source, "two_fas")) {
    const secret = row.text("secret").replaceAll(/[\s=]/g, "").toUpperCase();
    if (row.isDeleted || !row.flag("is_enabled") || !/^[A-Z2-7]+$/.test(secret)) continue;
    of(row).secret = secret;
    report.remark("users keep their authenticator; its recovery codes are not imported; users can generate new ones");
  }
  for await (const row of readRows(source, "passkey_credentials")) {
    if (row.isDeleted || row.text("credential_id") === "" || row.text("public_key") === "") continue;
    of(row).passkeys.push(row);
    report.remark("passkeys work as long as the console keeps its host name");
  }
  return all;
}

async function* readRows(source: ImportContext["source"], table: string): AsyncGenerator<ForeignRow> {
  if (!(await source.has(table))) return;
  for await (const rows of source.pages(table)) yield* rows;
}

export async function keepSecondFactor(
  { vault }: ImportContext,
  tx: RawTransaction,
  userId: number,
  security: Security | undefined,
): Promise<void> {
  const secret = security?.secret;
  const text = secret && JSON.stringify({ secret, isOn: true, lastStep: 0, recovery: [] });
  const sealed = text ? vault.seal(text, secondFactor(userId)) : null;
  await tx.run("update users set totp_secret = ? where id = ?", [sealed, userId]);
}

export async function keepPasskeys(
  { clock }: ImportContext,
  tx: RawTransaction,
  userId: number,
  security: Security | undefined,
): Promise<void> {
  for (const row of security?.passkeys ?? []) {
    const id = asUrl(row.text("credential_id"));
    const known = await tx.rows("select 1 as one from passkeys where credential_id = ?", [id]);
    if (known.length > 0) continue;
    await insertMany(tx, "passkeys", [
      {
        user_id: userId,
        credential_id: id,
        public_key: asUrl(row.text("public_key")),
        counter: row.int("sign_count"),
        name: "Passkey",
        transports: row.list("transports").join(",").slice(0, 255),
        created_at: row.time("created_at") ?? seconds(clock),
        last_used_at: row.time("last_used_at") ?? 0,
      },
    ]);
  }
}

function asUrl(base64: string): string {
  return Buffer.from(base64, "base64").toString("base64url");
}
