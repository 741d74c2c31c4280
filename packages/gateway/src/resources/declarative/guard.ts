import {
  CHANNEL_STATUS,
  formatTokenFallbacks,
  INITIAL_TOKEN,
  MAX_PAUSE_SECONDS,
  NEVER_EXPIRES,
  readTokenFallbacks,
  splitList,
  readStoredTagLimits,
  storedLimits,
  TOKEN_FIELD_NAMES,
  TOKEN_FIELDS,
  type Endpoint,
  ACCOUNT_KIND,
} from "@fairway/wire";
import type { Call, Route } from "../../http/endpoint.ts";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { Refusal } from "../../lib/refusal.ts";
import type { Database } from "../../storage/database.ts";
import type { ChannelStore } from "../channels/store.ts";
import { hintedTexts } from "../channels/view.ts";
import { findSoftPercent, readThresholds, replaceSoftPercent } from "../../billing/budgets/thresholds.ts";
import { BUDGET_MEMBERS } from "./budget-kind.ts";
import { CHANNEL_MEMBERS } from "./channel-kind.ts";
import { isSame } from "./field-changes.ts";
import type { Owned, OwnershipStore } from "./ownership.ts";
import { TOKEN_MEMBERS } from "./token-kind.ts";
import { USER_MEMBERS } from "./user-kind.ts";

export interface GuardDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly ownership: OwnershipStore;
  readonly channels: Pick<ChannelStore, "get">;
}

type Values = Readonly<Record<string, unknown>>;
type Check = (
  deps: GuardDeps,
  input: { readonly params: Values; readonly body: unknown },
  owned: readonly Owned[],
) => Promise<void>;

/** Checks of console writes that could change what a document owns. */
const CHECKS: Readonly<Record<string, Check>> = {
  channelUpdate: (deps, { body }, owned) => checkForm(deps, members("Channel", body), owned),
  channelDelete: (_deps, { params }, owned) => checkRows("Channel", [params["id"]], owned),
  channelBatchDelete: (_deps, { body }, owned) => checkRows("Channel", readIds(body), owned),
  channelBatchTag: (_deps, { body }, owned) => checkRows("Channel", readIds(body), owned, "tag"),
  channelBulk: (_deps, { body }, owned) => checkBulk(values(body), owned),
  channelTagUpdate: (deps, { body }, owned) => checkTag(deps, String(values(body)["tag"] as unknown), owned),
  channelDeleteDisabled: async ({ database }, _input, owned) => {
    const rows = await database.db.selectFrom("channels").select("id").where("status", "!=", 1).execute();
    await checkRows(
      "Channel",
      rows.map(({ id }) => id),
      owned,
    );
  },
  tokenUpdate: (deps, { body }, owned) => checkForm(deps, members("Token", body), owned),
  channelKeyAdd: (_deps, { params }, owned) => checkRows("Channel", [params["id"]], owned, "key"),
  channelKeyDelete: (_deps, { params }, owned) => checkRows("Channel", [params["id"]], owned, "key"),
  channelMultiKey: (_deps, { body }, owned) => checkMultiKey(values(body), owned),
  tokenBatchDelete: (_deps, { body }, owned) => checkRows("Token", readIds(body), owned),
  tokenDelete: (_deps, { params }, owned) => checkRows("Token", [params["id"]], owned),
  tokenMove: (_deps, { params }, owned) => checkRows("Token", [params["id"]], owned),
  teamTokenUpdate: (deps, { params, body }, owned) =>
    checkForm(deps, members("Token", { ...values(body), id: params["tid"] }), owned),
  teamTokenDelete: (_deps, { params }, owned) => checkRows("Token", [params["tid"]], owned),
  userUpdate: (deps, { body }, owned) => checkForm(deps, members("User", body), owned),
  userManage: (deps, { body }, owned) => checkManage(deps, values(body), owned),
  userDelete: (_deps, { params }, owned) => checkRows("User", [params["id"]], owned),
  budgetUpdate: (deps, { body }, owned) => checkForm(deps, members("Budget", body), owned),
  teamBudgetUpdate: (_deps, { params }, owned) => checkRows("Budget", [params["bid"]], owned),
  teamBudgetDelete: (_deps, { params }, owned) => checkRows("Budget", [params["bid"]], owned),
  budgetDelete: (_deps, { params }, owned) => checkRows("Budget", [params["id"]], owned),
  optionUpdate: (deps, { body }, owned) => checkOptions(deps, [body], owned),
  optionBatch: (deps, { body }, owned) => checkOptions(deps, body as unknown[], owned),
  optionReset: (deps, _input, owned) => checkOptions(deps, [{ key: "ModelRatio", value: "" }], owned),
};

