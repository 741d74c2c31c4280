import { CHANNEL_FIELD_NAMES, type Channel } from "@fairway/wire";
import type { Selectable } from "kysely";
import { parseObject } from "../../lib/text/json.ts";
import { hintedText } from "../../lib/text/secret-members.ts";
import type { ChannelTable } from "../../storage/tables/schema.ts";
import { SECRET_COLUMNS, secretPath, type SecretColumn } from "../../storage/secrets/channel-texts.ts";
import { keyLines } from "./input.ts";

/** Columns that lists read; the sealed key stays in the database. */
export const VIEW_COLUMNS = [
  "id",
  ...CHANNEL_FIELD_NAMES,
  "created_time",
  "test_time",
  "response_time",
  "test_error",
  "balance",
  "balance_updated_time",
  "used_quota",
  "other_info",
  "version",
] as const satisfies readonly (keyof ChannelTable)[];

/** A row whose texts are in clear, as the store reads it. */
export type ChannelRow = Pick<Selectable<ChannelTable>, (typeof VIEW_COLUMNS)[number]>;

/**
 * Returns a row as responses show it, with hints in place of secrets. Compatible consoles cannot read null in texts.
 */
export function toChannel(row: ChannelRow): Channel {
  return { ...row, key: "", test_error: row.test_error ?? "", ...hintedTexts(row) };
}

/** Returns the columns that may contain secrets, with hints in their place. */
export function hintedTexts(row: Pick<ChannelRow, SecretColumn>): Record<SecretColumn, string> {
  const shown = SECRET_COLUMNS.map((column) => [column, hintedText(row[column] ?? "", secretPath(column))]);
  return Object.fromEntries(shown) as Record<SecretColumn, string>;
}

const HINT_CHARS = 4;
const SHORTEST_HINTED_KEY = 20;

/** Returns facts that distinguish a channel's key from others without revealing it. */
export function keyFacts(key: string): { key_count: number; key_hint: string } {
  const keys = parseObject(key) ? [key] : keyLines(key);
  const [only] = keys;
  const isHinted =
    keys.length === 1 &&
    only !== undefined &&
    only.length >= SHORTEST_HINTED_KEY &&
    !only.includes("\n") &&
    !parseObject(only);
  return { key_count: keys.length, key_hint: isHinted ? only.slice(-HINT_CHARS) : "" };
}
