import { setTimeout as sleep } from "node:timers/promises";
import { createToken, type Session } from "../src/index.ts";
import { runSql } from "../src/sql.ts";
import { MODELS } from "./load.ts";
import type { Replicas } from "./replicas.ts";

/** A budget this large refuses no request. */
const WIDE = 10 ** 14;
/** Lasts for a few requests at a time, but not for all of a round. */
const TIGHT = 2_000_000;
const READ_LIMIT_MS = 20_000;
/** The error of requests that find a budget used up; only those of the tight one do. */
export const REFUSED_BY_BUDGET = "budget_exceeded";

export interface Budgeted {
  readonly userIds: readonly number[];
  readonly teamId: number;
  readonly channels: readonly number[];
}

/**
 * Budgets of every scope, by months that begin at different times. Each request counts in five to seven of them. The
 * budget of the first user's second key is so small that its requests compete for it.
 */
export async function createBudgets(
  root: Session,
  { userIds, teamId, channels }: Budgeted,
  { database, replicas }: { readonly database: string; readonly replicas: Replicas },
): Promise<void> {
  const keys = await runSql(database, `select id from tokens where user_id = ${userIds[0]} order by id`);
  const [roomy, tight] = keys.map(({ id }) => String(id));
  const make = async (scope: string, subject: string | number | undefined, more: object = {}) => {
    const budget = { scope, subject: String(subject), period: "month", quota_limit: WIDE, soft_percent: 0 };
    await root.must("POST", "/api/budget/", { ...budget, ...more });
  };
  for (const id of userIds) await make("user", id, { time_zone: "America/New_York" });
  await make("team", teamId, { time_zone: "Europe/London" });
  await make("member", `${teamId}:${userIds[0]}`, { period: "total" });
  for (const id of channels) await make("channel", id, { time_zone: "Asia/Kolkata" });
  for (const model of Object.values(MODELS)) await make("model", model, { is_hard: false });
  await make("group", "default");
  await make("token", roomy);
  await make("token", tight, { quota_limit: TIGHT });
  await untilRead(root, { replicas, make });
}

/**
 * All budgets are read together, so a replica that refuses because of the last one knows all of them. The key has too
 * little quota, so that none of its requests is charged.
 */
async function untilRead(
  root: Session,
  { replicas, make }: { readonly replicas: Replicas; make(scope: string, id: number, more: object): Promise<void> },
): Promise<void> {
  const key = await createToken(root, { name: "probe", unlimited_quota: false, remain_quota: 1 });
  await make("user", root.userId, { quota_limit: 1 });
  const limit = performance.now() + READ_LIMIT_MS;
  for (const { process, name } of replicas.all) {
    while (!(await isRefused(process.url, key))) {
      if (performance.now() > limit) throw new Error(`${name} does not know the budgets of the test`);
      await sleep(100);
    }
  }
}

async function isRefused(url: string, key: string): Promise<boolean> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: MODELS.plain, messages: [{ role: "user", content: "Count." }] }),
  });
  return (await answer.text()).includes(REFUSED_BY_BUDGET);
}

interface BudgetRow {
  readonly id: number;
  readonly scope: string;
  readonly subject: string;
}

const CONSUME = 2;
const COLUMNS: Readonly<Record<string, string>> = { user: "user_id", token: "token_id", channel: "channel_id" };

/**
 * Returns budgets whose use differs from the charges of their requests in their window, and hard ones that used more
 * than their limit. Each is read as one consistent snapshot.
 */
export async function budgetFindings(database: string): Promise<string[]> {
  const found: string[] = [];
  const budgets = await runSql(database, "select id, scope, subject from budgets order by id");
  for (const row of budgets) {
    const budget = { id: Number(row["id"]), scope: String(row["scope"]), subject: String(row["subject"]) };
    const [state = {}] = await runSql(
      database,
      `select used, quota_limit, is_hard, (${chargedIn(budget)}) as charged from budgets b where id = ${budget.id}`,
    );
    const of = (column: string) => Number(state[column]);
    const name = `budget ${budget.scope}:${budget.subject}`;
    if (of("used") !== of("charged")) found.push(`${name}: used ${of("used")}, charged ${of("charged")}`);
    if (of("is_hard") === 1 && of("used") > of("quota_limit"))
      found.push(`${name}: used ${of("used")} of ${of("quota_limit")}`);
  }
  return found;
}

/** Only the log has the names of models. */
function chargedIn({ scope, subject }: BudgetRow): string {
  if (scope === "model")
    return `select coalesce(sum(g.quota), 0) from logs g where g.type = ${CONSUME} and g.model_name = '${subject}' and g.created_at >= b.window_start`;
  const subjectCondition = ofTeam({ scope, subject }) ?? ofColumn({ scope, subject });
  return `select coalesce(sum(0 - l.quota), 0) from ledger l where ${subjectCondition} and l.kind in ('consume', 'correct') and l.created_at >= b.window_start * 1000`;
}

function ofColumn({ scope, subject }: Omit<BudgetRow, "id">): string {
  const column = COLUMNS[scope];
  return column === undefined ? "1 = 1" : `l.${column} = ${subject}`;
}

/** Charges of the wallet of a team, or of the keys of one member in it; undefined for other scopes. */
function ofTeam({ scope, subject }: Omit<BudgetRow, "id">): string | undefined {
  if (scope !== "team" && scope !== "member") return undefined;
  const [team, member] = subject.split(":");
  const paid = `l.user_id = (select account_id from teams where id = ${team})`;
  const held = `l.token_id in (select id from tokens where member_id = ${member})`;
  return member === undefined ? paid : `${paid} and ${held}`;
}

/** Returns what is still reserved although nothing runs. */
export async function reservedInBudgets(database: string): Promise<string[]> {
  const held = await runSql(database, "select scope, subject, held from budgets where held <> 0");
  const rows = await runSql(database, "select request_id from budget_holds");
  return [
    ...held.map((row) => `budget ${String(row["scope"])}:${String(row["subject"])}: ${String(row["held"])} held`),
    ...rows.map((row) => `${String(row["request_id"])}: a reservation of a budget in the database`),
  ];
}

/** Returns differences between the states in Redis, of the current epoch, and the database. */
export async function liveBudgetFindings(
  database: string,
  { epoch, state }: { readonly epoch: string; readonly state: Readonly<Record<string, string>> },
): Promise<string[]> {
  const found: string[] = [];
  for (const row of await runSql(database, "select id, used, revision from budgets")) {
    const [id, used] = [String(row["id"]), Number(row["used"])];
    const [of, revision, , live] = state[id]?.split(" ") ?? [];
    if (Number(state[`${id}h`] ?? 0) !== 0) found.push(`budget ${id}: ${state[`${id}h`]} open in Redis`);
    if (of !== epoch || Number(revision) !== Number(row["revision"])) continue;
    if (Number(live) !== used) found.push(`budget ${id}: ${live} used in Redis, ${used} in the database`);
  }
  return found;
}