/** Calls that enable and disable channels. */
const SWITCHES: ReadonlySet<string> = new Set([
  "channelUpdate",
  "channelBulk",
  "channelKeySwitch",
  "channelMultiKey",
  "channelTagEnable",
  "channelTagDisable",
  "pauseCreate",
  "pauseResume",
]);
/** Duration of a manual override, so that an emergency need not wait for the maintainer of the documents. */
const OVERRIDE_SECONDS = 3600;

/**
 * Returns the routes with a check of console writes to fields that a document owns: they are refused with
 * `entity_managed`. Unchanged values of a whole form pass. So does enabling or disabling a channel, which holds for an
 * hour or for the time of the disable, whatever is applied in the meantime.
 */
export function withOwnership(routes: readonly Route[], deps: GuardDeps): Route[] {
  return routes.map((route) => {
    const check = CHECKS[route.endpoint.name];
    const switched = SWITCHES.has(route.endpoint.name) ? switching(route, deps) : route;
    return check ? guarded(switched, check, deps) : switched;
  });
}

function guarded({ endpoint, handler }: Route, check: Check, deps: GuardDeps): Route {
  return {
    endpoint,
    async handler(call: Call<Endpoint>) {
      const owned = await deps.ownership.all();
      if (owned.length > 0) await check(deps, { params: values(call.params), body: call.body }, owned);
      return handler(call);
    },
  };
}

/** Returns the seconds for which the change holds; for a temporary disable or a pause, its own duration. */
function overrideSeconds(name: string, body: unknown): number {
  const { disable_seconds: disabled, for_seconds: paused, until_tests: isTested } = values(body);
  if (name === "pauseCreate" && (isTested === true || paused === undefined || paused === 0)) return MAX_PAUSE_SECONDS;
  const span = disabled ?? paused;
  return typeof span === "number" && span > 0 ? span : OVERRIDE_SECONDS;
}

/** Stores which declared channels the call has enabled or disabled. */
function switching({ endpoint, handler }: Route, { database, ownership, clock }: GuardDeps): Route {
  return {
    endpoint,
    async handler(call: Call<Endpoint>) {
      const declared = (await ownership.all()).filter(
        (one) => one.kind === "Channel" && one.fields.includes("enabled"),
      );
      if (declared.length === 0) return handler(call);
      const before = await readEnabledStates(database, declared);
      const answer = await handler(call);
      const after = await readEnabledStates(database, declared);
      const overrideUntil = seconds(clock) + overrideSeconds(endpoint.name, call.body);
      for (const one of declared) {
        if (before.get(one.resource_id) !== after.get(one.resource_id)) await ownership.keep({ ...one, overrideUntil });
      }
      return answer;
    },
  };
}

async function readEnabledStates({ db }: Database, owned: readonly Owned[]): Promise<ReadonlyMap<number, boolean>> {
  const ids = owned.map(({ resource_id }) => resource_id);
  const rows = await db.selectFrom("channels").select(["id", "status"]).where("id", "in", ids).execute();
  return new Map(rows.map(({ id, status }) => [id, status !== CHANNEL_STATUS.disabledByHand]));
}

