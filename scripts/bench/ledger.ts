import { mkdir, writeFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { dirname, join } from "node:path";
import {
  benchSlowRedis,
  openLedgerBench,
  type LedgerBench,
  type LedgerFigures,
  type LedgerLoad,
} from "../../packages/gateway/test/storage/ledger-bench.ts";
import { ENCRYPTION_KEY, ROOT_PASSWORD } from "../../packages/testkit/src/gateway.ts";
import { runSql } from "../../packages/testkit/src/sql.ts";
import { type FilledLedger, ledgerDocument, SEED_SIZES } from "./ledger-report.ts";
import { ROOT } from "../bootstrap.mjs";
import { run } from "../process.ts";

const PAGE = join(ROOT, "docs/reference/bench-ledger.md");
const HOT: LedgerLoad = { accounts: 1, requests: 100_000, parallel: 64, isHeldBack: true };
const LOADS: readonly LedgerLoad[] = [
  HOT,
  { ...HOT, isHeldBack: false },
  { ...HOT, accounts: 1_000, isHeldBack: false },
];
const QUICK: Plan = {
  loads: LOADS.slice(0, 2).map((load) => ({ ...load, requests: 500 })),
  rounds: 1,
  rows: 0,
  slowRequests: 5,
};
/** Other work of the machine can only make a round slower, so the fastest one counts. */
const FULL: Plan = { loads: LOADS, rounds: 2, rows: 10_000_000, slowRequests: 500 };

interface Plan {
  readonly loads: readonly LedgerLoad[];
  readonly rounds: number;
  /** Rows of `logs` in the full database, which is compared with an empty one; 0 creates none. */
  readonly rows: number;
  readonly slowRequests: number;
}

/**
 * `npm run bench -- --ledger`: reservations and charges by themselves, on Redis with an append-only file and MariaDB,
 * on an empty database and in turn next to 10,000,000 rows of `npm run seed`; 25 minutes and 15 GB below the temporary
 * folder. `--rows=N` takes another number, `--rows=0` leaves them out: a few minutes. `--quick` is a smoke run that
 * writes nothing, without rows unless `--rows` requests some.
 */
export async function benchLedgers(): Promise<void> {
  const isQuick = process.argv.includes("--quick");
  const usual = isQuick ? QUICK : FULL;
  const plan = { ...usual, rows: readRows() ?? usual.rows };
  const load = loadavg();
  const measured = plan.rows > 0 ? await measureFilled(plan) : { figures: await measureAll(plan, undefined) };
  console.log("a slow Redis");
  const slow = await benchSlowRedis(plan.slowRequests);
  const document = ledgerDocument({ filled: undefined, ...measured, slow, rounds: plan.rounds, load });
  console.log(`\n${document}`);
  if (isQuick) return;
  await mkdir(dirname(PAGE), { recursive: true });
  await writeFile(PAGE, document);
}

function readRows(): number | undefined {
  const text = process.argv.find((word) => word.startsWith("--rows"));
  if (text === undefined) return undefined;
  const [, digits] = /^--rows=(\d{1,9})$/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`--rows=N takes a whole number up to 999999999, not ${text}`);
  return Number(digits);
}

interface Measured {
  readonly figures: readonly LedgerFigures[];
  readonly filled: FilledLedger;
}

/** Measures the filled database and the empty one in turn, so that other load of the machine affects both. */
async function measureFilled(plan: Plan): Promise<Measured> {
  let seeded = { seedSeconds: 0, ledgerRows: 0 };
  const filled = await openLedgerBench(async (url) => {
    seeded = await seed(url, plan.rows);
  });
  try {
    const before = await filled.audit();
    const full: LedgerFigures[] = [];
    const figures = await measureAll(plan, { bench: filled, figures: full });
    const auditSeconds = [before, await filled.audit()] as const;
    return { figures, filled: { rows: plan.rows, ...seeded, auditSeconds, figures: full } };
  } finally {
    await filled.close();
  }
}

/** Runs each round on servers of its own, and in turn on the filled ones. */
async function measureAll(
  { loads, rounds, rows }: Plan,
  filled: { readonly bench: LedgerBench; readonly figures: LedgerFigures[] } | undefined,
): Promise<LedgerFigures[]> {
  const figures: LedgerFigures[] = [];
  for (const load of loads) {
    console.log(`${load.accounts} accounts, ${load.isHeldBack ? "the database held back" : "booked meanwhile"}`);
    const empty: LedgerFigures[] = [];
    const full: LedgerFigures[] = [];
    for (let round = 0; round < rounds; round += 1) {
      empty.push(tell("empty", await measureFresh(load)));
      if (filled) full.push(tell(`next to ${rows} rows`, await filled.bench.measure(load)));
    }
    figures.push(fastest(empty));
    filled?.figures.push(fastest(full));
  }
  return figures;
}

async function measureFresh(load: LedgerLoad): Promise<LedgerFigures> {
  const bench = await openLedgerBench();
  try {
    return await bench.measure(load);
  } finally {
    await bench.close();
  }
}

function tell(where: string, figures: LedgerFigures): LedgerFigures {
  const { perSecond, behindSeconds } = figures;
  console.log(`  ${where}: ${Math.round(perSecond)} a second, behind by ${behindSeconds.toFixed(1)} s`);
  return figures;
}

function fastest(rounds: readonly LedgerFigures[]): LedgerFigures {
  return rounds.reduce((best, one) => (one.perSecond > best.perSecond ? one : best));
}

/** Runs the seed command itself. Throws if the books do not agree. */
async function seed(url: string, rows: number): Promise<{ readonly seedSeconds: number; readonly ledgerRows: number }> {
  console.log(`filling a database with ${rows} rows`);
  const startedAt = performance.now();
  const args = [join(ROOT, "scripts/seed.ts"), "--database", url, "--logs", String(rows), ...SEED_SIZES];
  const env = { FAIRWAY_ENCRYPTION_KEY: ENCRYPTION_KEY, FAIRWAY_ROOT_PASSWORD: ROOT_PASSWORD };
  const { code, output } = await run(process.execPath, args, { env, isLoud: true });
  if (code !== 0) throw new Error(`the seed failed:\n${output}`);
  const seedSeconds = (performance.now() - startedAt) / 1_000;
  const [counts] = await runSql(url, COUNTS);
  const { in_logs, in_ledger, unequal } = Object.fromEntries(
    Object.entries(counts ?? {}).map(([name, value]) => [name, Number(value)]),
  );
  if (in_logs !== rows || unequal !== 0)
    throw new Error(
      `the seed made ${in_logs} rows of logs, and ${unequal} balances that do not follow from the ledger`,
    );
  return { seedSeconds, ledgerRows: in_ledger ?? 0 };
}

const COUNTS = `select (select count(*) from logs) as in_logs, (select count(*) from ledger) as in_ledger,
  (select count(*) from users left join (select user_id, sum(quota) as quota from ledger group by user_id) moved
    on moved.user_id = users.id where users.role = 1 and users.quota <> coalesce(moved.quota, 0)) as unequal`;
