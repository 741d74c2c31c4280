import {
  ACCOUNT_KIND,
  DEFAULT_TEAM_SETTINGS,
  formatTeamSettings,
  ROLE,
  TEAM_STATUS,
  type TeamRole,
} from "@fairway/wire";
import { parseObject } from "../../../../lib/text/json.ts";
import { seconds } from "../../../../lib/clock.ts";
import type { RawTransaction, SqlValue } from "../../../../storage/engines/raw.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import { buildWalletKey, buildWalletRow, cutName } from "../../../../teams/wallet.ts";
import { insertMany, placing } from "../rows.ts";
import { bringMoney, digest, findBrought, type Account } from "./accounts.ts";
import { keepBudget } from "./budgets.ts";
import type { DatabaseImport } from "./context.ts";
import { isAllModels, spreadPatterns } from "./models.ts";
import { readModelBudgets } from "./model-budgets.ts";
import { NO_SPENDING, readSpending, type Spending } from "./spending.ts";

/** A team of the source; keys may name one that has no row. */
export interface SourceTeam {
  readonly id: string;
  readonly row: ForeignRow | undefined;
  /** Accounts here by the owner keys of the source. */
  readonly accounts: ReadonlyMap<string, Account>;
}

const SOURCES = { username: "team_alias", display_name: "team_alias", used_quota: "spend" };
const SLUG_CHARS = 40;
const MARK_CHARS = 6;
/** A list of the settings has at most this many names. */
const MOST_LISTED = 200;

/** Brings a team with its wallet, members and budgets, in one transaction; a team that is here already is found. */
export async function bringTeam(context: DatabaseImport, source: SourceTeam): Promise<Account> {
  const { report, target } = context;
  const key = `team ${source.id}`;
  const known = await findBrought(context, key);
  report.count("teams", known === undefined ? "created" : "unchanged");
  if (known !== undefined) return findKnown(context, known, source);
  const { row } = source;
  const spending = row ? readSpending(context, row) : NO_SPENDING;
  const members = row ? await readMembers(context, source) : [];
  let team = 0;
  const insert = async (tx: RawTransaction) => {
    const made = await insertTeam(context, tx, { source, spending });
    team = made.team;
    await insertMembers(context, tx, { team, members });
    await keepBudgets(context, tx, { source, team, spending });
    return made.account;
  };
  const id = await bringMoney(context, { key, spending, from: row, insert });
  if (target.kind === "sqlite" && id === 0) throw new Error(`the team ${source.id} was not stored`);
  return { id, models: [], team: { id: team, members: new Set(members.map(({ userId }) => userId)) } };
}

async function findKnown(context: DatabaseImport, id: number, { id: name, row }: SourceTeam): Promise<Account> {
  const { raw } = context.target;
  const [team] = await raw.rows<{ id: number }>("select id from teams where account_id = ?", [id]);
  if (!team) {
    context.report.remark("teams were imported as accounts by an earlier version, and stay accounts", name);
    return { id, models: row?.list("models") ?? [] };
  }
  const rows = await raw.rows<{ user_id: number }>("select user_id from team_members where team_id = ?", [team.id]);
  return { id, models: [], team: { id: team.id, members: new Set(rows.map(({ user_id: user }) => user)) } };
}

interface Making {
  readonly source: SourceTeam;
  readonly spending: Spending;
}

async function insertTeam(
  context: DatabaseImport,
  tx: RawTransaction,
  { source: { id, row }, spending }: Making,
): Promise<{ readonly account: number; readonly team: number }> {
  const name = readName(row) || cutName(id);
  const slug = await findSlug(tx, name, digest(`team ${id}`).slice(0, MARK_CHARS));
  const createdAt = seconds(context.clock);
  const wallet = buildWalletRow({ name, slug, group: context.groups.of("default"), createdAt });
  const values = { ...wallet, used_quota: spending.spent } as Record<string, SqlValue>;
  const store = () => insertMany(tx, "users", [values]);
  await (row ? placing([{ values, from: row }], store, SOURCES) : store());
  const find = "select id from users where username_key = ?";
  const [made] = await tx.rows<{ id: number }>(find, [buildWalletKey(slug)]);
  if (!made) throw new Error(`the wallet of the team ${name} was not stored`);
  await insertMany(tx, "teams", [
    {
      account_id: made.id,
      name,
      slug,
      description: "",
      ...buildTerms(context, row, spending),
      created_by: await findRoot(tx),
      created_at: createdAt,
      deleted_at: null,
      version: 1,
    },
  ]);
  const [team] = await tx.rows<{ id: number }>("select id from teams where account_id = ?", [made.id]);
  return { account: made.id, team: team?.id ?? 0 };
}