/** Tables that forms change, and the form members that correspond to the fields of documents. */
const FORMS = {
  Channel: { table: "channels", members: CHANNEL_MEMBERS },
  Token: { table: "tokens", members: TOKEN_MEMBERS },
  Budget: { table: "budgets", members: BUDGET_MEMBERS },
  User: { table: "users", members: USER_MEMBERS },
} as const satisfies Readonly<Record<string, { table: string; members: Readonly<Record<string, string>> }>>;

interface Form {
  readonly kind: keyof typeof FORMS;
  readonly id: unknown;
  readonly body: Values;
}

function members(kind: Form["kind"], body: unknown): Form {
  return { kind, id: values(body)["id"], body: values(body) };
}

/** What an update without a field makes of it. */
const RESET = Object.fromEntries(
  TOKEN_FIELD_NAMES.filter((name) => !("staysIfAbsent" in TOKEN_FIELDS[name])).map((name) => [
    name,
    INITIAL_TOKEN[name],
  ]),
);

/** Applies a full update of a token: absent members get their defaults, and a disabled model list becomes empty. */
function wholeToken(token: Values): Values {
  const { expired_time, model_limits_enabled, model_limits } = token;
  return {
    ...RESET,
    ...Object.fromEntries(Object.entries(token).filter(([, value]) => value !== undefined)),
    expired_time: expired_time === undefined || expired_time === 0 ? NEVER_EXPIRES : expired_time,
    model_limits: model_limits_enabled ? model_limits : "",
  };
}

async function checkForm(
  { database, channels }: GuardDeps,
  { kind, id, body }: Form,
  owned: readonly Owned[],
): Promise<void> {
  const own = owned.find((one) => one.kind === kind && one.resource_id === id);
  if (!own || typeof id !== "number") return;
  const { table, members: names }: { table: string; members: Readonly<Record<string, string>> } = FORMS[kind];
  const [row] = await database.raw.rows<Values>(`select * from ${table} where id = ?`, [id]);
  if (!row) return;
  // A form contains hints in place of secrets.
  const channel = kind === "Channel" ? await channels.get(id) : undefined;
  const shown = channel && hintedTexts(channel);
  const [given, now] =
    kind === "Token"
      ? [wholeToken(body), wholeToken(row)]
      : kind === "Budget"
        ? readThresholdForms(body, row)
        : [body, { ...row, ...shown }];
  for (const field of own.fields) {
    const member = names[field];
    if (member === undefined || member === "status") continue;
    if (isChanged(given[member], now[member], member)) throw managed(own);
  }
}

/** Returns the form and the row with both members of the thresholds, because each of them changes the other. */
function readThresholdForms(body: Values, row: Values): readonly [Values, Values] {
  const now = readThresholds({
    thresholds: String(row["thresholds"] as string),
    soft_percent: Number(row["soft_percent"]),
  });
  const { thresholds = now, soft_percent: soft } = body as BudgetForm;
  const given = soft === undefined ? thresholds : replaceSoftPercent(thresholds, soft);
  const members = (percents: readonly number[]) => ({
    thresholds: percents.join(","),
    soft_percent: findSoftPercent(percents),
  });
  return [
    { ...body, ...members(given) },
    { ...row, ...members(now) },
  ];
}

interface BudgetForm {
  readonly thresholds?: readonly number[];
  readonly soft_percent?: number;
}

function normalizeFallbacks(text: unknown): string | undefined {
  const read = readTokenFallbacks(String(text as string));
  return "value" in read ? formatTokenFallbacks(read.value) : undefined;
}

/** Members that have a stored form of their own -> what returns true if the given value changes it. */
const COMPARISONS = new Map<string, (given: unknown, now: unknown) => boolean>([
  ["key", (given) => given !== ""],
  ["limits", (given, now) => !isSame(given, (typeof now === "string" && storedLimits(now)) || {})],
  ["tag_limits", (given, now) => !isSame(given, (typeof now === "string" && readStoredTagLimits(now)) || {})],
  ["fallbacks", (given, now) => normalizeFallbacks(given) !== normalizeFallbacks(now ?? "inherit")],
]);

