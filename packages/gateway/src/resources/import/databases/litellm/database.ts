import { createChanges } from "../../../../billing/ledger/booking/balance-changes.ts";
import type { Database } from "../../../../storage/database.ts";
import { ForeignValueError, type ForeignDatabase, type ForeignRow } from "../../../../storage/foreign.ts";
import { rehearse } from "../../../../storage/rehearsal.ts";
import { bump } from "../../../../storage/revisions.ts";
import { bareOwner, bringOwner, userOwner, type Account, type Owner } from "./accounts.ts";
import type { DatabaseImport, LitellmDatabase } from "./context.ts";
import { readBlockedEndUsers } from "./end-users.ts";
import { bringKey } from "./keys.ts";
import { bringTeam } from "./teams.ts";
import { bringValueBudgets } from "./value-budgets.ts";

const KEYS = "LiteLLM_VerificationToken";
const USERS = "LiteLLM_UserTable";
const TEAMS = "LiteLLM_TeamTable";
const BUDGETS = "LiteLLM_BudgetTable";
const MODELS = "LiteLLM_ProxyModelTable";
const MEMBERSHIPS = "LiteLLM_TeamMembership";
const ORGANIZATIONS = "LiteLLM_OrganizationTable";
const PROJECTS = "LiteLLM_ProjectTable";
const NO_OWNER = "nobody";
/** Columns that identify a key in messages: in old versions, its id column contains the key in clear. */
const KEY_LABELS = ["key_alias", "key_name"];

/**
 * Imports users, teams and keys. The key of a team belongs to its wallet, and names its member. A second run changes
 * nothing that already exists, so it continues a run that stopped.
 */
export async function importDatabase({ isDry, ...settings }: LitellmDatabase): Promise<void> {
  const { source, target } = settings;
  for (const table of [KEYS, USERS, TEAMS])
    if (!(await source.has(table)))
      throw new ForeignValueError(`this is not a database of LiteLLM: it has no table ${table}`);
  const bringAll = (place: Database) => importTables({ ...settings, target: place });
  await (isDry ? rehearse(target, bringAll) : bringAll(target));
}

async function importTables(settings: Omit<LitellmDatabase, "isDry">): Promise<void> {
  const { source, target, report, clock, onProgress } = settings;
  const context: DatabaseImport = {
    ...settings,
    ledger: createChanges({ database: target.raw, clock, onCommit: () => Promise.resolve() }),
    budgets: await readBudgets(source),
    models: await modelsHere(target),
    memberships: await readMemberships(source),
    organizations: await readNames(source, ORGANIZATIONS, { id: "organization_id", name: "organization_alias" }),
    projects: await readNames(source, PROJECTS, { id: "project_id", name: "project_alias" }),
    blocked: await readBlockedEndUsers(source, report),
  };
  const accounts = new Map<string, Account>();
  const bring = async (owner: Owner) => {
    const account = await bringOwner(context, owner);
    accounts.set(owner.key, account);
    return account;
  };
  for await (const rows of source.pages(USERS, "user_id")) for (const row of rows) await bring(userOwner(context, row));
  const bringOneTeam = async (id: string, row?: ForeignRow) => {
    const account = await bringTeam(context, { id, row, accounts });
    accounts.set(`team ${id}`, account);
    return account;
  };
  for await (const rows of source.pages(TEAMS, "team_id"))
    for (const row of rows) await bringOneTeam(row.text("team_id"), row);
  const payers = new Map<string, number>();
  for await (const rows of source.pages(KEYS, "token", KEY_LABELS)) {
    for (const row of rows) {
      const [team, user] = [row.text("team_id"), row.text("user_id")];
      const maker = accounts.get(`user ${user}`);
      const [key, name] = readPerson(user);
      const owner =
        team === ""
          ? (maker ?? accounts.get(key) ?? (await bring(bareOwner(key, name))))
          : (accounts.get(`team ${team}`) ?? (await bringOneTeam(team)));
      await bringKey(context, row, { owner, maker });
      payers.set(row.text("token"), owner.id);
    }
    onProgress("keys", report.total("keys"));
  }
  await bringValueBudgets(context, payers);
  await remarkRest(context);
  await target.raw.transaction(async (tx) => {
    for (const topic of ["users", "tokens", "options"] as const) await bump(tx, target.kind, topic);
  });
}

function readPerson(user: string): readonly [key: string, name: string] {
  return user === "" ? [NO_OWNER, "litellm"] : [`user ${user}`, user];
}

async function readMemberships(source: ForeignDatabase): Promise<Map<string, ForeignRow[]>> {
  const memberships = new Map<string, ForeignRow[]>();
  if (!(await source.has(MEMBERSHIPS))) return memberships;
  for await (const rows of source.pages(MEMBERSHIPS, "user_id")) {
    for (const row of rows) {
      const team = row.text("team_id");
      memberships.set(team, [...(memberships.get(team) ?? []), row]);
    }
  }
  return memberships;
}

async function readNames(
  source: ForeignDatabase,
  table: string,
  columns: { readonly id: string; readonly name: string },
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  if (!(await source.has(table))) return names;
  for await (const rows of source.pages(table, columns.id))
    for (const row of rows) names.set(row.text(columns.id), row.text(columns.name) || row.text(columns.id));
  return names;
}

async function readBudgets(source: ForeignDatabase): Promise<Map<string, ForeignRow>> {
  const budgets = new Map<string, ForeignRow>();
  if (!(await source.has(BUDGETS))) return budgets;
  for await (const rows of source.pages(BUDGETS, "budget_id"))
    for (const row of rows) budgets.set(row.text("budget_id"), row);
  return budgets;
}

async function modelsHere({ db }: Database): Promise<string[]> {
  const rows = await db.selectFrom("abilities").select("model").distinct().orderBy("model").execute();
  return rows.map(({ model }) => model);
}

async function remarkRest({ source, report, credit }: DatabaseImport): Promise<void> {
  const { notes } = report;
  notes.push(
    "keys are known by their SHA-256 only: clients keep them, the console shows their last letters",
    "users have no password: they set one by mail, or sign in by OIDC; root stays as it is",
    `accounts without a budget of their own begin with $${credit.toLocaleString("en")} (--credit)`,
  );
  for (const [table, text] of LOST) {
    if (!(await source.has(table.name))) continue;
    for await (const rows of source.pages(table.name, table.key))
      for (const row of rows) if (row.text("budget_id") !== "") report.remark(text, row.label);
  }
  if (!(await source.has(MODELS))) return;
  for await (const rows of source.pages(MODELS, "model_id"))
    for (const _row of rows)
      report.remark("models stand in the database with sealed keys: name them in a --config FILE");
}

/** What has no counterpart here: each row with a budget is named. */
const LOST = [
  [
    { name: ORGANIZATIONS, key: "organization_id" },
    "organizations have budgets: here their teams have a label, and no shared budget",
  ],
] as const;
