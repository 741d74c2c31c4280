import type { Budget, BudgetSpec } from "@fairway/wire";
import { findSoftPercent } from "../../billing/budgets/thresholds.ts";
import { seconds, type Clock } from "../../lib/clock.ts";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import { blameDocument, unusable } from "./read-document.ts";
import type { Database } from "../../storage/database.ts";
import { splitPayer } from "../../storage/row-names.ts";
import type { BudgetStore } from "../budgets/store.ts";
import { applyTerms, BUDGET_DEFAULTS, type ChangeableTerms, type WantedTerms } from "../budgets/terms.ts";
import type { Announce } from "../ports.ts";
import { documentName, exportedNames, noUser, uniqueNames, type ExportedRow, type Fields, type Kind } from "./kinds.ts";

export interface BudgetKindDeps {
  readonly database: Database;
  readonly budgets: BudgetStore;
  readonly announce: Announce;
  readonly clock: Clock;
}

/** Members of a budget, by their names in documents. */
export const BUDGET_MEMBERS = {
  limit: "quota_limit",
  timeZone: "time_zone",
  length: "length",
  anchor: "anchor",
  endsAt: "ends_at",
  thresholds: "thresholds",
  softPercent: "soft_percent",
  forecast: "forecast",
  hard: "is_hard",
} as const satisfies Partial<Record<keyof BudgetSpec, keyof WantedTerms>>;

/** The columns that identify a budget; they never change. */
const IDENTITY = ["scope", "subject", "period", "filterModel"] as const;

export function budgetKind(deps: BudgetKindDeps): Kind<BudgetSpec> {
  const { budgets } = deps;
  const read = async (id: number) => {
    const budget = await budgets.find(id);
    return budget && { id: budget.id, fields: toFields(budget) };
  };
  return {
    kind: "Budget",
    secrets: new Set(),
    async desired(name, spec, users) {
      readSpec(name, spec, deps.clock);
      const subject = await findSubject(deps, spec);
      const isDescribed = users.has(usernameKey(spec.subject));
      if (subject === undefined && spec.scope === "user" && !isDescribed) throw unusable(name, noUser(spec.subject));
      // A subject that the same documents create has no id yet.
      return toWanted(name, { ...spec, subject: subject ?? spec.subject });
    },
    async find(_name, spec, ownedId) {
      if (ownedId !== undefined) return read(ownedId);
      const subject = await findSubject(deps, spec);
      if (subject === undefined) return undefined;
      const { scope, period, filterModel = "", length = 0 } = spec;
      const id = await budgets.findId(
        { scope, subject, period, filter_model: filterModel, managed_by: "admin" },
        length,
      );
      return id === undefined ? undefined : read(id);
    },
    refusal: ({ fields }, wanted) =>
      IDENTITY.every((field) => fields[field] === (wanted[field] ?? ""))
        ? ""
        : "scope, subject, period and model of a budget do not change: make another one",
    lacks: () => "",
    async create(name, spec) {
      const { scope, period, filterModel = "" } = spec;
      const subject = await findSubject(deps, spec);
      if (subject === undefined) throw unusable(name, `there is no ${scope} ${spec.subject}`);
      const terms = readSpec(name, spec, deps.clock);
      const identity = { scope, subject, period, filter_model: filterModel, managed_by: "admin" } as const;
      const budget = await explained(name, () => budgets.create({ ...identity, ...terms }));
      await deps.announce("options");
      return budget.id;
    },
    async update({ id }, spec, changed) {
      const name = `${spec.scope} ${spec.subject}`;
      const members = Object.entries(toTerms(name, spec)).filter(([member]) =>
        changed.some((field) => BUDGET_MEMBERS[field as keyof typeof BUDGET_MEMBERS] === member),
      );
      await explained(name, () => budgets.change(id, Object.fromEntries(members), { by: "admin" }));
      await deps.announce("options");
    },
    async remove({ resource_id: id }) {
      if (await budgets.remove(id, "admin")) await deps.announce("options");
    },
    export: () => exported(deps),
  };
}

/**
 * Returns the subject as budgets store it: a name, or the id of a token, user or channel; undefined if there is none.
 */
async function findSubject(
  { database: { db }, budgets }: BudgetKindDeps,
  { scope, subject }: BudgetSpec,
): Promise<string | undefined> {
  if (scope === "group" || scope === "model") return subject;
  if (isOfTeam(scope)) return budgets.findTeamSubject(scope, subject);
  if (isOfPayer(scope)) return budgets.findPayerSubject(scope, subject);
  if (/^\d{1,15}$/.test(subject)) return (await budgets.exists(scope, Number(subject))) ? subject : undefined;
  if (scope === "user") {
    const users = db.selectFrom("users").select("id").where("username_key", "=", usernameKey(subject));
    return numberText(await users.where("deleted_at", "is", null).executeTakeFirst());
  }
  if (scope === "service_account") return undefined;
  const kind = scope === "channel" ? "Channel" : "Token";
  const owned = db.selectFrom("managed_resources").select("resource_id as id").where("kind", "=", kind);
  const declared = await owned.where("name", "=", subject).executeTakeFirst();
  return numberText(declared) ?? numberText(await exportedAs(db, scope, subject));
}

function isOfTeam(scope: BudgetSpec["scope"]): scope is "team" | "member" {
  return scope === "team" || scope === "member";
}

function isOfPayer(scope: BudgetSpec["scope"]): scope is "tag" | "end_user" {
  return scope === "tag" || scope === "end_user";
}

/** Returns the names that an export gives the tokens or channels of budgets. */
async function namesIn(db: BudgetKindDeps["database"]["db"], scope: "token" | "channel"): Promise<Map<number, string>> {
  const channels = db.selectFrom("channels").select(["id", "name"]).orderBy("id");
  const tokens = db.selectFrom("tokens").select(["id", "name"]).where("deleted_at", "is", null).orderBy("id");
  return exportedNames(await (scope === "channel" ? channels.execute() : tokens.execute()));
}

