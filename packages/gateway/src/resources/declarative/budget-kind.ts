import type { Budget, BudgetSpec } from "@fairway/wire";
import { isTimeZone } from "../../billing/budgets/window.ts";
import { usernameKey } from "../../identity/accounts/accounts.ts";
import { unusable } from "./read-document.ts";
import type { Database } from "../../storage/database.ts";
import { BUDGET_DEFAULTS, type BudgetChange, type BudgetStore } from "../budgets/store.ts";
import type { Announce } from "../ports.ts";
import { documentName, exportedNames, noUser, uniqueNames, type ExportedRow, type Fields, type Kind } from "./kinds.ts";

export interface BudgetKindDeps {
  readonly database: Database;
  readonly budgets: BudgetStore;
  readonly announce: Announce;
}

/** Members of a budget, by their names in documents. */
export const BUDGET_MEMBERS = {
  limit: "quota_limit",
  timeZone: "time_zone",
  softPercent: "soft_percent",
  hard: "is_hard",
} as const satisfies Partial<Record<keyof BudgetSpec, keyof BudgetChange>>;

/** The columns that identify a budget; they never change. */
const IDENTITY = ["scope", "subject", "period"] as const;

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
      if (spec.timeZone !== undefined && !isTimeZone(spec.timeZone))
        throw unusable(name, `there is no time zone ${spec.timeZone}`);
      const subject = await findSubject(deps, spec);
      const isDescribed = users.has(usernameKey(spec.subject));
      if (subject === undefined && spec.scope === "user" && !isDescribed) throw unusable(name, noUser(spec.subject));
      // A subject that the same documents create has no id yet.
      return { ...spec, subject: subject ?? spec.subject };
    },
    async find(_name, spec, ownedId) {
      if (ownedId !== undefined) return read(ownedId);
      const subject = await findSubject(deps, spec);
      if (subject === undefined) return undefined;
      const id = await budgets.findId(spec.scope, subject, spec.period);
      return id === undefined ? undefined : read(id);
    },
    refusal: ({ fields }, wanted) =>
      IDENTITY.every((field) => fields[field] === wanted[field])
        ? ""
        : "scope, subject and period of a budget do not change: make another one",
    lacks: () => "",
    async create(name, spec) {
      const { scope, period, limit, timeZone, softPercent, hard } = spec;
      const subject = await findSubject(deps, spec);
      if (subject === undefined) throw unusable(name, `there is no ${scope} ${spec.subject}`);
      const budget = await budgets.create({
        scope,
        subject,
        period,
        quota_limit: limit,
        time_zone: timeZone ?? BUDGET_DEFAULTS.time_zone,
        soft_percent: softPercent ?? BUDGET_DEFAULTS.soft_percent,
        is_hard: hard ?? BUDGET_DEFAULTS.is_hard,
      });
      if (!budget) throw unusable(name, `there is a budget of ${scope} ${spec.subject} for a ${period} already`);
      await deps.announce("options");
      return budget.id;
    },
    async update({ id }, spec, changed) {
      const members = Object.entries(BUDGET_MEMBERS).filter(([field]) => changed.includes(field));
      const change = members.map(([field, member]) => [member, spec[field as keyof typeof BUDGET_MEMBERS]]);
      await budgets.change(id, Object.fromEntries(change) as BudgetChange);
      await deps.announce("options");
    },
    async remove({ resource_id: id }) {
      if (await budgets.remove(id)) await deps.announce("options");
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
  if (/^\d{1,15}$/.test(subject)) return (await budgets.exists(scope, Number(subject))) ? subject : undefined;
  if (scope === "user") {
    const users = db.selectFrom("users").select("id").where("username_key", "=", usernameKey(subject));
    return numberText(await users.where("deleted_at", "is", null).executeTakeFirst());
  }
  const kind = scope === "channel" ? "Channel" : "Token";
  const owned = db.selectFrom("managed_resources").select("resource_id as id").where("kind", "=", kind);
  const declared = await owned.where("name", "=", subject).executeTakeFirst();
  return numberText(declared) ?? numberText(await exportedAs(db, scope, subject));
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

function toFields({ scope, subject, period, quota_limit, time_zone, soft_percent, is_hard }: Budget): Fields {
  return {
    scope,
    subject,
    period,
    limit: quota_limit,
    timeZone: time_zone,
    softPercent: soft_percent,
    hard: is_hard,
  };
}

async function exported({ database: { db }, budgets }: BudgetKindDeps): Promise<ExportedRow[]> {
  const users = await db.selectFrom("users").select(["id", "username"]).execute();
  const usernames = new Map(users.map(({ id, username }) => [String(id), username]));
  const names = { channel: await namesIn(db, "channel"), token: await namesIn(db, "token") };
  const findSubjectName = ({ scope, subject }: Budget) => {
    if (scope === "user") return usernames.get(subject);
    // Ids differ on another gateway.
    return scope === "channel" || scope === "token" ? names[scope].get(Number(subject)) : undefined;
  };
  const named = (await budgets.list()).map((budget) => {
    const found = findSubjectName(budget);
    // A name of only digits would be read as an id.
    const subject = found === undefined || /^\d+$/.test(found) ? budget.subject : found;
    const name = documentName(`${budget.scope}-${subject}-${budget.period}`, budget.id);
    return { name, id: budget.id, spec: { ...toFields(budget), subject } };
  });
  return uniqueNames(named);
}
