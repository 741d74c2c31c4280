import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { RequestSpec } from "../../packages/gateway/src/dialects/core/types.ts";
import { systemClock } from "../../packages/gateway/src/lib/clock.ts";
import { Secret } from "../../packages/gateway/src/lib/secret.ts";
import { createLog } from "../../packages/gateway/src/observability/log.ts";
import { createBreakers } from "../../packages/gateway/src/relay/selection/breaker.ts";
import { createCooldowns } from "../../packages/gateway/src/relay/selection/cooldown.ts";
import { createSelection } from "../../packages/gateway/src/relay/selection/select.ts";
import type { SelectionDeps } from "../../packages/gateway/src/relay/selection/types.ts";
import { createSnapshotStore } from "../../packages/gateway/src/snapshot/refresh.ts";
import { createTokenCache } from "../../packages/gateway/src/snapshot/tokens.ts";
import type { Snapshot } from "../../packages/gateway/src/snapshot/types.ts";
import { openDatabase, type Database } from "../../packages/gateway/src/storage/database.ts";
import { migrate } from "../../packages/gateway/src/storage/schema/migrate.ts";
import { createVault, type Vault } from "../../packages/gateway/src/storage/secrets/secrets.ts";
import { runSeed } from "../seed/run.ts";

const CHANNELS = [100, 1_000, 10_000];
const TOKENS = [1_000, 100_000, 1_000_000];
const FEW = [20, 200];
const SELECTIONS = 2_000;
const LOOKUPS = 2_000;

interface Row {
  readonly name: string;
  readonly cells: readonly string[];
}

/**
 * `npm run bench -- --growth`: the cost of many channels and many tokens for one process, with the embedded database:
 * five minutes. `--quick` is a smoke run with few of both. Prints its tables; docs/operate/sizing.md has them.
 */
export async function benchGrowth(): Promise<void> {
  const isQuick = process.argv.includes("--quick");
  const channels: Row[] = [];
  for (const count of isQuick ? FEW : CHANNELS)
    channels.push(await inDatabase({ channels: count, tokens: 500 }, ofChannels));
  const tokens: Row[] = [];
  for (const count of isQuick ? FEW : TOKENS) tokens.push(await inDatabase({ channels: 20, tokens: count }, ofTokens));
  console.log(table(CHANNEL_HEAD, channels));
  console.log(table(TOKEN_HEAD, tokens));
}

const CHANNEL_HEAD = [
  "channels",
  "of one model",
  "read, ms",
  "read again, ms",
  "memory, MiB",
  "choice, µs",
  "choice while all rest, µs",
];
const TOKEN_HEAD = ["tokens", "unknown token, µs", "known token, µs", "memory of 10,000 known, MiB"];

function table(head: readonly string[], rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = line(head.map(() => "---:"));
  return ["", line(head), rule, ...rows.map(({ name, cells }) => line([name, ...cells]))].join("\n");
}

interface Sizes {
  readonly channels: number;
  readonly tokens: number;
}

interface Seeded {
  readonly database: Database;
  readonly vault: Vault;
  readonly sizes: Sizes;
}

async function inDatabase(sizes: Sizes, work: (seeded: Seeded) => Promise<Row>): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), "fairway-growth-"));
  const url = `sqlite:${join(folder, "growth.db")}`;
  const log = createLog({ level: "off", format: "text", out: new PassThrough() });
  const database = openDatabase({ url, log });
  const vault = createVault({ keys: [{ id: "k1", key: new Secret(randomBytes(32).toString("base64")) }] });
  try {
    await migrate(database, { log, mode: "auto" });
    const until = Math.floor(systemClock.now() / 1_000);
    const users = Math.min(10_000, Math.max(100, sizes.tokens / 10));
    const plan = { logs: 100, users, teams: 0, days: 1, until, ...sizes };
    await runSeed({ database, url, vault, plan, isAdding: true, say: () => {} });
    return await work({ database, vault, sizes });
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function ofChannels({ database, vault, sizes }: Seeded): Promise<Row> {
  const log = createLog({ level: "off", format: "text", out: new PassThrough() });
  const store = createSnapshotStore({ database, vault, log, clock: systemClock });
  const before = heapMiB();
  const read = await milliseconds(() => store.refresh());
  const again = await milliseconds(() => store.refresh());
  const memory = heapMiB() - before;
  const snapshot = store.current();
  const [model, count] = findMostServedModel(snapshot);
  const choice = chooseOften(snapshot, model, () => 0);
  const resting = chooseOften(snapshot, model, (now) => now + 60_000);
  const figures = [read, again, memory, choice, resting].map((figure) => figure.toFixed(1));
  return { name: sizes.channels.toLocaleString("en"), cells: [count.toLocaleString("en"), ...figures] };
}

/** Returns the model of the group `default` with the most channels. */
function findMostServedModel({ index }: Snapshot): readonly [string, number] {
  const models = [...(index.get("default") ?? [])].map(([model, levels]) => {
    return [model, levels.reduce((sum, { channels }) => sum + channels.length, 0)] as const;
  });
  const [most] = models.toSorted(([, a], [, b]) => b - a);
  if (!most) throw new Error("the seed made no channel");
  return most;
}

/** Returns the microseconds of one choice. */
function chooseOften(snapshot: Snapshot, model: string, restsUntil: (now: number) => number): number {
  const spec: RequestSpec = {
    operation: "chat",
    dialect: "openai-chat",
    model,
    stream: false,
    wantsStreamUsage: false,
    outputCap: undefined,
    promptEstimate: 100,
    units: 1,
  };
  const cooldowns = createCooldowns(systemClock);
  const deps: SelectionDeps = {
    cooldowns: { ...cooldowns, until: () => restsUntil(systemClock.now()) },
    breakers: createBreakers({ clock: systemClock }),
    random: Math.random,
    now: () => systemClock.now(),
    polling: new Map(),
  };
  const startedAt = performance.now();
  let done = 0;
  for (; done < SELECTIONS && performance.now() - startedAt < 10_000; done += 1)
    createSelection(snapshot, ["default"], { caller: {}, spec }, deps).next();
  return ((performance.now() - startedAt) / done) * 1_000;
}

async function ofTokens({ database, sizes }: Seeded): Promise<Row> {
  const text = "select key_hash from tokens order by key_hash limit ?";
  const hashes = (await database.raw.rows<{ key_hash: string }>(text, [10_000])).map(({ key_hash }) => key_hash);
  const cache = createTokenCache({ raw: database.raw, clock: systemClock });
  const before = heapMiB();
  const some = hashes.slice(0, LOOKUPS);
  const lookUp = async (keys: readonly string[]) => {
    for (const key of keys) await cache.find(key);
  };
  const unknown = (await milliseconds(() => lookUp(some))) / some.length;
  const known = (await milliseconds(() => lookUp(some))) / some.length;
  await lookUp(hashes);
  const memory = hashes.length < 10_000 ? "–" : (heapMiB() - before).toFixed(1);
  return {
    name: sizes.tokens.toLocaleString("en"),
    cells: [(unknown * 1_000).toFixed(1), (known * 1_000).toFixed(2), memory],
  };
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Returns the memory that is still in use. */
function heapMiB(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
