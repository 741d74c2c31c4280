import { openCounter } from "../../../../billing/ledger/booking/opening-counter.ts";
import { formatTokenFallbacks, NEVER_EXPIRES, readFallbackList, TOKEN_STATUS } from "@fairway/wire";
import { importedDigest, importedKey, keyEnd } from "../../../../storage/secrets/token-key-forms.ts";
import { seconds } from "../../../../lib/clock.ts";
import { parseObject } from "../../../../lib/text/json.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import type { SqlValue } from "../../../../storage/engines/raw.ts";
import { admitCarriedKeys, insertMany, placing } from "../rows.ts";
import type { Account } from "./accounts.ts";
import { keepBudget } from "./budgets.ts";
import type { DatabaseImport } from "./context.ts";
import { isAllModels, spreadPatterns } from "./models.ts";
import { limitsText, readSpending, type Spending } from "./spending.ts";
import { holderColumns, rotationColumns, tagColumns } from "./team-keys.ts";
import { tokenKey } from "../../../../storage/secrets/sealed-locations.ts";

const OF_OWNER = "all-team-models";
const NONE = "no-default-models";
/** Source columns that have another name here. */
const SOURCES = { name: "key_alias", model_limits: "models", remain_quota: "max_budget", used_quota: "spend" };

export interface KeyPlace {
  readonly owner: Account;
  /** The person whom the key names. */
  readonly maker: Account | undefined;
}

/** Imports a key that continues to work: for most keys only the SHA-256 is known, which is enough to find them. */
export async function bringKey(context: DatabaseImport, row: ForeignRow, { owner, maker }: KeyPlace): Promise<void> {
  const { target, vault, report } = context;
  const stored = row.text("token");
  const found = findableBy(stored);
  if (found === undefined) {
    const note = `the key ${row.text("key_alias") || row.text("key_name")} is stored in a form that cannot be read`;
    return report.count("keys", "skipped", { note });
  }
  const hash = vault.hashKey(found);
  const find = "select id from tokens where key_hash = ?";
  const known = await target.raw.rows(find, [hash]);
  report.count("keys", known.length > 0 ? "unchanged" : "created");
  if (known.length > 0) return;
  const spending = readSpending(context, row);
  const plain = { ...tokenRow(context, row, { owner, spending }), key_hash: hash, key_sealed: "" };
  await target.raw.transaction(async (tx) => {
    const values = { ...plain, ...(await holderColumns(context, tx, { team: owner.team, maker })) };
    await placing([{ values, from: row }], () => insertMany(tx, "tokens", [values]), SOURCES);
    const [made] = await tx.rows<{ id: number }>(find, [hash]);
    if (!made) throw new Error(`the key ${values.name} was not stored`);
    await openCounter(tx, target.kind, { counter: "token_used", id: made.id, amount: spending.spent });
    const sealed = vault.seal(shownAs(row), tokenKey(made.id));
    await tx.run("update tokens set key_sealed = ? where id = ?", [sealed, made.id]);
    await keepBudget(context, tx, { scope: "token", subject: made.id, spending });
    await admitCarriedKeys(tx, target.kind);
  });
}

/** Very old versions stored the key itself, so it is hashed here. */
function findableBy(stored: string): string | undefined {
  if (/^[0-9a-f]{64}$/.test(stored)) return importedDigest(stored);
  return stored.startsWith("sk-") ? importedKey(stored) : undefined;
}

/** Returns all that is known of the key, without `sk-`: `...abcd`. */
function shownAs(row: ForeignRow): string {
  const stored = row.text("token");
  return (stored.startsWith("sk-") ? stored : keyEnd(row.text("key_name"))).replace(/^sk-/, "");
}

function tokenRow(
  context: DatabaseImport,
  row: ForeignRow,
  { owner, spending }: { readonly owner: Account; readonly spending: Spending },
): Record<string, SqlValue> & { name: string } {
  const { clock, report } = context;
  const models = resolveModels(context, row.list("models"), owner.models);
  const now = seconds(clock);
  if (!["", "{}", "null"].includes(row.text("aliases")))
    report.remark("keys rename models: this is not imported", row.label);
  const shown = row.text("key_alias") || row.text("key_name") || "litellm";
  return {
    user_id: owner.id,
    status: row.flag("blocked") || spending.isClosed ? TOKEN_STATUS.disabled : TOKEN_STATUS.enabled,
    name: shown.slice(0, 191),
    created_time: row.time("created_at") ?? now,
    accessed_time: row.time("last_active") ?? now,
    expired_time: row.time("expires") ?? NEVER_EXPIRES,
    ...buildQuotaColumns(spending),
    model_limits_enabled: models === undefined ? 0 : 1,
    model_limits: models?.join(",") ?? "",
    allow_ips: "",
    group: "",
    limits: limitsText(spending.limits),
    ...rotationColumns(context, row),
    ...tagColumns(context, row),
    fallbacks: readBudgetFallbacks(context, row),
  };
}

/** Returns the column of a key whose lists by model are one; null leaves the choice to the operator. */
function readBudgetFallbacks({ report }: DatabaseImport, row: ForeignRow): string | null {
  const lists = Object.values(parseObject(row.text("budget_fallbacks")) ?? {});
  if (lists.length === 0) return null;
  const read = readFallbackList(lists[0]);
  const isOne = lists.every((list) => JSON.stringify(list) === JSON.stringify(lists[0]));
  if ("fault" in read || read.value.length === 0 || !isOne) {
    report.remark("keys have budget_fallbacks that differ by model: they are not imported", row.label);
    return null;
  }
  report.remark("budget_fallbacks of keys apply to all models of the key, in place of ModelFallbacks", row.label);
  return formatTokenFallbacks(read.value.map(({ model }) => ({ model, on: ["budget"] })));
}

function buildQuotaColumns({ left, window, spent }: Spending) {
  return left === undefined || window !== undefined
    ? { remain_quota: 0, unlimited_quota: 1, used_quota: spent }
    : { remain_quota: left, unlimited_quota: 0, used_quota: spent };
}

/** Returns undefined for all models. Patterns become the models that exist here now. */
function resolveModels(
  context: DatabaseImport,
  named: readonly string[],
  ofOwner: readonly string[],
): string[] | undefined {
  const wanted = named.length === 0 || named.includes(OF_OWNER) ? ofOwner : named;
  if (wanted.length === 0 || wanted.some(isAllModels)) return undefined;
  return [...new Set(spreadPatterns(context, wanted))].filter((name) => name !== NONE);
}
