import {
  checkOption,
  isOptionKey,
  parseOptions,
  QUOTA_PER_UNIT,
  REDEMPTION_STATUS,
  type OptionRow,
} from "@fairway/wire";
import type { OptionWrite } from "../../../options/store.ts";
import { priceOptionDefaults } from "../../../../snapshot/option-defaults.ts";
import { seconds } from "../../../../lib/clock.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import { bringNew } from "../rows.ts";
import { isObject, parseJson } from "../../../../lib/text/json.ts";
import type { GroupNames } from "../../groups.ts";
import { noteGroups, noteUnpriced, createImportOptionStore, unpricedModels, withWrites } from "../../options.ts";
import { priceWrites } from "../../prices.ts";
import { upstreamPrices } from "../../upstream-prices.ts";
import type { ImportContext } from "./context.ts";

const RETRIES = "RetryTimes";

/** Imports options that this gateway knows and whose texts pass its checks; the others are reported. */
export async function importOptions(context: ImportContext): Promise<void> {
  const { report, groups } = context;
  const rows: OptionRow[] = [];
  for await (const page of context.source.pages("options", "key")) {
    rows.push(...page.map((row) => withGroups(groups, { key: row.text("key"), value: row.text("value") })));
  }
  const store = createImportOptionStore(context);
  const stored = await store.stored();
  rows.push(...(await takeBackRetries(store, stored, rows)));
  const own = new Map(stored.map(({ key, value }) => [key, value]));
  const after = parseOptions([...stored, ...rows], { defaults: priceOptionDefaults() });
  const unknown: string[] = [];
  const writes: OptionWrite[] = [];
  for (const { key, value } of rows) {
    const check = checkOption(key, value, after);
    if (!check.isValid) {
      if (!isOptionKey(key)) unknown.push(key);
      const note = isOptionKey(key) ? `the option ${key} has a value that cannot be used` : undefined;
      report.count("options", "skipped", { note });
    } else if (own.get(key) === check.text) report.count("options", "unchanged");
    else {
      report.count("options", own.has(key) ? "updated" : "created");
      writes.push(check);
    }
  }
  if (unknown.length > 0) report.notes.push(`options that this gateway does not have: ${unknown.sort().join(", ")}`);
  const prices = await missingPrices(context, withWrites(stored, writes));
  // A table that both have is written once, with the rows of both.
  const replaced = new Set(prices.map(({ key }) => key));
  const all = [...writes.filter(({ key }) => !replaced.has(key)), ...prices];
  noteGroups(groups, withWrites(stored, all), report);
  noteUnpriced(report, context.served, withWrites(stored, all));
  if (all.length > 0) await store.write(all, { userId: 0, username: "import", ip: "" });
}

/** Without a row, the former gateway did not retry, so the value that a new database has here is taken back. */
async function takeBackRetries(
  store: ReturnType<typeof createImportOptionStore>,
  stored: readonly OptionRow[],
  rows: readonly OptionRow[],
): Promise<readonly OptionRow[]> {
  const has = (all: readonly OptionRow[]) => all.some(({ key }) => key === RETRIES);
  if (has(rows) || !has(stored) || (await store.isSetByOperator(RETRIES))) return [];
  return [{ key: RETRIES, value: "0" }];
}

/** Returns prices that upstreams publish for models without one. */
async function missingPrices({ served, prices, report }: ImportContext, options: readonly OptionRow[]) {
  const { areChannelsAsked, former, network, published } = prices;
  const publisher = former === undefined ? undefined : { address: former, key: "" };
  const sources = { network, areChannelsAsked, former: publisher };
  const asked = await upstreamPrices(sources, { channels: served, options }, report);
  const wanted = new Set(published ? unpricedModels(served, options) : []);
  const known = [...(published ?? [])].filter(([model]) => wanted.has(model));
  return priceWrites(new Map([...known, ...asked]), options, report);
}

/** Options with tables by group, or lists of groups. */
const OF_GROUPS: readonly string[] = ["GroupRatio", "TopupGroupRatio", "UserUsableGroups", "AutoGroups"];

function withGroups(groups: GroupNames, { key, value }: OptionRow): OptionRow {
  if (!OF_GROUPS.includes(key)) return { key, value };
  const parsed = parseJson(value);
  if (Array.isArray(parsed)) return { key, value: JSON.stringify(groups.all(parsed.map(String))) };
  return { key, value: isObject(parsed) ? JSON.stringify(groups.table(parsed)) : value };
}

export async function importRedemptions(context: ImportContext): Promise<void> {
  const { source, target, report } = context;
  for await (const rows of source.pages("redemptions")) {
    const usable = rows.filter((row) => !row.isDeleted && row.text("key") !== "" && row.int("quota") > 0);
    report.count("redemption codes", "skipped", { times: rows.length - usable.length });
    const values = usable.map((row) => ({ values: redemptionRow(context, row), from: row }));
    await bringNew(context, target.raw, { what: "redemption codes", table: "redemptions", key: "key", rows: values });
  }
}

function redemptionRow({ users, clock, report }: ImportContext, row: ForeignRow) {
  const status = row.int("status", REDEMPTION_STATUS.unused);
  const end = row.int("expired_time");
  const isOver = status === REDEMPTION_STATUS.unused && end > 0 && end < seconds(clock);
  if (isOver) report.remark("redemption codes had expired: they are disabled here");
  else if (end > 0 && status === REDEMPTION_STATUS.unused) report.remark("redemption codes lose their day of expiry");
  return {
    user_id: users.get(row.int("user_id")) ?? 0,
    key: row.text("key"),
    status: isOver ? REDEMPTION_STATUS.disabled : status,
    name: row.text("name").slice(0, 191),
    quota: row.int("quota"),
    created_time: row.int("created_time"),
    redeemed_time: row.int("redeemed_time"),
    used_user_id: users.get(row.int("used_user_id")) ?? 0,
  };
}

const ORDER_STATES = ["pending", "success", "expired", "failed"];

/** Imports orders with their value. Paid ones are already in the balances; open ones can still be paid. */
export async function importTopUps(context: ImportContext): Promise<void> {
  const { source, target, users, report } = context;
  for await (const rows of source.pages("top_ups")) {
    const usable = rows.filter((row) => users.has(row.int("user_id")) && row.text("trade_no") !== "");
    report.count("top-ups", "skipped", { times: rows.length - usable.length });
    const values = usable.map((row) => ({ values: topUpRow(context, row), from: row }));
    await bringNew(context, target.raw, { what: "top-ups", table: "top_ups", key: "trade_no", rows: values });
  }
}

function topUpRow({ users }: ImportContext, row: ForeignRow) {
  const service = row.text("payment_provider") || row.text("payment_method");
  const status = row.text("status");
  return {
    user_id: users.get(row.int("user_id")) ?? 0,
    amount: row.int("amount"),
    money: row.decimal("money").toFixed(2),
    trade_no: row.text("trade_no").slice(0, 191),
    create_time: row.int("create_time"),
    status: ORDER_STATES.includes(status) ? status : "expired",
    quota: worth(row, service),
    payment_method: row.text("payment_method").slice(0, 16),
    complete_time: row.int("complete_time"),
  };
}

/** Returns the value of an order in units: some services count dollars, one counts units. */
function worth(row: ForeignRow, service: string): number {
  if (service === "creem") return row.int("amount");
  const units = Math.round((service === "stripe" ? row.decimal("money") : row.int("amount")) * QUOTA_PER_UNIT);
  return Number.isSafeInteger(units) ? units : row.refuse("amount", `it is worth more than ${Number.MAX_SAFE_INTEGER}`);
}
