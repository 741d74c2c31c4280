import cluster from "node:cluster";
import { once } from "node:events";
import type { Server } from "node:http";
import { StartError } from "../composition/storage.ts";
import type { Env } from "../config/env.ts";
import type { Logger } from "../observability/log.ts";
import { createFleetAdmin } from "./admin.ts";
import { Fleet } from "./fleet.ts";
import type { WorkerStarted } from "./messages.ts";

export interface Primary {
  readonly started: WorkerStarted;
  readonly adminUrl: string | undefined;
  /** Replaces the workers one after the other. */
  restart(): Promise<void>;
  /** Waits for running requests; returns the exit code. */
  stop(): Promise<number>;
  cutOff(): void;
}

/** Returns whether this process supervises others that serve. Throws StartError if they could not share their state. */
export function supervises(env: Env): boolean {
  if (cluster.isWorker || env.workers === 1) return false;
  const missing = [
    ...(env.databaseUrl.reveal().startsWith("sqlite:") ? ["FAIRWAY_DATABASE_URL of MariaDB or PostgreSQL"] : []),
    ...(env.redisUrl ? [] : ["FAIRWAY_REDIS_URL"]),
  ];
  if (missing.length > 0)
    throw new StartError(
      `FAIRWAY_WORKERS is ${env.workers}, and several processes share their state through a database server and Redis: set ${missing.join(" and ")}, or FAIRWAY_WORKERS=1`,
    );
  if (env.demo === "on")
    throw new StartError("FAIRWAY_DEMO=on serves one process: set FAIRWAY_WORKERS=1, or FAIRWAY_DEMO=off");
  return true;
}

/**
 * Starts the workers and serves probes and metrics for all of them. They share the port of the gateway. `onFailedStart`
 * gets the exit code of a first worker that could not start, which has logged the reason.
 */
export async function startPrimary(env: Env, log: Logger, onFailedStart: (code: number) => void): Promise<Primary> {
  const fleet = new Fleet({
    size: env.workers,
    log,
    fork: () => cluster.fork(),
    onFailedStart,
  });
  const admin = env.adminPort === undefined ? undefined : createFleetAdmin(fleet, env.workers);
  const adminUrl = admin && (await listening(admin, env));
  const started = await fleet.start();
  return {
    started,
    adminUrl,
    restart: () => fleet.restart(),
    async stop() {
      const code = await fleet.stop();
      admin?.closeAllConnections();
      admin?.close();
      return code;
    },
    cutOff: () => fleet.cutOff(),
  };
}

async function listening(admin: Server, { adminHost, adminPort = 0 }: Env): Promise<string> {
  admin.listen(adminPort, adminHost);
  try {
    await once(admin, "listening");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    throw new StartError(
      `FAIRWAY_ADMIN_PORT ${adminPort} of ${adminHost} cannot be listened on (${code}): choose another port, or off`,
      { cause },
    );
  }
  const address = admin.address();
  const port = typeof address === "object" && address ? address.port : adminPort;
  return `http://${adminHost.includes(":") ? `[${adminHost}]` : adminHost}:${port}`;
}
