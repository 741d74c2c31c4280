import type { Channel } from "@fairway/wire";
import type { Selectable } from "kysely";
import { parseObject } from "../../lib/text/json.ts";
import { hintedText } from "../../lib/text/secret-members.ts";
import type { ChannelTable } from "../../storage/tables/schema.ts";
import { secretPath, type SecretColumn } from "../../storage/secrets/channel-texts.ts";
import { keyLines } from "./input.ts";

/** Columns that lists read; the sealed key stays in the database. */
export const VIEW_COLUMNS = [
  "id",
  "type",
  "openai_organization",
  "test_model",
  "status",
  "name",
  "weight",
  "created_time",
  "test_time",
  "response_time",
  "test_error",
  "base_url",
  "other",
  "balance",
  "balance_updated_time",
  "models",
  "group",
  "used_quota",
  "model_mapping",
  "status_code_mapping",
  "max_input_tokens",
  "cost_ratio",
  "priority",
  "auto_ban",
  "other_info",
  "tag",
  "setting",
  "param_override",
  "header_override",
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
  const shown = (column: SecretColumn) => hintedText(row[column] ?? "", secretPath(column));
  return {
    setting: shown("setting"),
    param_override: shown("param_override"),
    header_override: shown("header_override"),
  };
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
