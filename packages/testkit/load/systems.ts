import { fork, spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChannel, createToken, setModelRatios, signIn } from "../src/api.ts";
import { startGateway, type GatewayProcess, type GatewaySettings } from "../src/gateway.ts";
import { freePort, startMariadb, startRedis, type Service } from "../src/services.ts";
import { findProgram } from "../src/services/process.ts";
import { runSql } from "../src/sql.ts";

/** Something that answers `/v1/chat/completions` and is ready to be measured. */
export interface System {
  readonly name: string;
  readonly about: string;
  readonly port: number;
  readonly key: string;
  readonly gatewayPid: number;
  readonly databasePid?: number;
  readonly redisPid?: number;
  /** The output of the gateway so far, including traces of its engine. */
  readonly logs?: GatewayProcess["logs"];
  stop(): Promise<void>;
}

const MODELS = ["bench-plain", "bench-51-0", "bench-51-10", "bench-200-100", "bench-20-100"];
export const BUNDLE = join(import.meta.dirname, "../../gateway/dist/main.mjs");
/** All limits are on, but far above what the machine can do, so no call is refused. */
export const WIDE_LIMITS = {
  FAIRWAY_LIMIT_API: "100000000/180",
  FAIRWAY_LIMIT_WEB: "100000000/180",
  FAIRWAY_LIMIT_CRITICAL: "100000/60",
};

/** Starts a script of this folder, which reports its port over the channel and ends with its parent. */
export function startScript(
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(join(import.meta.dirname, file), { env: { ...process.env, ...env } });
  return new Promise((resolve, reject) => {
    child.once("message", ({ port }: { port: number }) => resolve({ child, port }));
    child.once("exit", (code) => reject(new Error(`${file} ended with ${String(code)}`)));
  });
}

export function startHabit(upstream: string): Promise<System> {
  return startYardstick("baseline/express-baseline.ts", upstream, {
    name: "express + fetch",
    about: "express.json, built-in fetch, no keys, no ledger",
  });
}

export function startBare(upstream: string): Promise<System> {
  return startYardstick("baseline/bare.ts", upstream, {
    name: "bare Node",
    about: "node:http and undici, bytes pass through: the least that a gateway in Node costs",
  });
}

async function startYardstick(file: string, upstream: string, known: Pick<System, "name" | "about">): Promise<System> {
  const { child, port } = await startScript(file, { BENCH_UPSTREAM: upstream });
  return { ...known, port, key: "none", gatewayPid: child.pid ?? 0, stop: () => endChild(child, "SIGKILL") };
}

export async function startNginx(upstreamPort: number): Promise<System> {
  const folder = await mkdtemp(join(tmpdir(), "fairway-nginx-"));
  const port = await freePort();
  await writeFile(join(folder, "nginx.conf"), nginxConfig(folder, port, upstreamPort));
  const args = ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")];
  const child = spawn(findProgram("nginx", "nginx-light"), args, { stdio: "ignore" });
  const killed = () => child.kill("SIGTERM");
  process.once("exit", killed);
  const stop = async () => {
    process.off("exit", killed);
    await endChild(child, "SIGTERM");
    await rm(folder, { recursive: true, force: true });
  };
  return {
    name: "nginx",
    about: "plain reverse proxy, the limit: no keys, no ledger",
    port,
    key: "none",
    gatewayPid: child.pid ?? 0,
    stop,
  };
}

function nginxConfig(folder: string, port: number, upstreamPort: number): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  return `daemon off; worker_processes 2; pid ${folder}/nginx.pid; ${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 8192; }
http {
  access_log off; keepalive_requests 1000000; ${temporary.join(" ")}
  upstream model { server 127.0.0.1:${upstreamPort}; keepalive 2048; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://model; proxy_http_version 1.1; proxy_set_header connection ""; proxy_buffering off;
    }
  }
}
`;
}

/** How to start the gateway, for example like the image; `program` is another build of it. */
interface Launch extends Pick<GatewaySettings, "env" | "nodeArgs" | "program"> {
  readonly nameSuffix?: string;
}

export async function startFairwaySqlite(
  upstream: string,
  { nameSuffix = "", ...launch }: Launch = {},
): Promise<System> {
  const gateway = await startGateway({ program: BUNDLE, ...launch, env: { ...WIDE_LIMITS, ...launch.env } });
  const key = await prepare(gateway.url, upstream);
  const port = Number(new URL(gateway.url).port);
  const stop = async () => void (await gateway.stop());
  return {
    name: `fairway, SQLite${nameSuffix}`,
    about: "everything on, embedded database",
    port,
    key,
    gatewayPid: gateway.pid,
    logs: gateway.logs,
    stop,
  };
}

export async function startFairwayCluster(
  upstream: string,
  { nameSuffix = "", ...launch }: Launch = {},
): Promise<System> {
  const [mariadb, redis] = await Promise.all([startMariadb({ isDurable: true }), startRedis({ isDurable: true })]);
  const database = await makeDatabase(mariadb);
  const gateway = await startGateway({
    program: BUNDLE,
    ...launch,
    database,
    redis: redis.url,
    env: { ...WIDE_LIMITS, ...launch.env },
  });
  const key = await prepare(gateway.url, upstream);
  return {
    name: `fairway, MariaDB + Redis${nameSuffix}`,
    about: "everything on, durable commits, append-only Redis",
    port: Number(new URL(gateway.url).port),
    key,
    gatewayPid: gateway.pid,
    databasePid: mariadb.pid,
    redisPid: redis.pid,
    async stop() {
      await gateway.stop();
      await Promise.all([mariadb.stop(), redis.stop()]);
    },
  };
}

/** Creates one user, one channel, and one token with a limited quota: every check and every row of a real call. */
async function prepare(url: string, upstream: string): Promise<string> {
  const root = await signIn(url);
  await setModelRatios(root, Object.fromEntries(MODELS.map((model) => [model, 0.001])));
  await createChannel(root, { name: "bench", base_url: upstream, models: MODELS.join(",") });
  return createToken(root, { name: "bench", unlimited_quota: false, remain_quota: 50_000_000 });
}

async function makeDatabase(mariadb: Service): Promise<string> {
  await runSql(mariadb.url, "CREATE DATABASE bench CHARACTER SET utf8mb4");
  return `${mariadb.url}bench`;
}

function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill(signal);
  });
}
