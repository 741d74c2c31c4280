import {
  CHANNEL_STATUS,
  characters,
  compatibleKeyFile,
  compatibleKeyParts,
  compatibleOther,
  compatibleType,
  compatibleTypeName,
} from "@fairway/wire";
import { seconds } from "../../../../lib/clock.ts";
import { parseObject } from "../../../../lib/text/json.ts";
import { providerByType } from "../../../../providers/registry.ts";
import { rebuildAbilities } from "../../../channels/abilities.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import type { SqlValue } from "../../../../storage/engines/raw.ts";
import { transact } from "../../../../storage/transaction.ts";
import { openCounter } from "../../../../billing/ledger/booking/opening-counter.ts";
import { insertKeepingId, placing } from "../rows.ts";
import { channelTexts, type ChannelTexts } from "./channel-texts.ts";
import { remarkColumns } from "./columns.ts";
import type { ImportContext } from "./context.ts";
import type { Served } from "../../upstream-prices.ts";
import { sealTexts, withoutTexts } from "../../../../storage/secrets/channel-texts.ts";
import { channelKey } from "../../../../storage/secrets/sealed-locations.ts";

const ABILITY_COLUMNS = ["id", "status", "models", "group", "priority", "weight", "tag"] as const;

export async function importChannels(context: ImportContext): Promise<void> {
  for await (const rows of context.source.pages("channels")) {
    for (const row of rows) {
      const keys = readKeys(row);
      for (const [index, key] of keys.entries()) await importChannel(context, row, { key, index });
    }
    context.progress("channels");
  }
  await routeChannels(context);
}

interface Part {
  readonly key: string;
  /** Above 0 for the further keys of a channel whose keys are files: here, each of them gets its own channel. */
  readonly index: number;
}

async function importChannel(context: ImportContext, row: ForeignRow, { key, index }: Part): Promise<void> {
  const { target, vault, channels, report } = context;
  if (index === 0) context.served.push(servedBy(row, key));
  const name = buildName(row, index);
  const place = readRouting(context, row);
  if (!place || !providerByType(place.type)) {
    const type = compatibleTypeName(context.kind, row.int("type"));
    const note = `the channel ${name} has the type ${type}, which this gateway does not know`;
    return report.count("channels", "skipped", { note });
  }
  const hash = vault.hashKey(key);
  // A gateway that does not show a key may have got it here since the last run.
  const isHidden = context.server !== undefined && key === "";
  const find = `select id from channels where name = ? and type = ?${isHidden ? "" : " and key_hash = ?"}`;
  const named = isHidden ? [name, place.type] : [name, place.type, hash];
  const [known] = await target.raw.rows<{ id: number }>(find, named);
  if (index === 0) channels.set(row.int("id"), known?.id ?? row.int("id"));
  if (known) return report.count("channels", "unchanged");
  report.count("channels", "created");
  const texts = channelTexts(row, name, report);
  remarkColumns(report, "channels", row, name);
  const status = resolveStatus(row, { key, type: place.type, name, report });
  const values = { ...channelRow(context, row), ...place, ...texts, ...withoutTexts(texts), name, status };
  await storeChannel(context, { row, index, key, hash, find, named, texts, values: { ...values, name } });
}

function buildName(row: ForeignRow, index: number): string {
  const plain = row.text("name").slice(0, 180) || `channel ${row.int("id")}`;
  return index === 0 ? plain : `${plain} (${index + 1})`;
}

interface NewChannel extends Part {
  readonly row: ForeignRow;
  readonly hash: string;
  /** Finds the channel by `named`. */
  readonly find: string;
  readonly named: readonly (string | number)[];
  readonly texts: ChannelTexts;
  readonly values: Record<string, SqlValue> & { readonly name: string };
}

async function storeChannel(context: ImportContext, fresh: NewChannel): Promise<void> {
  const { target, vault, channels } = context;
  const { row, index, key, hash, find, named, texts, values } = fresh;
  await target.raw.transaction(async (tx) => {
    const oldId = index === 0 ? row.int("id") : undefined;
    const inserted = { ...values, key_sealed: "", key_hash: hash };
    await placing([{ values: inserted, from: row }], () => insertKeepingId(tx, "channels", oldId, inserted));
    const [made] = await tx.rows<{ id: number }>(find, named);
    if (!made) throw new Error(`the channel ${values.name} was not stored`);
    await openCounter(tx, target.kind, { counter: "channel_used", id: made.id, amount: row.int("used_quota") });
    const { setting, param_override, header_override } = sealTexts(texts, made.id, vault);
    const sealed = vault.seal(key, channelKey(made.id));
    await tx.run(
      "update channels set key_sealed = ?, setting = ?, param_override = ?, header_override = ? where id = ?",
      [sealed, setting, param_override, header_override, made.id],
    );
    if (index === 0) channels.set(row.int("id"), made.id);
    context.routed.push(made.id);
  });
}

