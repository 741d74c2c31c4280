import { setTimeout as sleep } from "node:timers/promises";
import {
  createChannel,
  createToken,
  setModelRatios,
  setOptions,
  signIn,
  startUpstream,
  type Session,
  type Upstream,
} from "../src/index.ts";
import { createBudgets } from "./budgets.ts";
import type { Ask } from "./client.ts";
import { MODELS } from "./load.ts";
import { startReplicas, type Replicas, type ReplicaSettings } from "./replicas.ts";
import { startServers, type DatabaseName, type Servers, type StoreName } from "./servers.ts";

const REPLICAS = 3;
const USERS = 3;
/** Enough for some on each primary. */
const CLUSTER_USERS = 12;
const PASSWORD = "chaos-password-1";
const QUOTA = 2_000_000_000;
const RATIO = 50;
const SERVED_LIMIT_MS = 20_000;
/** The fake upstream reports 20 tokens in and 10 out; the completion ratio of these models is 1. */
export const PRICE = 30 * RATIO;

/** Replicas under load, their upstreams and accounts. */
export interface Scene {
  readonly replicas: Replicas;
  /** Serves all models first; `retry` always fails on it. */
  readonly primary: Upstream;
  readonly secondary: Upstream;
  readonly channels: { readonly primary: number; readonly secondary: number };
  readonly keys: readonly string[];
  /** Accounts that make requests. */
  readonly userIds: readonly number[];
  /** Returns the console of any ready replica. */
  console(): Promise<Session>;
  stop(): Promise<void>;
}

/** Everything that a round needs, already running. */
export interface World extends Scene {
  readonly database: DatabaseName;
  readonly servers: Servers;
}

export interface WorldSettings {
  readonly database: DatabaseName;
  readonly store: StoreName;
  readonly program: string | undefined;
}

export async function createWorld({ database, store, program }: WorldSettings): Promise<World> {
  const servers = await startServers(database, store);
  try {
    const scene = await openScene({
      database: servers.database,
      users: servers.store.kind === "cluster" ? CLUSTER_USERS : USERS,
      replicas: { address: () => ({ database: servers.database, redis: servers.redisUrl }), count: REPLICAS, program },
    });
    const stop = async () => {
      await scene.stop();
      await servers.stop();
    };
    return { database, servers, ...scene, stop };
  } catch (error) {
    await servers.stop();
    throw error;
  }
}

export interface SceneSettings {
  /** For the audit. */
  readonly database: string;
  readonly users?: number;
  readonly replicas: ReplicaSettings;
}

export async function openScene({ database, users = USERS, replicas: settings }: SceneSettings): Promise<Scene> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const [primary, secondary] = [await startUpstream(), await startUpstream()];
    stops.push(
      () => primary.stop(),
      () => secondary.stop(),
    );
    const replicas = await startReplicas(settings);
    stops.push(() => replicas.stop());
    const console = () => signIn(requireReplicaUrl(replicas));
    const root = await console();
    await setOptions(root, { QuotaForNewUser: String(QUOTA), RetryTimes: "2" });
    await setModelRatios(root, Object.fromEntries(Object.values(MODELS).map((model) => [model, RATIO])));
    const channels = await createChannels(root, primary, secondary);
    const { keys: own, userIds } = await createKeys(root, users);
    const team = await createTeam(root);
    const keys = [...own, ...team.keys];
    await untilServed(replicas, keys);
    const budgeted = { userIds, teamId: team.id, channels: Object.values(channels) };
    await createBudgets(root, budgeted, { database, replicas });
    return { replicas, primary, secondary, channels, keys, userIds, console, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function requireReplicaUrl(replicas: Replicas): string {
  const [replica] = replicas.ready();
  if (!replica) throw new Error("no replica is ready");
  return replica.process.url;
}

async function createChannels(root: Session, primary: Upstream, secondary: Upstream): Promise<World["channels"]> {
  const common = { models: Object.values(MODELS).join(","), auto_ban: 0 };
  const broken: Ask["model"] = MODELS.retry;
  return {
    primary: await createChannel(root, {
      ...common,
      name: "primary",
      base_url: primary.url,
      priority: 10,
      model_mapping: JSON.stringify({ [broken]: "status-500" }),
    }),
    secondary: await createChannel(root, { ...common, name: "secondary", base_url: secondary.url, priority: 0 }),
  };
}

/** A limited and an unlimited key of each user. */
async function createKeys(root: Session, users: number): Promise<Pick<World, "keys" | "userIds">> {
  const keys: string[] = [];
  const userIds: number[] = [];
  for (let index = 1; index <= users; index++) {
    const username = index === 1 ? MEMBER : `chaos${index}`;
    await root.must("POST", "/api/user/", { username, password: PASSWORD, display_name: username });
    const user = await signIn(root.url, username, PASSWORD);
    userIds.push(user.userId);
    keys.push(await createToken(user, { name: "limited", unlimited_quota: false, remain_quota: QUOTA / 2 }));
    keys.push(await createToken(user, { name: "unlimited" }));
  }
  return { keys, userIds };
}

/** Name of the first user, who also is a member of the team. */
const MEMBER = "chaos1";

/** A team whose wallet pays for a limited and an unlimited key of one member. */
async function createTeam(root: Session): Promise<{ readonly id: number; readonly keys: readonly string[] }> {
  const { id } = await root.must<{ id: number }>("POST", "/api/team/", { name: "Chaos" });
  await root.must("POST", `/api/team/${id}/members`, { username: MEMBER, role: "member" });
  await root.must("POST", `/api/team/${id}/adjust`, { quota: QUOTA });
  const member = await signIn(root.url, MEMBER, PASSWORD);
  const terms = [
    { name: "limited", unlimited_quota: false, remain_quota: QUOTA / 2 },
    { name: "unlimited", unlimited_quota: true },
  ];
  const keys: string[] = [];
  for (const one of terms) keys.push((await member.must<{ key: string }>("POST", `/api/team/${id}/token/`, one)).key);
  return { id, keys };
}

/** Replicas learn of channels that another one created; the load starts when all know them. */
async function untilServed(replicas: Replicas, keys: readonly string[]): Promise<void> {
  const [key] = keys;
  const limit = performance.now() + SERVED_LIMIT_MS;
  for (const { process, name } of replicas.all) {
    for (;;) {
      const answer = await fetch(`${process.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
      const { data = [] } = (await answer.json()) as { data?: { id: string }[] };
      if (Object.values(MODELS).every((model) => data.some(({ id }) => id === model))) break;
      if (performance.now() > limit) throw new Error(`${name} does not list the models of the test`);
      await sleep(200);
    }
  }
}
