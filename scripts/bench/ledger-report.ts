import { cpus, release } from "node:os";
import type { LedgerFigures, SlowRedisFigures } from "../../packages/gateway/test/storage/ledger-bench.ts";

/** The same loads on a database without rows and on one with many, in the same order. */
export interface FilledLedger {
  readonly rows: number;
  readonly ledgerRows: number;
  readonly seedSeconds: number;
  /** Seconds for an audit of the whole ledger, before and after the loads. */
  readonly auditSeconds: readonly [number, number];
  readonly figures: readonly LedgerFigures[];
}

export interface LedgerReport {
  readonly figures: readonly LedgerFigures[];
  readonly filled: FilledLedger | undefined;
  readonly slow: SlowRedisFigures;
  readonly rounds: number;
  /** Load averages before the runs. */
  readonly load: readonly number[];
}

/** As many users and tokens as `npm run bench -- --api` has. */
export const SEED_SIZES = ["--users", "500", "--tokens", "2000"] as const;

const TARGET_ADDED_MS = 50;
const TARGET_PER_SECOND = 5_000;
const TARGET_DRAIN_SECONDS = 30;
const TARGET_SEED_SECONDS = 600;
const TARGET_ROWS = 10_000_000;
const MICROSECONDS = 1_000_000;

const HEADINGS =
  "accounts | database | reserved and settled a second | wait p50 / p99, ms | behind by, s | Redis, µs | this process, µs | MariaDB, µs";

export function ledgerDocument(report: LedgerReport): string {
  const { figures, filled, rounds, load } = report;
  const [hot] = figures;
  if (!hot) throw new Error("nothing was measured");
  const [processor] = cpus();
  return `# What a reservation and its charge cost

Written by \`npm run bench -- --ledger${filled ? ` --rows=${filled.rows}` : " --rows=0"}\` on ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores (${processor?.model.trim() ?? "unknown"}), Linux ${release()}, Node ${process.version}.
This process, Redis with an append-only file and MariaDB with a buffer of 2 GiB share these cores. ${number(hot.load.requests)} requests, ${hot.load.parallel} at once:
each reserves on its user and its token, then charges both; the settler books the charges with their log rows.
The fastest of ${rounds} rounds counts.
${noise(load)}
| ${HEADINGS} |
| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |
${figures.map(row).join("\n")}

- **database**: "held back" takes nothing until all requests are settled, so that the row shows Redis alone, and then
  how fast the settler drains the stream; "booked meanwhile" is everyday life.
- **behind by**: from the last settlement until everything stood in the database.
- **µs**: work of a core for each request, to the last booking.
${filled ? filledSection(figures, filled) : ""}
## Targets

| target | measured | |
| --- | --- | --- |
${targets(report, hot).join("\n")}

To repeat: the command above, on a machine without other work; without \`--rows\` it fills a database with ${number(TARGET_ROWS)} rows,
which takes 15 GB below the temporary folder and ten minutes more, \`--rows=0\` leaves that out.
`;
}

function filledSection(figures: readonly LedgerFigures[], filled: FilledLedger): string {
  const { rows, ledgerRows, seedSeconds, auditSeconds } = filled;
  const [before, after] = auditSeconds;
  const lines = figures.flatMap((empty, at) => {
    const full = filled.figures[at];
    return full ? comparison(empty, full) : [];
  });
  return `
## Next to ${number(rows)} rows

\`npm run seed -- --logs ${rows} ${SEED_SIZES.join(" ")}\` put ${number(rows)} rows into \`logs\` and ${number(ledgerRows)} into \`ledger\` in ${number(seedSeconds)} s; every balance followed from them.
The loads ran on the empty database and on the filled one in turn. The audit of the whole ledger took ${before.toFixed(1)} s before
them and ${after.toFixed(1)} s afterwards, and found no difference.

| accounts | database | figure | empty | ${number(rows)} rows | ratio |
| ---: | --- | --- | ---: | ---: | ---: |
${lines.join("\n")}
`;
}

