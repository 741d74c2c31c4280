import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGalera } from "../../src/services/galera.ts";
import { startMariadb } from "../../src/services/mariadb.ts";
import { startPostgres } from "../../src/services/postgres.ts";
import type { Service } from "../../src/services.ts";
import { runSql } from "../../src/sql.ts";
import { createFreezer, type Freezer } from "../servers.ts";
import type { Engine } from "./schedule.ts";

/** The database of a run, and what can happen to it. */
export interface ChaosDatabase {
  /** The address of the server that takes writes now. */
  readonly url: string;
  /** Undefined for SQLite. */
  readonly server: Service | undefined;
  freeze(): void;
  resume(): void;
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** Kills the server that takes writes; another one takes its place, with every transaction that was committed. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const NAME = "chaos";

export function startDatabase(engine: Engine, hasStandby: boolean): Promise<ChaosDatabase> {
  if (engine === "SQLite") return openFile();
  if (engine === "Galera") return openGalera();
  return engine === "PostgreSQL" ? openPostgres(hasStandby) : openMariadb();
}

const cannot = () => Promise.reject(new Error("this database has no second server"));

async function openFile(): Promise<ChaosDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "fairway-chaos-"));
  return {
    url: `sqlite:${join(folder, "chaos.db")}`,
    server: undefined,
    freeze() {},
    resume() {},
    crash: cannot,
    restart: cannot,
    failOver: cannot,
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

const buildUrl = ({ url }: Service) => Object.assign(new URL(url), { pathname: `/${NAME}` }).href;

async function openMariadb(): Promise<ChaosDatabase> {
  const server = await startMariadb({ isDurable: true });
  await runSql(server.url, `CREATE DATABASE ${NAME} CHARACTER SET utf8mb4`);
  return {
    ...createFreezer(server),
    url: buildUrl(server),
    server,
    crash: () => server.kill("SIGKILL"),
    restart: () => server.restart(),
    failOver: cannot,
    stop: () => server.stop(),
  };
}

/** A server whose commits wait for its standby. */
async function openPostgres(hasStandby: boolean): Promise<ChaosDatabase> {
  let server = await startPostgres({ isDurable: true });
  const servers = [server];
  await runSql(server.url, `CREATE DATABASE ${NAME}`);
  let standby: Service | undefined;
  const addStandby = async () => {
    standby = await startPostgres({ isDurable: true, follows: server });
    servers.push(standby);
    await setStandby(server, "*");
  };
  if (hasStandby) await addStandby();
  let freezer: Freezer | undefined;
  return {
    get url() {
      return buildUrl(server);
    },
    get server() {
      return server;
    },
    freeze() {
      freezer = createFreezer(server);
      freezer.freeze();
    },
    resume: () => freezer?.resume(),
    // An immediate shutdown: SIGKILL of the first process would leave its children running.
    crash: () => server.kill("SIGQUIT"),
    restart: () => server.restart(),
    async failOver() {
      if (!standby) await addStandby();
      const next = standby as Service;
      await server.kill("SIGQUIT");
      await runSql(next.url, "select pg_promote(true)");
      [server, standby] = [next, undefined];
    },
    async stop() {
      freezer?.resume();
      for (const one of servers) await one.stop();
    },
  };
}

/** Makes each commit wait for a standby, which must be connected already. */
async function setStandby({ url }: Service, names: string): Promise<void> {
  const connected = "select 1 from pg_stat_replication where state = 'streaming'";
  while ((await runSql(url, connected)).length === 0);
  await runSql(url, `alter system set synchronous_standby_names = '${names}'`);
  await runSql(url, "select pg_reload_conf()");
  while ((await runSql(url, "select 1 from pg_stat_replication where sync_state = 'sync'")).length === 0);
}

/** Three nodes. The first one stays, because others join the cluster through it. */
async function openGalera(): Promise<ChaosDatabase> {
  const nodes = await startGalera();
  const [, second, third] = nodes as [Service, Service, Service];
  await runSql(second.url, `CREATE DATABASE ${NAME} CHARACTER SET utf8mb4`);
  let current = second;
  return {
    get url() {
      return buildUrl(current);
    },
    get server() {
      return current;
    },
    freeze() {},
    resume() {},
    crash: () => current.kill("SIGKILL"),
    restart: () => current.restart(),
    async failOver() {
      const killed = current;
      current = killed === second ? third : second;
      await killed.kill("SIGKILL");
    },
    async stop() {
      for (const node of nodes) await node.stop();
    },
  };
}
