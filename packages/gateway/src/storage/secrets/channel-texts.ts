import { CHANNEL_FIELDS, listChannelFields } from "@fairway/wire";
import { hasSecrets } from "../../lib/text/secret-members.ts";
import { channelText } from "./sealed-locations.ts";
import { isSealed, type Vault } from "./secrets.ts";

/**
 * JSON columns of channels in which operators may write secrets, such as the password of a proxy or a second key in a
 * header. A text with a secret is sealed as a whole; others remain readable in the database.
 */
export const SECRET_COLUMNS = listChannelFields("secretsAt");
export type SecretColumn = (typeof SECRET_COLUMNS)[number];

/** The columns of a row, or of a part of one. */
export type SecretTexts = Partial<Record<SecretColumn, string | null | undefined>>;

/** Returns the path of a column's members, for the rules about secrets. */
export function secretPath(column: SecretColumn): readonly string[] {
  return CHANNEL_FIELDS[column].secretsAt;
}

/** Returns the columns as they are stored in the row of the channel. */
export function sealTexts<T extends SecretTexts>(fields: T, id: number, vault: Pick<Vault, "seal">): T {
  return mapTexts(fields, (text, column) =>
    hasSecrets(text, secretPath(column)) ? vault.seal(text, channelText(id, column)) : text,
  );
}

/** Returns the columns in plain text. */
export function openTexts<T extends SecretTexts & { readonly id: number }>(row: T, vault: Pick<Vault, "open">): T {
  return mapTexts(row, (text, column) => openText(text, row.id, column, vault.open));
}

export function openText(text: string, id: number, column: SecretColumn, open: Vault["open"]): string {
  return isSealed(text) ? open(text, channelText(id, column)) : text;
}

/** Returns empty columns, for a row that does not yet have the id to which its secrets are bound. */
export function withoutTexts<T extends SecretTexts>(fields: T): T {
  return mapTexts(fields, () => null);
}

function mapTexts<T extends SecretTexts>(fields: T, change: (text: string, column: SecretColumn) => string | null): T {
  const changed: SecretTexts = {};
  for (const column of SECRET_COLUMNS) {
    const text = fields[column];
    if (typeof text === "string") changed[column] = change(text, column);
  }
  return { ...fields, ...changed };
}