type Figure = readonly [name: string, of: (figures: LedgerFigures) => number, digits: number];

const COMPARED: readonly Figure[] = [
  ["reserved and settled a second", ({ perSecond }) => perSecond, 0],
  ["wait p50, ms", ({ p50 }) => p50, 1],
  ["wait p99, ms", ({ p99 }) => p99, 1],
  ["behind by, s", ({ behindSeconds }) => behindSeconds, 1],
  ["Redis, µs", ({ cpu }) => cpu.redis, 0],
  ["this process, µs", ({ cpu }) => cpu.process, 0],
  ["MariaDB, µs", ({ cpu }) => cpu.mariadb, 0],
];

function comparison(empty: LedgerFigures, full: LedgerFigures): string[] {
  return COMPARED.map(([name, of, digits]) => {
    const ratio = of(empty) > 0 ? (of(full) / of(empty)).toFixed(2) : "–";
    const cells = [...loadCells(empty), name, number(of(empty), digits), number(of(full), digits), ratio];
    return `| ${cells.join(" | ")} |`;
  });
}

function targets({ filled, slow }: LedgerReport, hot: LedgerFigures): string[] {
  const added = slow.slow.p99 - slow.usual.p99;
  const [full] = filled?.figures ?? [];
  return [
    ...hotTargets(hot, ""),
    ...(filled && full ? hotTargets(full, ` next to ${number(filled.rows)} rows`) : []),
    ...(filled && filled.rows >= TARGET_ROWS
      ? [
          target(
            `${number(filled.rows)} rows made in under ${TARGET_SEED_SECONDS / 60} minutes`,
            `${number(filled.seedSeconds)} s`,
            filled.seedSeconds < TARGET_SEED_SECONDS,
          ),
        ]
      : []),
    target(
      `a Redis that takes 2 s adds at most ${TARGET_ADDED_MS} ms where requests may continue without it`,
      `p50 ${slow.usual.p50.toFixed(1)} ms before, ${slow.slow.p50.toFixed(1)} ms then; p99 ${slow.usual.p99.toFixed(0)} ms before, ${slow.slow.p99.toFixed(0)} ms then`,
      added <= TARGET_ADDED_MS,
    ),
  ];
}

function hotTargets({ perSecond, behindSeconds, redisLive, load }: LedgerFigures, where: string): string[] {
  return [
    target(
      `one account, ${number(TARGET_PER_SECOND)} reservations with their charges a second in Redis${where}`,
      `${number(perSecond)} on this machine as it was; a core of Redis carries ${number(MICROSECONDS / redisLive)}`,
      perSecond >= TARGET_PER_SECOND,
    ),
    target(
      `${number(load.requests)} charges drained in under ${TARGET_DRAIN_SECONDS} s${where}`,
      `${behindSeconds.toFixed(1)} s`,
      behindSeconds < TARGET_DRAIN_SECONDS,
    ),
  ];
}

function noise(load: readonly number[]): string {
  const [lately = 0] = load;
  const text = load.map((value) => value.toFixed(1)).join(", ");
  return lately < 1 ? "" : `\n**Noisy:** other work occupied the cores (load average ${text} before the runs).\n`;
}

function row(figures: LedgerFigures): string {
  const { perSecond, behindSeconds, p50, p99, cpu } = figures;
  const cells = [
    ...loadCells(figures),
    number(perSecond),
    `${p50.toFixed(1)} / ${p99.toFixed(1)}`,
    behindSeconds.toFixed(1),
    ...[cpu.redis, cpu.process, cpu.mariadb].map((value) => number(value)),
  ];
  return `| ${cells.join(" | ")} |`;
}

function loadCells({ load: { accounts, isHeldBack } }: LedgerFigures): readonly [string, string] {
  return [number(accounts), isHeldBack ? "held back" : "booked meanwhile"];
}

function target(wanted: string, measured: string, isMet: boolean): string {
  return `| ${wanted} | ${measured} | ${isMet ? "met" : "**missed**"} |`;
}

function number(value: number, digits = 0): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
