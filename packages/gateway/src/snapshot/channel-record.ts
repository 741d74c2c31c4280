import {
  CHANNEL_FIELD_NAMES,
  readRelayedFields,
  splitList,
  type ChannelColumns,
  type ChannelFieldWith,
} from "@fairway/wire";
import { isObject, parseObject, type JsonObject } from "../lib/text/json.ts";
import { providerByType } from "../providers/registry.ts";
import { withoutEndpoint } from "../providers/core/join-url.ts";
import { parseListed, buildServerKey } from "../providers/core/listed-models.ts";
import { findHeaderFault } from "../providers/core/channel-headers.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import { keysInUse, readKeyStates } from "./key-states.ts";
import type { ChannelTable } from "../storage/tables/schema.ts";
import { openTexts } from "../storage/secrets/channel-texts.ts";
import { channelKey } from "../storage/secrets/sealed-locations.ts";
import { type Vault } from "../storage/secrets/secrets.ts";

/** The columns required for routing. */
export const CHANNEL_COLUMNS = [
  "id",
  ...CHANNEL_FIELD_NAMES,
  "key_sealed",
  "channel_info",
  "listed_models",
] as const satisfies readonly (keyof ChannelTable)[];

/** Fields whose initial value stands for an absent column. */
type PlainField = Exclude<ChannelFieldWith<"isRelayed">, "type" | "other">;

/** A row as a refresh reads it, or a form that is not stored yet. */
export type ChannelRow = Omit<ChannelColumns, PlainField> & {
  readonly [F in PlainField]?: ChannelColumns[F];
} & {
  readonly id: number;
  readonly key_sealed: string;
  readonly channel_info: string | null;
  readonly listed_models?: string | null;
};

const FIRST_STATUS = 100;
const LOWEST_STATUS = 400;
const HIGHEST_STATUS = 599;

/** Reads a stored channel; throws an Error that names the unreadable field. */
export function channelRecord(sealed: ChannelRow, open: Vault["open"]): ChannelRecord {
  const row = openTexts(sealed, { open });
  const setting = object("setting", row.setting) ?? {};
  const base = baseUrl(row);
  const keys = splitKeys(open(row.key_sealed, channelKey(row.id)), row.type);
  return Object.freeze({
    id: row.id,
    ...readRelayedFields(row),
    keys: Object.freeze(keys),
    usableKeys: keysInUse(keys.length, readKeyStates(row.channel_info)),
    keyMode: setting["multi_key_mode"] === "polling" ? "polling" : "random",
    baseUrl: base,
    organization: row.openai_organization,
    models: new Set(splitList(row.models)),
    groups: Object.freeze(splitList(row.group)),
    modelMapping: modelMapping(row.model_mapping),
    statusMapping: statusMapping(row.status_code_mapping),
    weight: Math.max(0, row.weight),
    autoBan: row.auto_ban === 1,
    tag: row.tag ?? "",
    setting,
    paramOverride: object("param_override", row.param_override),
    headers: channelHeaders(setting, object("header_override", row.header_override)),
    listed: parseListed(row.listed_models ?? null, buildServerKey({ type: row.type, baseUrl: base })),
  });
}

/**
 * Returns the headers by lower-case name, without those that no call may have: the row may be older than that check.
 */
export function channelHeaders(setting: JsonObject, override: JsonObject = {}): ReadonlyMap<string, string> {
  const { headers } = setting;
  const pairs = Object.entries({ ...(isObject(headers) && headers), ...override }).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string" && findHeaderFault(pair[0], pair[1]) === undefined,
  );
  return new Map(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}

/**
 * Returns the base URL without trailing slashes and without the endpoint of a full address; replaces the name of a plan
 * with its address.
 */
function baseUrl({ type, base_url }: ChannelRow): string {
  const written = base_url.trim().replace(/\/+$/, "");
  const provider = providerByType(type);
  const named = provider?.namedBases ?? {};
  if (Object.hasOwn(named, written)) return named[written] ?? written;
  return provider?.hasWholeUrl ? written : withoutEndpoint(written);
}

export type ChannelReader = (
  rows: readonly ChannelRow[],
  onUnreadable: (row: ChannelRow, error: unknown) => void,
) => ChannelRecord[];

/**
 * Reads all channels and reuses the record of an unchanged row: usually only one of a thousand channels changes, and
 * decrypting the keys of the others would take half of a refresh.
 */
export function createChannelReader(open: Vault["open"]): ChannelReader {
  let known = new Map<number, { readonly row: ChannelRow; readonly record: ChannelRecord }>();
  return (rows, onUnreadable) => {
    const next: typeof known = new Map();
    for (const row of rows) {
      const before = known.get(row.id);
      const isSame = before && CHANNEL_COLUMNS.every((column) => before.row[column] === row[column]);
      try {
        next.set(row.id, { row, record: isSame ? before.record : channelRecord(row, open) });
      } catch (error) {
        onUnreadable(row, error);
      }
    }
    known = next;
    return [...next.values()].map(({ record }) => record);
  };
}

/** Returns the upstream keys of a channel: one per line, except for service accounts, which span several lines. */
export function splitKeys(text: string, type: number): string[] {
  const whole = text.trim();
  if (providerByType(type)?.hasKeyFile || parseObject(whole) !== undefined) return [whole];
  const lines = whole.split("\n").map((line) => line.trim());
  const keys = lines.filter((line) => line !== "");
  return keys.length === 0 ? [""] : keys;
}

function modelMapping(text: string): ReadonlyMap<string, string> {
  const pairs = Object.entries(object("model_mapping", text) ?? {});
  const names = pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string");
  if (names.length < pairs.length) throw new Error("model_mapping names something that is not text");
  return new Map(names);
}

/**
 * Parses a status mapping. Skips entries that do not map to an error status: forms refuse them, but older rows may have
 * some.
 */
function statusMapping(text: string): ReadonlyMap<number, number> {
  const pairs = Object.entries(object("status_code_mapping", text) ?? {});
  return new Map(pairs.map(([from, to]) => statusPair(from, to)).filter((pair) => pair !== undefined));
}

/** Returns one entry of a status mapping; undefined for numbers that are no statuses, or no error as the target. */
export function statusPair(from: string, to: unknown): readonly [number, number] | undefined {
  const [old, mapped] = [status(from), status(to)];
  if (old === undefined || mapped === undefined || old < FIRST_STATUS || old > HIGHEST_STATUS) return undefined;
  return mapped >= LOWEST_STATUS && mapped <= HIGHEST_STATUS ? [old, mapped] : undefined;
}

function status(value: unknown): number | undefined {
  if (typeof value === "string" && /^\d+$/.test(value)) return Number(value);
  return typeof value === "number" && Number.isInteger(value) ? value : undefined;
}

/** Parses an object; blank text and `null` count as absent. */
function object(field: string, text: string | null): JsonObject | undefined {
  if (text === null || text.trim() === "" || text.trim() === "null") return undefined;
  const value = parseObject(text);
  if (isObject(value)) return Object.freeze(value);
  throw new Error(`${field} is not a JSON object`);
}
