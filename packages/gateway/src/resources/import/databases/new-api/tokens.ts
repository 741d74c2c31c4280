import { NEVER_EXPIRES, TOKEN_STATUS } from "@fairway/wire";
import { parseApiKey } from "../../../../identity/keys/api-key.ts";
import { importedKey } from "../../../../storage/secrets/token-key-forms.ts";
import { openCounter } from "../../../../billing/ledger/booking/opening-counter.ts";
import { seconds } from "../../../../lib/clock.ts";
import { parseNetwork } from "../../../../lib/net/ip.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import type { SqlValue } from "../../../../storage/engines/raw.ts";
import { admitCarriedKeys, insertKeepingId, placing } from "../rows.ts";
import { remarkColumns } from "./columns.ts";
import type { ImportContext } from "./context.ts";
import { tokenKey } from "../../../../storage/secrets/sealed-locations.ts";
import { createTokenKey } from "../../../../storage/secrets/token-key-text.ts";

const MAX_NAME = 191;

/** Imports keys, which continue to work: they are found by their hash and can be shown again. */
export async function importTokens(context: ImportContext): Promise<void> {
  for await (const rows of context.source.pages("tokens")) {
    for (const row of rows) await importToken(context, row);
    context.progress("tokens");
  }
}

async function importToken(context: ImportContext, row: ForeignRow): Promise<void> {
  const { target, vault, users, tokens, report } = context;
  const userId = users.get(row.int("user_id"));
  if (row.isDeleted || userId === undefined) return report.count("tokens", "skipped");
  const key = row.text("key").replace(/^sk-/, "") || (await newKey(context, row, userId));
  if (key === undefined) return;
  const isUsual = parseApiKey(key) !== "malformed";
  const hash = vault.hashKey(isUsual ? key : importedKey(key));
  const find = "select id from tokens where key_hash = ?";
  const [known] = await target.raw.rows<{ id: number }>(find, [hash]);
  if (known) {
    tokens.set(row.int("id"), known.id);
    return report.count("tokens", "unchanged");
  }
  report.count("tokens", "created");
  if (!isUsual) report.remark("keys have another form than 48 letters and digits: CarriedKeysEnabled makes them work");
  tokens.set(row.int("id"), row.int("id"));
  remarkColumns(report, "tokens", row, readName(row));
  const values = { ...tokenRow(context, row, userId), key_hash: hash, key_sealed: "" };
  await target.raw.transaction(async (tx) => {
    await placing([{ values, from: row }], () => insertKeepingId(tx, "tokens", row.int("id"), values));
    const [made] = await tx.rows<{ id: number }>(find, [hash]);
    if (!made) throw new Error(`the token ${row.int("id")} was not stored`);
    tokens.set(row.int("id"), made.id);
    await openCounter(tx, target.kind, { counter: "token_used", id: made.id, amount: row.int("used_quota") });
    await tx.run("update tokens set key_sealed = ? where id = ?", [vault.seal(key, tokenKey(made.id)), made.id]);
    if (!isUsual) await admitCarriedKeys(tx, target.kind);
  });
}

/**
 * Returns a new key for one that the source does not show, unless an earlier run has made it; undefined if there is
 * nothing to do.
 */
async function newKey(context: ImportContext, row: ForeignRow, userId: number): Promise<string | undefined> {
  const { target, tokens, report, server } = context;
  if (!server) {
    report.count("tokens", "skipped");
    return undefined;
  }
  const find = "select id from tokens where user_id = ? and name = ? and created_time = ?";
  const made = [userId, row.text("name").slice(0, MAX_NAME), row.int("created_time")];
  const [known] = await target.raw.rows<{ id: number }>(find, made);
  if (known) {
    tokens.set(row.int("id"), known.id);
    report.count("tokens", "unchanged");
    return undefined;
  }
  report.remark("keys are not shown there: they are new here, and their programs need them", readName(row));
  return createTokenKey();
}

function readName(row: ForeignRow): string {
  return row.text("name") || `token ${row.int("id")}`;
}

/** Parses networks. One that matches no address would open the key to everyone or block it, so it is reported. */
function parseNetworks(
  { report }: ImportContext,
  row: ForeignRow,
  text: string,
): { networks: string; isUsable: boolean } {
  const lines = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
  const isUsable = lines.every((line) => parseNetwork(line) !== undefined);
  if (!isUsable) report.remark("tokens have networks that cannot be read: they are disabled", readName(row));
  return { networks: lines.filter((line) => parseNetwork(line) !== undefined).join("\n"), isUsable };
}

function tokenRow(context: ImportContext, row: ForeignRow, userId: number): Record<string, SqlValue> {
  // One API has other names for its limits: a list of models, and networks in one line.
  const models = row.list(row.has("model_limits") ? "model_limits" : "models").join(",");
  const isLimited = row.has("model_limits_enabled") ? row.flag("model_limits_enabled") : models !== "";
  const { clock, groups } = context;
  const allowed = row.has("allow_ips") ? row.text("allow_ips") : row.text("subnet").replaceAll(",", "\n");
  const { networks, isUsable } = parseNetworks(context, row, allowed);
  const now = seconds(clock);
  return {
    user_id: userId,
    status: isUsable ? row.int("status", TOKEN_STATUS.enabled) : TOKEN_STATUS.disabled,
    name: row.text("name").slice(0, MAX_NAME),
    created_time: row.int("created_time", now),
    accessed_time: row.int("accessed_time", now),
    expired_time: row.int("expired_time", NEVER_EXPIRES),
    remain_quota: row.int("remain_quota"),
    unlimited_quota: Number(row.flag("unlimited_quota")),
    model_limits_enabled: Number(isLimited),
    model_limits: models,
    allow_ips: networks,
    used_quota: row.int("used_quota"),
    group: groups.of(row.text("group")),
  };
}
