import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { parseArgs } from "node:util";
import { systemClock } from "../../packages/gateway/src/lib/clock.ts";
import { createLog } from "../../packages/gateway/src/observability/log.ts";
import { rollUpStatistics } from "../../packages/gateway/src/resources/statistics/rollup.ts";
import { openDatabase, type Database } from "../../packages/gateway/src/storage/database.ts";
import {
  daysBetween,
  makePartitions,
  readPartitions,
} from "../../packages/gateway/src/storage/partitions/partitions.ts";
import { logsDocument, missedGoals } from "../../packages/testkit/load/logs/report.ts";
import { runLogsBench, type LogsFigures, type LogsPlan } from "../../packages/testkit/load/logs/run.ts";
import { ENCRYPTION_KEY, ROOT_PASSWORD } from "../../packages/testkit/src/gateway.ts";
import { startMariadb, startPostgres } from "../../packages/testkit/src/services.ts";
import { runSql } from "../../packages/testkit/src/sql.ts";
import { ROOT } from "../bootstrap.mjs";
import { build } from "../build.ts";
import { run } from "../process.ts";
import { SAMPLE_PASSWORD } from "../seed/entities.ts";

type Kind = "mariadb" | "postgres";

const NAMES: Readonly<Record<Kind, string>> = { mariadb: "MariaDB", postgres: "PostgreSQL" };
const FULL: LogsPlan = { calls: 100, seconds: 15 };
const QUICK: LogsPlan = { calls: 3, seconds: 2 };
const ROWS = 10_000_000;
const QUICK_ROWS = 5_000;
/** Covers most of a day, so that each sum is written once. */
const ROWS_PER_PASS = 300_000;
const DAY = 86_400;
/** 335 days of 300,000 rows are 100,000,000. */
const FURTHER_DAYS = 300;
const PAGE = join(ROOT, "docs/reference/bench-logs.md");

/**
 * `npm run bench -- --logs`: every question to the log on MariaDB and PostgreSQL with 10,000,000 rows; about an hour
 * and 30 GB below the temporary folder. `--rows N` takes another number, `--databases mariadb` one of the two,
 * `--quick` is a smoke run that writes nothing. `--at URL`, once or more often, measures databases that `npm run seed`
 * has filled. Each database is measured a second time with 300 further partitions: the plans of a log of 100,000,000
 * rows. `--calls N` makes fewer calls of each kind than 100, for two seconds at most.
 */
export async function benchLogs(): Promise<void> {
  const { at, kinds, rows, plan, isQuick } = readFlags();
  await build(["gateway"], true);
  const figures: LogsFigures[] = [];
  for (const url of at) figures.push(...(await measureBoth(parseUrlKind(url), url, plan)));
  for (const kind of kinds) figures.push(...(await onFreshServer(kind, rows, plan)));
  const document = logsDocument(figures, plan.calls, new Date());
  console.log(`\n${document}`);
  for (const line of missedGoals(figures)) console.log(`missed: ${line}`);
  if (isQuick) return;
  await mkdir(dirname(PAGE), { recursive: true });
  await writeFile(PAGE, document);
}

function readFlags() {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const several = { type: "string", multiple: true } as const;
  const options = { logs: flag, quick: flag, rows: text, calls: text, databases: text, at: several } as const;
  const { quick: isQuick = false, rows, calls, databases, at = [] } = parseArgs({ options }).values;
  const usual = isQuick ? QUICK : FULL;
  return {
    at,
    isQuick,
    kinds: at.length > 0 ? [] : (databases?.split(",") ?? Object.keys(NAMES)).map(parseKind),
    rows: rows === undefined ? (isQuick ? QUICK_ROWS : ROWS) : Number(rows),
    plan: calls === undefined ? usual : { calls: Number(calls), seconds: 2 },
  };
}

function parseKind(text: string): Kind {
  if (text === "mariadb" || text === "postgres") return text;
  throw new Error(`--databases takes mariadb and postgres, not ${text}`);
}

function parseUrlKind(url: string): Kind {
  return url.startsWith("postgres") ? "postgres" : "mariadb";
}

async function onFreshServer(kind: Kind, rows: number, plan: LogsPlan): Promise<LogsFigures[]> {
  const service = await (kind === "mariadb" ? startMariadb({ isLarge: true }) : startPostgres({ isLarge: true }));
  try {
    await runSql(service.url, "CREATE DATABASE bench");
    const url = new URL(service.url);
    url.pathname = "/bench";
    const sizes = rows < ROWS ? "--users 40 --tokens 60 --channels 20" : "--users 1000 --tokens 5000 --channels 200";
    const args = [join(ROOT, "scripts/seed.ts"), "--database", url.href, "--logs", String(rows), ...sizes.split(" ")];
    const env = { FAIRWAY_ENCRYPTION_KEY: ENCRYPTION_KEY, FAIRWAY_ROOT_PASSWORD: ROOT_PASSWORD };
    const { code, output } = await run(process.execPath, args, { env, isLoud: true });
    if (code !== 0) throw new Error(`the seed failed:\n${output}`);
    return await measureBoth(kind, url.href, plan);
  } finally {
    await service.stop();
  }
}

async function measureBoth(kind: Kind, url: string, plan: LogsPlan): Promise<LogsFigures[]> {
  await sumUp(url);
  const figures = [await measure(kind, url, plan)];
  await makeFurther(url);
  return [...figures, await measure(kind, url, plan)];
}

async function measure(kind: Kind, url: string, plan: LogsPlan): Promise<LogsFigures> {
  const program = join(ROOT, "packages/gateway/dist/main.mjs");
  const partitions = await inDatabase(url, async (database) => (await readPartitions(database)).length);
  const database = { name: `${NAMES[kind]}, ${partitions} partitions`, url, password: SAMPLE_PASSWORD, partitions };
  return runLogsBench(database, { plan, program, say: console.log });
}

/** Adds days without rows, which cost a planner the same as full ones. */
function makeFurther(url: string): Promise<number> {
  return inDatabase(url, async (database) => {
    const last = (await readPartitions(database)).at(-2)?.before ?? 0;
    const ends = daysBetween(last, last + (FURTHER_DAYS - 1) * DAY);
    return makePartitions(database, { ends, maxMoved: 1_000 });
  });
}

/** Computes the sums that a gateway would compute minute by minute. */
function sumUp(url: string): Promise<void> {
  return inDatabase(url, async (database) => {
    const startedAt = performance.now();
    const settings = { settleMs: 0, budgetMs: Infinity, rowsPerPass: ROWS_PER_PASS };
    const deps = { database, logs: database, clock: systemClock, ...settings };
    const rows = await rollUpStatistics(deps, new AbortController().signal);
    const seconds = (performance.now() - startedAt) / 1_000;
    console.log(`statistics of ${rows.toLocaleString("en")} rows in ${seconds.toFixed(0)} s`);
    const analyze = database.kind === "mysql" ? "analyze table usage_statistics" : "vacuum analyze usage_statistics";
    await database.raw.rows(analyze, []);
  });
}

async function inDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const log = createLog({ level: "off", format: "text", out: new PassThrough() });
  const database = openDatabase({ url, log });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
