import { CHANNEL_STATUS, splitList } from "@fairway/wire";
import { seconds } from "../../lib/clock.ts";
import { parseObject } from "../../lib/json.ts";
import { providerByType } from "../../providers/registry.ts";
import { rebuildAbilities } from "../../resources/channels/abilities.ts";
import type { ForeignRow } from "../../storage/foreign.ts";
import type { SqlValue } from "../../storage/raw.ts";
import { transact } from "../../storage/transaction.ts";
import { insertKeepingId, type ImportContext } from "./context.ts";
import { ONE_API_TYPES } from "./channel-types.ts";

const ABILITY_COLUMNS = ["id", "status", "models", "group", "priority", "weight", "tag"] as const;

export async function importChannels(context: ImportContext): Promise<void> {
  for await (const rows of context.source.pages("channels")) for (const row of rows) await importChannel(context, row);
  if (!context.isDry) await routeChannels(context);
}

async function importChannel(context: ImportContext, row: ForeignRow): Promise<void> {
  const { target, vault, channels, report, isDry } = context;
  const name = row.text("name").slice(0, 191) || `channel ${row.int("id")}`;
  const place = placeOf(context, row);
  if (!place || !providerByType(place.type)) {
    const note = `the channel ${name} has the type ${row.int("type")}, which this gateway does not know`;
    return report.count("channels", "skipped", note);
  }
  const key = keyOf(row);
  const hash = vault.hashKey(key);
  const find = "select id from channels where name = ? and type = ? and key_hash = ?";
  const [known] = await target.raw.rows<{ id: number }>(find, [name, place.type, hash]);
  channels.set(row.int("id"), known?.id ?? row.int("id"));
  if (known) return report.count("channels", "kept");
  report.count("channels", "created");
  if (isDry) return;
  await target.raw.transaction(async (tx) => {
    const sealed = { key_sealed: vault.seal(key), key_hash: hash };
    const values = { ...channelRow(context, row), ...place, ...sealed, name };
    await insertKeepingId(tx, "channels", row.int("id"), values);
    const [made] = await tx.rows<{ id: number }>(find, [name, place.type, hash]);
    if (made) channels.set(row.int("id"), made.id);
  });
}

interface Place {
  readonly type: number;
  readonly base_url: string;
  readonly other: string;
}

function placeOf({ kind }: ImportContext, row: ForeignRow): Place | undefined {
  const own = row.text("base_url").replace(/\/+$/, "");
  const type = row.int("type");
  if (kind === "new-api") return { type, base_url: own, other: row.text("other") };
  const here = ONE_API_TYPES.has(type) ? ONE_API_TYPES.get(type) : { type };
  return here && { type: here.type, base_url: own || (here.baseUrl ?? ""), other: otherOf(row) };
}

/** One API keeps the file of a Google service account beside the key. */
function keyOf(row: ForeignRow): string {
  const file = parseObject(row.text("config"))?.["vertex_ai_adc"];
  return typeof file === "string" && file !== "" ? file : row.text("key");
}

/** One API moved what belongs to a type into a column of JSON. */
function otherOf(row: ForeignRow): string {
  const config = parseObject(row.text("config")) ?? {};
  const names = ["api_version", "region", "library_id", "user_id", "plugin"];
  const found = names.map((name) => config[name]).find((value) => typeof value === "string" && value !== "");
  return typeof found === "string" ? found : row.text("other");
}

function channelRow({ clock }: ImportContext, row: ForeignRow): Record<string, SqlValue> {
  const status = row.int("status", CHANNEL_STATUS.enabled);
  return {
    openai_organization: row.text("openai_organization"),
    test_model: row.text("test_model"),
    status: status >= 1 && status <= 3 ? status : CHANNEL_STATUS.disabledByHand,
    weight: Math.max(0, row.int("weight")),
    created_time: row.int("created_time", seconds(clock)),
    test_time: row.int("test_time"),
    response_time: row.int("response_time"),
    balance: row.decimal("balance"),
    balance_updated_time: row.int("balance_updated_time"),
    models: splitList(row.text("models")).join(","),
    group: splitList(row.text("group")).join(",") || "default",
    used_quota: row.int("used_quota"),
    model_mapping: mappingText(row.text("model_mapping")),
    status_code_mapping: mappingText(row.text("status_code_mapping")),
    max_input_tokens: row.int("max_input_tokens"),
    priority: row.int("priority"),
    auto_ban: row.int("auto_ban", 1),
    other_info: row.text("other_info"),
    tag: row.text("tag") || null,
    setting: row.text("setting") || null,
    param_override: row.text("param_override") || null,
  };
}

/** Mappings that are no JSON object never worked: they are left out. */
function mappingText(text: string): string {
  return parseObject(text) && text.trim() !== "{}" ? text : "";
}

async function routeChannels({ target, channels }: ImportContext): Promise<void> {
  const ids = [...new Set(channels.values())];
  for (let at = 0; at < ids.length; at += 200) {
    const some = ids.slice(at, at + 200);
    await transact(target.db, async (trx) => {
      const rows = await trx.selectFrom("channels").select(ABILITY_COLUMNS).where("id", "in", some).execute();
      await rebuildAbilities(trx, rows);
    });
  }
}