/** Returns false for absent members, which do not change; the same holds for a blank key. */
function isChanged(given: unknown, now: unknown, member: string): boolean {
  if (given === undefined) return false;
  const compare = COMPARISONS.get(member);
  if (compare) return compare(given, now);
  if (typeof given === "boolean") return given !== (now === true || now === 1);
  const plain = (value: unknown) => splitList(String((value ?? "") as string | number).replace(/\/$/, "")).join(",");
  return plain(given) !== plain(now);
}

function checkRows(kind: string, ids: readonly unknown[], owned: readonly Owned[], field?: string): Promise<void> {
  const own = owned.find(
    (one) => one.kind === kind && ids.includes(one.resource_id) && (field === undefined || one.fields.includes(field)),
  );
  if (own) throw managed(own);
  return Promise.resolve();
}

const HARMLESS = new Set(["enable", "disable", "test"]);

function checkBulk(body: Values, owned: readonly Owned[]): Promise<void> {
  if (HARMLESS.has(String(body["action"] as unknown))) return Promise.resolve();
  const ids = readIds(body);
  // A filter may select any of them.
  return checkRows("Channel", ids.length > 0 ? ids : owned.map(({ resource_id }) => resource_id), owned);
}

/**
 * Checks a change of an account. Enabling and disabling is never refused, because an emergency must not wait for the
 * maintainer of the documents.
 */
async function checkManage(
  { database }: GuardDeps,
  { id, username, action }: Values,
  owned: readonly Owned[],
): Promise<void> {
  if (action !== "promote" && action !== "demote" && action !== "delete") return;
  const key = typeof username === "string" ? usernameKey(username.trim()) : "";
  const persons = database.db.selectFrom("users").select("id").where("kind", "=", ACCOUNT_KIND.person);
  const named = persons.where("username_key", "=", key);
  const found = id === undefined ? (await named.executeTakeFirst())?.id : id;
  await checkRows("User", [found], owned, action === "delete" ? undefined : "role");
}

/**
 * Checks a call about keys. Enabling and disabling keys is treated like enabling channels; removing one changes the
 * document's list.
 */
function checkMultiKey(body: Values, owned: readonly Owned[]): Promise<void> {
  const isRemoval = ["delete_key", "delete_disabled_keys"].includes(String(body["action"] as unknown));
  return isRemoval ? checkRows("Channel", [body["channel_id"]], owned, "key") : Promise.resolve();
}

async function checkTag({ database }: GuardDeps, tag: string, owned: readonly Owned[]): Promise<void> {
  const rows = await database.db.selectFrom("channels").select("id").where("tag", "=", tag).execute();
  await checkRows(
    "Channel",
    rows.map(({ id }) => id),
    owned,
  );
}

async function checkOptions(
  { database }: GuardDeps,
  changes: readonly unknown[],
  owned: readonly Owned[],
): Promise<void> {
  for (const change of changes) {
    const { key, value } = values(change);
    const own = owned.find((one) => one.kind === "OptionSet" && one.fields.includes(String(key as unknown)));
    if (!own || value === undefined) continue;
    const row = await database.db
      .selectFrom("options")
      .select("value")
      .where("key", "=", String(key as unknown))
      .executeTakeFirst();
    if (String(value as unknown) !== row?.value) throw managed(own);
  }
}

function managed({ kind, name, owner }: Owned): Refusal {
  return new Refusal("entity_managed", {
    values: { kind, name, owner },
    siblings: { reason: "managed_conflict", owner },
  });
}

function readIds(body: unknown): readonly unknown[] {
  const ids = values(body)["ids"];
  return Array.isArray(ids) ? ids : [];
}

function values(value: unknown): Values {
  return typeof value === "object" && value !== null ? (value as Values) : {};
}
