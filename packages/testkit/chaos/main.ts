// `npm run test:chaos`: every fault once on MariaDB, then on PostgreSQL. Options after `--`:
//   --minutes N        continues for N minutes, at a slower pace with longer faults
//   --database NAME    MariaDB or PostgreSQL alone
//   --store NAME       "Redis" or "a Redis Cluster" alone
//   --only PATTERN     faults whose name matches
//   --program FILE     another program than the sources, such as a built one
//   --batches          instead kills replicas at every step of batches; --write then writes docs/explain/batch-faults.md
//   --caches           instead kills the replica that creates caches of Google's protocol, at every step
//   --random MINUTES   instead draws faults that overlap, on each database with and without Redis, and compares the books
//   --seed N           the first seed of --random; default: the day
//   --schedule FILE    repeats what a failure of --random printed
//   --logs FOLDER      keeps the logs of the replicas there
//   --write            writes docs/explain/faults.md; without it the page is only printed
import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { batchFaultsDocument, nameSetting } from "./batches/page.ts";
import { listBatchProblems, runBatchKills, SETTINGS, type BatchReport } from "./batches/run.ts";
import { listCacheProblems, runCacheKills } from "./caches/kills.ts";
import { findProgram } from "../src/services/process.ts";
import { buildPlan } from "./plan.ts";
import { runCampaign, runOne, type Failure } from "./random/campaign.ts";
import { parseSchedule } from "./random/schedule.ts";
import { runRound } from "./round.ts";
import type { DatabaseName, StoreName } from "./servers.ts";
import { faultsDocument } from "./table.ts";
import { listProblems, type Round } from "./verdict.ts";

const PAGE = join(import.meta.dirname, "../../../docs/explain/faults.md");
const BATCH_PAGE = join(import.meta.dirname, "../../../docs/explain/batch-faults.md");
const ROUNDS: readonly { readonly database: DatabaseName; readonly store: StoreName }[] = [
  { database: "MariaDB", store: "Redis" },
  { database: "PostgreSQL", store: "Redis" },
  { database: "MariaDB", store: "a Redis Cluster" },
];
const PROGRAMS = { MariaDB: "mariadbd", PostgreSQL: "postgres", Redis: "redis-server" };

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "0" },
    database: { type: "string", default: "" },
    store: { type: "string", default: "" },
    only: { type: "string", default: "" },
    program: { type: "string", default: "" },
    logs: { type: "string", default: "" },
    random: { type: "string", default: "" },
    seed: { type: "string", default: "" },
    schedule: { type: "string", default: "" },
    batches: { type: "boolean", default: false },
    caches: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});

const say = (line: string) => console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
if (values.batches) await killBatches();
else if (values.caches) await killCaches();
else if (values.schedule !== "") report(await repeatSchedule(values.schedule));
else if (values.random !== "") report(await drawFaults());
else await runRounds();

const DAY_MS = 86_400_000;

function drawFaults(): Promise<Failure | undefined> {
  const seed = values.seed === "" ? Math.floor(Date.now() / DAY_MS) : Number(values.seed);
  return runCampaign({ seed, minutes: Number(values.random), logs: values.logs, say });
}

async function repeatSchedule(file: string): Promise<Failure | undefined> {
  return runOne(parseSchedule(await readFile(file, "utf8")), { logs: values.logs, say, tries: 0 });
}

function report(failure: Failure | undefined): void {
  if (!failure) return;
  say(`seed ${failure.schedule.seed} failed; put this into a file and repeat it with --schedule FILE:`);
  console.log(JSON.stringify(failure.schedule));
  process.exitCode = 1;
}

async function killBatches(): Promise<void> {
  const reports: BatchReport[] = [];
  for (const setting of SETTINGS.filter(({ database }) => values.database === "" || database === values.database)) {
    say(nameSetting(setting));
    const report = await runBatchKills(setting);
    for (const problem of listBatchProblems(report)) say(`  ${problem}`);
    reports.push(report);
  }
  await publish(BATCH_PAGE, batchFaultsDocument(reports, new Date()));
  if (reports.length === 0 || reports.some((report) => listBatchProblems(report).length > 0)) process.exitCode = 1;
}

async function killCaches(): Promise<void> {
  const settings = SETTINGS.filter(({ database }) => database !== "SQLite");
  for (const setting of settings.filter(({ database }) => values.database === "" || database === values.database)) {
    say(nameSetting(setting));
    const report = await runCacheKills(setting);
    for (const { step, charged, problems } of report.caches)
      say(`  ${step}: ${charged} charged ${problems.join("; ")}`);
    for (const problem of listCacheProblems(report)) say(`  ${problem}`);
    if (listCacheProblems(report).length > 0) process.exitCode = 1;
  }
}

async function runRounds(): Promise<void> {
  const rounds: Round[] = [];
  const isChosen = ({ database, store }: (typeof ROUNDS)[number]) =>
    (values.database === "" || database === values.database) && (values.store === "" || store === values.store);
  for (const { database, store } of ROUNDS.filter(isChosen)) {
    const { only, program } = values;
    const round = await runRound(buildPlan({ minutes: Number(values.minutes), database, store, only, program, say }));
    rounds.push(round);
    for (const phase of round.phases) console.log(phase.fault.name, phase.reasons);
    if (values.logs !== "") await keepLogs(values.logs, round);
    console.log("complaints", round.complaints);
  }
  await publish(PAGE, faultsDocument(rounds, { command: formatCommand(), at: new Date(), versions: versions() }));
  if (rounds.length === 0 || rounds.some((round) => listProblems(round).length > 0)) process.exitCode = 1;
}

async function publish(page: string, document: string): Promise<void> {
  console.log(`\n${document}`);
  if (!values.write) return;
  await mkdir(dirname(page), { recursive: true });
  await writeFile(page, document);
}

async function keepLogs(folder: string, { database, store, logs }: Round): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, lines] of Object.entries(logs)) {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    await writeFile(join(folder, `${database}-${store.replaceAll(" ", "-")}-${name}.log`), text);
  }
}

function formatCommand(): string {
  const { minutes, database, store, only } = values;
  const given = Object.entries({ minutes, database, store, only }).flatMap(([name, value]) =>
    value === "" || value === "0" ? [] : [`--${name} ${/ /.test(value) ? `"${value}"` : value}`],
  );
  return ["npm run test:chaos --", ...given, "--write"].join(" ");
}

function versions(): Record<string, string> {
  const found = Object.entries(PROGRAMS).map(([name, program]) => {
    const file = findProgram(program, program, ["/usr/lib/postgresql/*/bin"]);
    return [name, /\d+\.\d+(?:\.\d+)?/.exec(execFileSync(file, ["--version"], { encoding: "utf8" }))?.[0] ?? "unknown"];
  });
  return { Node: process.versions.node, ...(Object.fromEntries(found) as Record<string, string>) };
}
