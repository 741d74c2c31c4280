import type { Ledger } from "../../../billing/ledger/ledger.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { Database } from "../../../storage/database.ts";
import type { ForeignDatabase, ForeignRow } from "../../../storage/engines/foreign.ts";
import { bump } from "../../../storage/revisions.ts";
import type { Vault } from "../../../storage/secrets/secrets.ts";
import type { ImportReport } from "../../report.ts";
import { bareOwner, bringOwner, teamOwner, userOwner, type Account, type Owner } from "./accounts.ts";
import { bringKey } from "./keys.ts";

export interface LitellmDatabase {
  readonly source: ForeignDatabase;
  readonly target: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly ledger: Pick<Ledger, "changeWith">;
  readonly isDry: boolean;
  /** US dollars that an account without a budget of its own begins with: there is no wallet without end here. */
  readonly credit: number;
  readonly report: ImportReport;
  /** Told what was done so far of a kind of thing. */
  readonly onProgress: (what: string, done: number) => void;
}

export interface DatabaseImport extends LitellmDatabase {
  /** Budgets that several rows share, by their id. */
  readonly budgets: ReadonlyMap<string, ForeignRow>;
  /** Names that channels here serve. */
  readonly models: readonly string[];
  readonly kindOf: (ownerKey: string) => "teams" | "users";
}

const KEYS = "LiteLLM_VerificationToken";
const USERS = "LiteLLM_UserTable";
const TEAMS = "LiteLLM_TeamTable";
const BUDGETS = "LiteLLM_BudgetTable";
const MODELS = "LiteLLM_ProxyModelTable";
const NOBODY = "nobody";

/** Users, teams and keys. A key of a team belongs to the team's account, whose budget it spends. */
export async function importDatabase(settings: LitellmDatabase): Promise<void> {
  const { source, target, report, isDry, onProgress } = settings;
  for (const table of [KEYS, USERS, TEAMS])
    if (!(await source.has(table))) throw new Error(`this is no database of LiteLLM: it has no table ${table}`);
  const context: DatabaseImport = {
    ...settings,
    budgets: await readBudgets(source),
    models: await modelsHere(target),
    kindOf: (key) => (key.startsWith("team ") ? "teams" : "users"),
  };
  const accounts = new Map<string, Account>();
  const bring = async (owner: Owner) => {
    const account = await bringOwner(context, owner);
    accounts.set(owner.key, account);
    return account;
  };
  for await (const rows of source.pages(USERS, "user_id")) for (const row of rows) await bring(userOwner(context, row));
  for await (const rows of source.pages(TEAMS, "team_id")) for (const row of rows) await bring(teamOwner(context, row));
  for await (const rows of source.pages(KEYS, "token")) {
    for (const row of rows) {
      const [key, name] = ownerOf(row);
      await bringKey(context, row, accounts.get(key) ?? (await bring(bareOwner(key, name))));
    }
    onProgress("keys", report.total("keys"));
  }
  await remarkRest(context);
  if (!isDry)
    await target.raw.transaction(async (tx) => {
      for (const topic of ["users", "tokens", "options"] as const) await bump(tx, target.kind, topic);
    });
}

function ownerOf(row: ForeignRow): readonly [key: string, name: string] {
  const [team, user] = [row.text("team_id"), row.text("user_id")];
  if (team !== "") return [`team ${team}`, team];
  return user === "" ? [NOBODY, "litellm"] : [`user ${user}`, user];
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
  if (!(await source.has(MODELS))) return;
  for await (const rows of source.pages(MODELS, "model_id"))
    for (const _row of rows)
      report.remark("models stand in the database with sealed keys: name them in a --config FILE");
}