function readName(row: ForeignRow | undefined): string {
  const alias = row?.text("team_alias") ?? "";
  return cutName(alias.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").trim());
}

/** Returns the columns of labels, settings and the switch. */
function buildTerms(context: DatabaseImport, row: ForeignRow | undefined, { limits, isClosed }: Spending) {
  const isOn = !(row?.flag("blocked") ?? false) && !isClosed;
  const organization = context.organizations.get(row?.text("organization_id") ?? "");
  const settings = {
    ...DEFAULT_TEAM_SETTINGS,
    models: readModels(context, row),
    limits: limits ?? {},
    tag_limits: context.blocked,
  };
  return {
    labels: organization === undefined ? "" : JSON.stringify({ organization }),
    settings: formatTeamSettings(settings),
    status: isOn ? TEAM_STATUS.on : TEAM_STATUS.off,
  };
}

/** Returns a free short name; names without letters of one, and those that are taken, get a part of the mark. */
async function findSlug(tx: RawTransaction, name: string, mark: string): Promise<string> {
  const letters = name.normalize("NFKD").toLowerCase();
  const plain = letters
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, SLUG_CHARS);
  const taken = await tx.rows("select 1 as one from users where username_key = ?", [buildWalletKey(plain)]);
  if (plain.length > 1 && taken.length === 0) return plain;
  return `${plain.slice(0, SLUG_CHARS - MARK_CHARS - 1) || "team"}-${mark}`;
}

/** A setting has beginnings of names; other patterns become the models that match them now. */
function readModels(context: DatabaseImport, row: ForeignRow | undefined): string[] {
  const named = row?.list("models") ?? [];
  if (named.length === 0 || named.some(isAllModels)) return [];
  const isPlain = (name: string) => !name.slice(0, -1).includes("*");
  const models = [
    ...named.filter(isPlain),
    ...spreadPatterns(
      context,
      named.filter((name) => !isPlain(name)),
    ),
  ];
  if (models.length > MOST_LISTED) row?.refuse("models", `a team here names ${MOST_LISTED} models at most`);
  return [...new Set(models)];
}

interface Member {
  readonly userId: number;
  readonly role: TeamRole;
}

/** The first admin owns the team; without one, the super administrator does. */
async function readMembers(context: DatabaseImport, { id, row, accounts }: SourceTeam): Promise<Member[]> {
  const { report, target } = context;
  const found = new Map<number, TeamRole>();
  let hasOwner = false;
  for (const { user, isAdmin } of listMembers(row)) {
    const account = accounts.get(`user ${user}`);
    if (!account) {
      report.remark("members of teams have no account in the source: they are left out", `${user} of ${id}`);
      continue;
    }
    found.set(account.id, isAdmin ? (hasOwner ? "admin" : "owner") : "member");
    hasOwner ||= isAdmin;
  }
  const root = hasOwner ? 0 : await findRoot(target.raw);
  if (root !== 0) found.set(root, "owner");
  return [...found].map(([userId, role]) => ({ userId, role }));
}

function listMembers(row: ForeignRow | undefined): readonly { readonly user: string; readonly isAdmin: boolean }[] {
  const listed: unknown = parseObject(`{"members":${row?.text("members_with_roles") || "[]"}}`)?.["members"];
  if (!Array.isArray(listed)) return [];
  return (listed as unknown[]).map((entry) => {
    const { user_id: user, role } = (entry ?? {}) as { readonly user_id?: unknown; readonly role?: unknown };
    return { user: String(user), isAdmin: role === "admin" };
  });
}

async function findRoot(tx: Pick<RawTransaction, "rows">): Promise<number> {
  const sql = "select min(id) as id from users where role = ? and kind = ? and deleted_at is null";
  const [root] = await tx.rows<{ id: number | null }>(sql, [ROLE.root, ACCOUNT_KIND.person]);
  return Number(root?.id ?? 0);
}

async function insertMembers(
  { clock }: DatabaseImport,
  tx: RawTransaction,
  { team, members }: { readonly team: number; readonly members: readonly Member[] },
): Promise<void> {
  const fixed = { team_id: team, source: "import", added_by: 0, created_at: seconds(clock) };
  const rows = members.map(({ userId, role }) => ({ ...fixed, user_id: userId, role }));
  if (rows.length > 0) await insertMany(tx, "team_members", rows);
}

/** The budget of the team, those of single models, and those of its members. */
async function keepBudgets(
  context: DatabaseImport,
  tx: RawTransaction,
  { source: { id, row, accounts }, team, spending }: Making & { readonly team: number },
): Promise<void> {
  await keepBudget(context, tx, { scope: "team", subject: team, spending });
  for (const { model, ...budget } of row ? readModelBudgets(context, row) : [])
    await keepBudget(context, tx, { scope: "team", subject: team, spending: budget, model, isForGood: true });
  for (const membership of context.memberships.get(id) ?? []) {
    const account = accounts.get(`user ${membership.text("user_id")}`);
    if (!account) continue;
    const subject = `${team}:${account.id}`;
    const own = readSpending(context, membership);
    await keepBudget(context, tx, { scope: "member", subject, spending: own, isForGood: true });
    if (own.limits !== null)
      context.report.remark("members of teams have rate limits of their own: here a team has one for all its members");
  }
}
