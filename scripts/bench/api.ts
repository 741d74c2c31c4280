import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { apiDocument, missedTargets } from "../../packages/testkit/load/api/report.ts";
import { runApiBench, type ApiBench, type ApiFigures, type ApiPlan } from "../../packages/testkit/load/api/run.ts";
import { startScript } from "../../packages/testkit/load/systems.ts";
import { ENCRYPTION_KEY, ROOT_PASSWORD } from "../../packages/testkit/src/gateway.ts";
import { startMariadb, startPostgres, type Service } from "../../packages/testkit/src/services.ts";
import { runSql } from "../../packages/testkit/src/sql.ts";
import { ROOT } from "../bootstrap.mjs";
import { build } from "../build.ts";
import { run } from "../process.ts";
import { SAMPLE_PASSWORD } from "../seed/entities.ts";

type Kind = "sqlite" | "mariadb" | "postgres";

const FULL: ApiPlan = { calls: 100, seconds: 15, signInSeconds: 15, signInsPerSecond: 20 };
const QUICK: ApiPlan = { calls: 5, seconds: 2, signInSeconds: 1, signInsPerSecond: 5 };
const SIZES: Readonly<Record<Kind, number>> = { sqlite: 1_000_000, mariadb: 10_000_000, postgres: 10_000_000 };
const QUICK_LOGS = 5_000;
const NAMES: Readonly<Record<Kind, string>> = { sqlite: "SQLite", mariadb: "MariaDB", postgres: "PostgreSQL" };
const PAGE = join(ROOT, "docs/reference/bench-api.md");

/**
 * `npm run bench -- --api`: the management API at size, one database after the other; about 45 minutes and 30 GB below
 * the temporary folder. `--quick` is a smoke run that writes nothing, `--logs N` another size, `--databases sqlite,…` a part.
 * `--at URL`, once or more often, measures databases that `npm run seed` has filled instead of making them.
 */
export async function benchApi(): Promise<void> {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = {
    api: flag,
    quick: flag,
    logs: text,
    databases: text,
    at: { type: "string", multiple: true },
  } as const;
  const { values } = parseArgs({ options });
  const isQuick = values.quick ?? false;
  const plan = isQuick ? QUICK : FULL;
  const [, upstream] = await Promise.all([build(["gateway"], true), startScript("api/stream.ts")]);
  const program = join(ROOT, "packages/gateway/dist/main.mjs");
  const bench = { plan, program, upstream: `http://127.0.0.1:${upstream.port}`, say: console.log };
  try {
    const figures: ApiFigures[] = [];
    for (const url of values.at ?? []) {
      const seeded = { name: NAMES[parseUrlKind(url)], url, seedSeconds: undefined };
      figures.push(await runApiBench({ ...seeded, password: SAMPLE_PASSWORD }, bench));
    }
    const kinds = values.at ? [] : (values.databases?.split(",") ?? Object.keys(SIZES)).map(parseKind);
    for (const kind of kinds) {
      const logs = values.logs === undefined ? (isQuick ? QUICK_LOGS : SIZES[kind]) : Number(values.logs);
      figures.push(await onFreshDatabase(kind, logs, isQuick, bench));
    }
    const document = report(figures, plan);
    if (isQuick) return;
    await mkdir(dirname(PAGE), { recursive: true });
    await writeFile(PAGE, document);
  } finally {
    upstream.child.disconnect();
  }
}

function report(figures: readonly ApiFigures[], plan: ApiPlan): string {
  const document = apiDocument(figures, plan, new Date());
  console.log(`\n${document}`);
  for (const line of missedTargets(figures)) console.log(`missed: ${line}`);
  return document;
}

function parseKind(text: string): Kind {
  if (text === "sqlite" || text === "mariadb" || text === "postgres") return text;
  throw new Error(`--databases takes sqlite, mariadb and postgres, not ${text}`);
}

function parseUrlKind(url: string): Kind {
  if (url.startsWith("sqlite:")) return "sqlite";
  return url.startsWith("postgres") ? "postgres" : "mariadb";
}

async function onFreshDatabase(kind: Kind, logs: number, isQuick: boolean, bench: ApiBench): Promise<ApiFigures> {
  const { url, stop } = await makeDatabase(kind);
  try {
    const startedAt = performance.now();
    const sizes = isQuick
      ? ["--channels", "100", "--users", "40", "--tokens", "60"]
      : ["--channels", "10000", "--users", "500", "--tokens", "2000"];
    const seed = [join(ROOT, "scripts/seed.ts"), "--database", url, "--logs", String(logs), ...sizes];
    const env = { FAIRWAY_ENCRYPTION_KEY: ENCRYPTION_KEY, FAIRWAY_ROOT_PASSWORD: ROOT_PASSWORD };
    const { code, output } = await run(process.execPath, seed, { env, isLoud: true });
    if (code !== 0) throw new Error(`the seed failed:\n${output}`);
    const seedSeconds = (performance.now() - startedAt) / 1_000;
    return await runApiBench({ name: NAMES[kind], url, seedSeconds, password: SAMPLE_PASSWORD }, bench);
  } finally {
    await stop();
  }
}

async function makeDatabase(kind: Kind): Promise<{ readonly url: string; stop(): Promise<void> }> {
  if (kind === "sqlite") {
    const folder = await mkdtemp(join(tmpdir(), "fairway-bench-"));
    return { url: `sqlite:${join(folder, "bench.db")}`, stop: () => rm(folder, { recursive: true, force: true }) };
  }
  const service: Service = await (kind === "mariadb"
    ? startMariadb({ isLarge: true })
    : startPostgres({ isLarge: true }));
  await runSql(service.url, "CREATE DATABASE bench");
  const url = new URL(service.url);
  url.pathname = "/bench";
  return { url: url.href, stop: () => service.stop() };
}
