// Two replicas that follow batches, with everything that a run of faults reads.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import {
  createChannel,
  createToken,
  runSql,
  setOptions,
  signIn,
  startUpstream,
  type Session,
  type SqlRow,
  type Upstream,
} from "../../src/index.ts";
import type { GatewayProcess } from "../../src/gateway.ts";
import { startReplicas, type Replicas } from "../replicas.ts";
import { startServers, type Servers } from "../servers.ts";

/** Where a run keeps its books. SQLite has one replica, because it is one file. */
export interface Setting {
  readonly database: "SQLite" | "MariaDB" | "PostgreSQL";
  /** `emptied` = Redis loses everything with each kill. */
  readonly redis: "none" | "present" | "emptied";
}

/** A batch of a user of its own, so that each account tells one story. */
export interface Story {
  readonly userId: number;
  readonly tokenId: number;
  readonly key: string;
  readonly items: number;
}

export interface BatchWorld {
  readonly setting: Setting;
  readonly database: string;
  readonly redisUrl: string | undefined;
  readonly upstream: Upstream;
  readonly replicas: Replicas;
  /** Creates a user with a key. The number of items tells lost batches apart at the upstream. */
  addStory(items: number): Promise<Story>;
  /** Sends a creation to a replica; resolves with undefined if its process dies before it answers. */
  create(story: Story, replica: GatewayProcess): Promise<number | undefined>;
  /** Returns the only batch of a user; undefined until its row exists. */
  findBatch(story: Story): Promise<SqlRow | undefined>;
  change(id: string, set: string): Promise<void>;
  kinds(requestId: string): Promise<string[]>;
  /** Kills a replica with SIGKILL, and starts it again on its disk; `whileDead` runs between both. */
  kill(index: number, whileDead?: () => Promise<unknown>): Promise<void>;
  /** Returns the place of the replica that leads. */
  findLeader(): Promise<number>;
  stop(): Promise<void>;
}

export const QUOTA = 10_000_000;
const MODEL = "claude-haiku-4-5";
const PASSWORD = "chaos-password-1";
const WAIT_MS = 90_000;

/** @param prepare sets up more than a channel of batches */
export async function startBatchWorld(
  setting: Setting,
  prepare?: (root: Session, upstream: Upstream) => Promise<void>,
): Promise<BatchWorld> {
  const stops: (() => Promise<unknown>)[] = [];
  const { database, servers } = await startDatabase(setting, stops);
  const redisUrl = setting.redis === "none" || servers?.store.kind !== "server" ? undefined : servers.store.redis.url;
  const upstream = await startUpstream();
  stops.push(() => upstream.stop());
  const count = setting.database === "SQLite" ? 1 : 2;
  const replicas = await startReplicas({
    address: () => ({ database, redis: redisUrl }),
    count,
    program: undefined,
  });
  stops.push(() => replicas.stop());
  const root = await signIn(requireReplica(replicas, 0).url);
  await setOptions(root, { QuotaForNewUser: String(QUOTA) });
  await createChannel(root, { type: 14, base_url: upstream.url, models: MODEL });
  await prepare?.(root, upstream);
  await sleep(count === 1 ? 0 : 6_000); // the other replica learns of the channel
  let serial = 0;
  return {
    setting,
    database,
    redisUrl,
    upstream,
    replicas,
    addStory: (items) => addStory(root, `story${++serial}`, items, replicas),
    create: (story, replica) => create(story, replica),
    async findBatch({ userId }) {
      return (await runSql(database, `select * from batches where user_id = ${userId}`))[0];
    },
    change: async (id, set) => void (await runSql(database, `update batches set ${set} where id = '${id}'`)),
    async kinds(requestId) {
      const sql = `select kind from ledger where request_id like '${requestId}%' order by id`;
      return (await runSql(database, sql)).map(({ kind }) => String(kind));
    },
    async kill(index, whileDead) {
      await replicas.crash(index);
      await whileDead?.();
      if (setting.redis === "emptied" && redisUrl !== undefined) await empty(redisUrl);
      await replicas.replace(index);
    },
    findLeader: () => findLeader(database, replicas),
    async stop() {
      for (const stop of stops.toReversed()) await stop();
    },
  };
}

async function startDatabase(
  { database }: Setting,
  stops: (() => Promise<unknown>)[],
): Promise<{ readonly database: string; readonly servers: Servers | undefined }> {
  if (database === "SQLite") {
    const folder = await mkdtemp(join(tmpdir(), "fairway-chaos-"));
    stops.push(() => rm(folder, { recursive: true, force: true }));
    return { database: `sqlite:${join(folder, "fairway.db")}`, servers: undefined };
  }
  const servers = await startServers(database, "Redis");
  stops.push(() => servers.stop());
  return { database: servers.database, servers };
}

async function empty(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  redis.disconnect();
}

/** Returns the running process of a place, with its name. */
function findReplica({ all }: Replicas, index: number): Replicas["all"][number] {
  const last = all.findLast(({ name }) => name.startsWith(`replica-${index}-`));
  if (!last) throw new Error(`there is no replica ${index}`);
  return last;
}

export function requireReplica(replicas: Replicas, index: number): GatewayProcess {
  return findReplica(replicas, index).process;
}

async function addStory(root: Session, username: string, items: number, replicas: Replicas): Promise<Story> {
  const url = requireReplica(replicas, 0).url;
  const session = url === root.url ? root : await signIn(url);
  await session.must("POST", "/api/user/", { username, password: PASSWORD, display_name: username });
  const user = await signIn(url, username, PASSWORD);
  const key = await createToken(user);
  const [token] = await user.must<{ id: number }[]>("GET", "/api/token/");
  if (!token) throw new Error(`${username} has no token`);
  return { userId: user.userId, tokenId: token.id, key, items };
}

async function create({ key, items }: Story, { url }: GatewayProcess): Promise<number | undefined> {
  const requests = Array.from({ length: items }, (_none, index) => ({
    custom_id: `item-${index}`,
    params: { model: MODEL, max_tokens: 100, messages: [{ role: "user", content: "one" }] },
  }));
  const headers = { "x-api-key": key, "anthropic-version": "2023-06-01", "content-type": "application/json" };
  try {
    const body = JSON.stringify({ requests });
    return (await fetch(`${url}/v1/messages/batches`, { method: "POST", headers, body })).status;
  } catch {
    // The replica that took the call was killed.
    return undefined;
  }
}

/** A killed leader's term ends after 15 s. */
async function findLeader(database: string, replicas: Replicas): Promise<number> {
  // A process alone with its file leads without a lease.
  if (replicas.count === 1) return 0;
  const names = Array.from({ length: replicas.count }, (_none, index) => findReplica(replicas, index).name);
  return until("a replica leads", async () => {
    const [row] = await runSql(database, "select holder from leases where name = 'leader'");
    const index = names.findIndex((name) => String(row?.["holder"]).startsWith(`${name}-`));
    return index < 0 ? undefined : index;
  });
}

/** Waits until there is something; throws with the name of what was waited for. */
export async function until<T>(name: string, look: () => Promise<T | false | undefined>): Promise<T> {
  const limit = performance.now() + WAIT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > limit) throw new Error(`waited without success until ${name}`);
    await sleep(25);
  }
}
