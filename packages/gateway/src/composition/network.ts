import type { Env } from "../config/env.ts";
import type { Runnable } from "../lib/async/runnable.ts";
import { trustAuthorities, type Authorities } from "../lib/net/authorities.ts";
import type { Network } from "../lib/net/network.ts";
import { createFindProxy } from "../lib/net/proxy-rules.ts";
import type { Secret } from "../lib/secret.ts";
import { describeError } from "../observability/reason.ts";
import type { Logger } from "../observability/log.ts";
import { StartError } from "./storage.ts";

type NetworkEnv = Pick<Env, "httpsProxy" | "httpProxy" | "noProxy" | "caFile">;

const CHECK_MS = 10_000;

/** Trusts the authorities of the environment and finds its proxies; started, it reads the file again. */
export function openNetwork(env: NetworkEnv, log: Logger): Network & Runnable {
  const authorities = env.caFile === undefined ? undefined : openAuthorities(env.caFile);
  let generation = 0;
  let timer: NodeJS.Timeout | undefined;
  return {
    name: "network",
    findProxy: createFindProxy(env),
    get generation() {
      return generation;
    },
    start() {
      report(env, authorities, log);
      if (!authorities) return;
      timer = setInterval(() => {
        if (refresh(authorities, log)) generation += 1;
      }, CHECK_MS).unref();
    },
    stop: () => clearInterval(timer),
  };
}

function openAuthorities(path: string): Authorities {
  try {
    return trustAuthorities(path);
  } catch (cause) {
    throw new StartError(`FAIRWAY_CA_FILE names ${path}, which cannot be used (${describeError(cause)}): correct it`);
  }
}

/** Keeps the former authorities while the file is broken, and says so each time. */
function refresh(authorities: Authorities, log: Logger): boolean {
  try {
    if (!authorities.refresh()) return false;
  } catch (error) {
    log.warn("the file of authorities cannot be read, the former ones stay", { error });
    return false;
  }
  log.info("the authorities have changed", { authorities: authorities.count });
  return true;
}

function report(
  { httpsProxy, httpProxy, noProxy, caFile }: NetworkEnv,
  authorities: Authorities | undefined,
  log: Logger,
) {
  if (!httpsProxy && !httpProxy && caFile === undefined) return;
  log.info("outgoing connections", {
    httpsProxy: nameProxy(httpsProxy),
    httpProxy: nameProxy(httpProxy),
    noProxy: noProxy.map(({ text }) => text).join(","),
    authorities: authorities?.count ?? 0,
  });
}

/** Names a proxy without its password. */
function nameProxy(proxy: Secret | undefined): string | undefined {
  return proxy && new URL(proxy.reveal()).host;
}