/** Returns the row with this name in an export of this gateway, for rows that no document owns yet. */
async function exportedAs(db: BudgetKindDeps["database"]["db"], scope: "token" | "channel", subject: string) {
  const found = [...(await namesIn(db, scope))].find(([, name]) => name === subject);
  return found && { id: found[0] };
}

function numberText(row: { readonly id: number } | undefined): string | undefined {
  return row && String(row.id);
}

/** Returns what the document sets, by the names of forms. */
function toTerms(name: string, spec: BudgetSpec): WantedTerms {
  const { length, anchor, timeZone, limit, thresholds, softPercent, forecast, hard } = spec;
  return {
    length,
    anchor,
    ends_at: readEnd(name, spec),
    time_zone: timeZone,
    quota_limit: limit,
    thresholds,
    soft_percent: softPercent,
    forecast,
    is_hard: hard,
  };
}

/** Returns the terms of a new budget. Throws `document_invalid` if there is no such budget. */
function readSpec(name: string, spec: BudgetSpec, clock: Clock): ChangeableTerms {
  const { thresholds, softPercent, limit } = spec;
  if (thresholds && softPercent !== undefined && findSoftPercent(thresholds) !== softPercent)
    throw unusable(name, "softPercent is not the lowest of its thresholds below 100: leave it out");
  const wanted = toTerms(name, spec);
  // An end that has come is no reason to refuse the documents.
  const now = Math.min(seconds(clock), (wanted.ends_at ?? 0) - 1);
  try {
    return applyTerms(spec.period, { ...BUDGET_DEFAULTS, quota_limit: limit }, wanted, now);
  } catch (error) {
    throw blameDocument(name, error);
  }
}

/** Runs a write; its refusal names the document. */
async function explained<T>(name: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw blameDocument(name, error);
  }
}

function readEnd(name: string, { endsAt }: BudgetSpec): number | undefined {
  if (endsAt === undefined || endsAt === null) return endsAt === null ? 0 : undefined;
  const time = Date.parse(endsAt);
  if (!Number.isFinite(time)) throw unusable(name, "endsAt is no time");
  return Math.floor(time / 1000);
}

/** Returns the fields of a document in the form in which they are compared. */
function toWanted(name: string, spec: BudgetSpec): Fields {
  const { thresholds, endsAt, ...others } = spec;
  return {
    ...others,
    ...(thresholds && { thresholds: [...new Set(thresholds)].sort((a, b) => a - b) }),
    ...(endsAt !== undefined && { endsAt: formatEnd(readEnd(name, spec) ?? 0) }),
  };
}

function toFields(budget: Budget): Fields {
  const { scope, subject, period, length, anchor, filter_model: filterModel, quota_limit: limit } = budget;
  return {
    scope,
    subject,
    period,
    ...(length > 0 && { length }),
    anchor,
    endsAt: formatEnd(budget.ends_at),
    filterModel,
    limit,
    timeZone: budget.time_zone,
    thresholds: budget.thresholds,
    softPercent: budget.soft_percent,
    forecast: budget.forecast,
    hard: budget.is_hard,
  };
}

function formatEnd(end: number): string | null {
  return end === 0 ? null : new Date(end * 1000).toISOString().replace(".000Z", "Z");
}

interface PayerNames {
  readonly wallets: ReadonlyMap<number, string>;
  readonly usernames: ReadonlyMap<string, string>;
}

/** Writes `ann/app=shop`, or `team:research/app=shop` for the wallet of a team. */
function writePayer(subject: string, { wallets, usernames }: PayerNames): string {
  const { payer, value } = splitPayer(subject);
  const slug = wallets.get(payer);
  const name = slug === undefined ? (usernames.get(String(payer)) ?? payer) : `team:${slug}`;
  return `${name}/${value}`;
}

async function exported({ database: { db }, budgets }: BudgetKindDeps): Promise<ExportedRow[]> {
  const users = await db.selectFrom("users").select(["id", "username"]).execute();
  const usernames = new Map(users.map(({ id, username }) => [String(id), username]));
  const names = { channel: await namesIn(db, "channel"), token: await namesIn(db, "token") };
  const teams = await db.selectFrom("teams").select(["id", "slug", "account_id"]).execute();
  const wallets = new Map(teams.map(({ account_id: account, slug }) => [account, slug]));
  const slugs = new Map(teams.map(({ id, slug }) => [String(id), slug]));
  const findSubjectName = ({ scope, subject }: Budget) => {
    if (scope === "user") return usernames.get(subject);
    if (scope === "team") return slugs.get(subject);
    if (scope === "member") {
      const [team = "", user = ""] = subject.split(":");
      return `${slugs.get(team) ?? team}:${usernames.get(user) ?? user}`;
    }
    if (isOfPayer(scope)) return writePayer(subject, { wallets, usernames });
    // Ids differ on another gateway.
    return scope === "channel" || scope === "token" ? names[scope].get(Number(subject)) : undefined;
  };
  // What a team set is its own, and would be an administrator's after an import.
  const ofAdministrators = (await budgets.list()).filter(({ managed_by: maker }) => maker === "admin");
  const named = ofAdministrators.map((budget) => {
    const found = findSubjectName(budget);
    // A name of only digits would be read as an id.
    const subject = found === undefined || /^\d+$/.test(found) ? budget.subject : found;
    const name = documentName(`${budget.scope}-${subject}-${budget.period}`, budget.id);
    return { name, id: budget.id, spec: { ...toFields(budget), subject } };
  });
  return uniqueNames(named);
}