/** Returns true for a channel without its key, which could only fail. */
function isKeyless(row: ForeignRow, { key, type }: { readonly key: string; readonly type: number }): boolean {
  const isOn = row.int("status", CHANNEL_STATUS.enabled) === CHANNEL_STATUS.enabled;
  return isOn && key === "" && providerByType(type)?.isKeyOptional !== true;
}

interface StatusPlace {
  readonly key: string;
  readonly type: number;
  readonly name: string;
  readonly report: ImportContext["report"];
}

function resolveStatus(row: ForeignRow, { key, type, name, report }: StatusPlace): number {
  const status = row.int("status", CHANNEL_STATUS.enabled);
  if (!isKeyless(row, { key, type }))
    return Object.values<number>(CHANNEL_STATUS).includes(status) ? status : CHANNEL_STATUS.disabledByHand;
  report.remark("channel(s) without a key, off until one is set", name);
  return CHANNEL_STATUS.disabledByHand;
}

function servedBy(row: ForeignRow, key: string): Served {
  const names = parseObject(row.text("model_mapping")) ?? {};
  const there = (model: string) => (typeof names[model] === "string" ? names[model] : model);
  const models = new Map(row.list("models").map((model) => [model, there(model)]));
  const [first = ""] = key.split("\n", 1);
  return { address: row.text("base_url").trim().replace(/\/+$/, ""), key: first.trim(), models };
}

interface RoutingSettings {
  readonly type: number;
  readonly base_url: string;
  readonly other: string;
}

function readRouting({ kind }: ImportContext, row: ForeignRow): RoutingSettings | undefined {
  const own = row.text("base_url").trim().replace(/\/+$/, "");
  const here = compatibleType(kind, row.int("type"), row.list("models"));
  const other = kind === "new-api" ? row.text("other") : compatibleOther(readConfig(row), row.text("other"));
  return here && { type: here.type, base_url: own || (here.baseUrl ?? ""), other };
}

const VERTEX = 41;

/** Returns the keys. Keys on separate lines stay together; keys that are files (JSON) cannot. */
function readKeys(row: ForeignRow): string[] {
  const file = compatibleKeyFile(readConfig(row));
  if (file !== undefined) return [file];
  const key = row.text("key").trim();
  const parts = compatibleKeyParts(readConfig(row));
  if (key === "" && parts !== undefined) return [parts];
  const files =
    row.int("type") === VERTEX && key.startsWith("[") ? parseObject(`{"keys":${key}}`)?.["keys"] : undefined;
  return Array.isArray(files) && files.length > 0 ? files.map((one) => JSON.stringify(one)) : [key];
}

function readConfig(row: ForeignRow): Readonly<Record<string, unknown>> {
  return parseObject(row.text("config")) ?? {};
}

/** Maximum lengths of names in the routing table. */
const MAX_NAMES = { models: 255, group: 64 } as const;

function checkNames(row: ForeignRow): void {
  for (const [column, most] of Object.entries(MAX_NAMES)) {
    const long = row.list(column).find((name) => characters(name) > most);
    if (long !== undefined) row.refuse(column, `the name ${long.slice(0, 60)}… is longer than ${most} characters`);
  }
}

function channelRow({ clock, groups }: ImportContext, row: ForeignRow): Record<string, SqlValue> {
  checkNames(row);
  return {
    openai_organization: row.text("openai_organization"),
    test_model: row.text("test_model"),
    weight: Math.max(0, row.int("weight")),
    created_time: row.int("created_time", seconds(clock)),
    test_time: row.int("test_time"),
    response_time: row.int("response_time"),
    balance: row.decimal("balance"),
    balance_updated_time: row.int("balance_updated_time"),
    models: row.list("models").join(","),
    group: groups.all(row.list("group").length > 0 ? row.list("group") : ["default"]).join(","),
    used_quota: row.int("used_quota"),
    max_input_tokens: row.int("max_input_tokens"),
    priority: row.int("priority"),
    auto_ban: row.int("auto_ban", 1),
    other_info: row.text("other_info"),
    tag: row.text("tag") || null,
  };
}

async function routeChannels({ target, channels, routed }: ImportContext): Promise<void> {
  const ids = [...new Set([...channels.values(), ...routed])];
  for (let at = 0; at < ids.length; at += 200) {
    const some = ids.slice(at, at + 200);
    await transact(target.db, async (trx) => {
      const rows = await trx.selectFrom("channels").select(ABILITY_COLUMNS).where("id", "in", some).execute();
      await rebuildAbilities(trx, rows);
    });
  }
}
