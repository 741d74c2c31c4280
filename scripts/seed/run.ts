import { bump } from "../../packages/gateway/src/storage/revisions.ts";
import type { Database } from "../../packages/gateway/src/storage/database.ts";
import { upsertSql } from "../../packages/gateway/src/storage/inserts.ts";
import { daysBetween, makePartitions } from "../../packages/gateway/src/storage/partitions/partitions.ts";
import type { Vault } from "../../packages/gateway/src/storage/secrets/secrets.ts";
import { createActors, type Actors } from "./actors.ts";
import { inStatements, type PrepareBulk } from "./bulk.ts";
import { populate } from "./entities.ts";
import { dropIndexes, type Restore } from "./indexes.ts";
import { openLoader } from "./load-data.ts";
import type { SeedPlan } from "./plan.ts";
import { createRandom } from "./random.ts";
import { LEDGER, LOGS, SUMS } from "./tables.ts";
import { Traffic, type Batch } from "./traffic.ts";

const BATCH_ROWS = 5_000;
const SAY_EVERY_MS = 5_000;
const DAY = 86_400;
const DAYS_AHEAD = 3;
const TOKEN_RESERVE = 50_000_000;
/** Row of `revisions` with the id of the last log row in the hourly sums. */
const ROLLUP_MARK = {
  table: "revisions",
  columns: ["topic", "revision"],
  key: ["topic"],
  replace: ["revision"],
} as const;

export interface AccountLoader {
  readonly database: Database;
  /** URL of that database. */
  readonly url: string;
  readonly vault: Vault;
  readonly plan: SeedPlan;
  readonly isAdding: boolean;
  readonly say: (line: string) => void;
}

/** The database is in use; the message says what to do. */
class NotEmptyError extends Error {
  override readonly name = "NotEmptyError";
}

/** Fills the database: users, tokens, channels, then log, ledger and hourly sums that agree with each other. */
export async function runSeed(seeding: AccountLoader): Promise<void> {
  const { database, url, plan, isAdding, say } = seeding;
  const present = await highestId(database, "logs");
  if (!isAdding) await refuseNonEmpty(database, present);
  const startedAt = performance.now();
  const random = createRandom(present + 1);
  const actors = createActors(await populate({ ...seeding, random }), random);
  say(`${plan.users} users, ${plan.tokens} tokens and ${plan.channels} channels`);
  const traffic = new Traffic(actors, plan, random);
  if (present === 0) await partition(database, plan);
  const restores = present === 0 ? await withoutIndexes(database) : [];
  const loader = database.kind === "mysql" ? await openLoader(url) : undefined;
  const prepare = loader?.prepare ?? inStatements(database);
  try {
    await prepare(LEDGER, traffic.gifts())();
    await writeAll(seeding, traffic, prepare);
  } finally {
    await loader?.close();
    if (restores.length > 0) say("building indexes");
    await Promise.all(restores.map((restore) => restore()));
  }
  await writeTotals(database, actors);
  await finish(database);
  say(`${plan.logs} log rows in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
}

async function refuseNonEmpty({ db }: Database, lastLog: number): Promise<void> {
  const channel = await db.selectFrom("channels").select("id").limit(1).executeTakeFirst();
  const users = await db.selectFrom("users").select("id").limit(2).execute();
  if (lastLog === 0 && !channel && users.length < 2) return;
  throw new NotEmptyError("the database is not empty: name another one, or add to this one with --add");
}

/** Creates the partitions that a gateway running on these days would have. */
async function partition(database: Database, { until, days }: SeedPlan): Promise<void> {
  const ends = daysBetween(until - days * DAY, until + DAYS_AHEAD * DAY);
  await makePartitions(database, { ends, maxMoved: 1_000 });
}

async function withoutIndexes(database: Database): Promise<Restore[]> {
  const restores: Restore[] = [];
  for (const { name } of [LOGS, LEDGER, SUMS]) {
    if ((await highestId(database, name)) === 0) restores.push(await dropIndexes(database, name));
  }
  return restores;
}

/** Prepares the next rows while the database writes the last ones. */
async function writeAll({ plan, say }: AccountLoader, traffic: Traffic, prepare: PrepareBulk): Promise<void> {
  const startedAt = performance.now();
  let saidAt = startedAt;
  let done = 0;
  let writing: Promise<unknown> = Promise.resolve();
  for (let batch = traffic.next(BATCH_ROWS); batch; batch = traffic.next(BATCH_ROWS)) {
    const write = prepareAll(prepare, batch);
    await writing;
    writing = write();
    done += BATCH_ROWS;
    if (performance.now() - saidAt < SAY_EVERY_MS) continue;
    saidAt = performance.now();
    say(progressLine(Math.min(done, plan.logs), plan.logs, (saidAt - startedAt) / 1_000));
  }
  await writing;
}

function prepareAll(prepare: PrepareBulk, { logs, ledger, sums }: Batch): () => Promise<unknown> {
  const [writeLogs, writeLedger, writeSums] = [prepare(LOGS, logs), prepare(LEDGER, ledger), prepare(SUMS, sums)];
  return () => Promise.all([writeLogs(), writeLedger().then(writeSums)]);
}

function progressLine(done: number, all: number, seconds: number): string {
  const rate = done / seconds;
  const left = Math.ceil((all - done) / rate);
  return `${done.toLocaleString("en")} of ${all.toLocaleString("en")} log rows, ${Math.round(rate).toLocaleString("en")}/s, ${left} s left`;
}

/** Writes balances and counters as the sum of the written rows. */
async function writeTotals({ raw }: Database, { accounts, callers, upstreams }: Actors): Promise<void> {
  await raw.transaction(async (tx) => {
    for (const { id, balance, used, calls } of accounts) {
      const values = [balance, used, calls, id];
      await tx.run("update users set quota = ?, used_quota = ?, request_count = ? where id = ?", values);
    }
    for (const { id, isUnlimited, used, seenAt } of callers) {
      const values = [used, seenAt, (isUnlimited ? 0 : TOKEN_RESERVE) - used, id];
      await tx.run("update tokens set used_quota = ?, accessed_time = ?, remain_quota = ? where id = ?", values);
    }
    for (const { id, used } of upstreams)
      if (used > 0) await tx.run("update channels set used_quota = ? where id = ?", [used, id]);
  });
}

/** Updates the sums for all rows, the revision for readers, and the statistics for planners. */
async function finish(database: Database): Promise<void> {
  const { raw, kind } = database;
  const last = await highestId(database, LOGS.name);
  await raw.transaction(async (tx) => {
    await tx.run(upsertSql(kind, ROLLUP_MARK), ["usage-rollup", last]);
    for (const topic of ["channels", "tokens", "users"] as const) await bump(tx, kind, topic);
  });
  const tables = [LOGS, LEDGER, SUMS].map(({ name }) => name);
  if (kind === "mysql") await raw.rows(`analyze table ${tables.join(", ")}`, []);
  else for (const table of tables) await raw.run(`${kind === "postgres" ? "vacuum analyze" : "analyze"} ${table}`, []);
}

async function highestId({ raw }: Database, table: string): Promise<number> {
  const [row] = await raw.rows<{ id: number | null }>(`select max(id) as id from ${table}`, []);
  return Number(row?.id ?? 0);
}
