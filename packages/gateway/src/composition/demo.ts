import type { Core } from "./core.ts";
import type { Management } from "./management.ts";
import { removeDemo, seedDemo, type DemoDeps } from "../demo/seed.ts";
import { startDemoUpstream, type DemoUpstream } from "../demo/upstream.ts";
import { isLoopback } from "../lib/net/ip.ts";
import { createTokenStore } from "../resources/tokens/store.ts";

/** The echo that responds before a provider is connected. */
export interface Demo {
  /** Returns its key while the demo is enabled. */
  start(): Promise<string | undefined>;
  stop(): Promise<void>;
}

export function createDemo(core: Core, { operations }: Management): Demo {
  const { env, storage, snapshots } = core;
  const deps: DemoDeps = {
    ...storage,
    ...core,
    channels: operations.channels.store,
    tokens: createTokenStore({ ...storage, ...core, announce: snapshots.announce }),
  };
  const isWanted = env.demo === "on" || (env.demo === "auto" && env.isEmbedded && isLoopback(env.host));
  let upstream: DemoUpstream | undefined;
  return {
    async start() {
      if (env.demo === "off") await removeDemo(deps);
      if (!isWanted) return undefined;
      upstream = await startDemoUpstream();
      return seedDemo(upstream.url, deps);
    },
    async stop() {
      await upstream?.stop();
    },
  };
}
