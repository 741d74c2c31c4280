import type { AppStorage } from "../storage.ts";
import { reportLosses, type ResponsePoliciesDeps } from "./response-policies.ts";
import type { RedisClient } from "../../redis/client.ts";
import { createWaitBudget } from "../../redis/wait-budget.ts";
import type { TtlStore, Entry } from "../../relay/ttl-store/ttl-store.ts";
import { createMemoryEntries } from "../../relay/ttl-store/memory.ts";
import { createRedisEntries } from "../../relay/ttl-store/redis.ts";
import { createResponseStore, type ResponseStore } from "../../relay/stateful/response-store.ts";
import type { SnapshotStore } from "../../snapshot/types.ts";

export interface ComposeDeps extends Omit<ResponsePoliciesDeps, "snapshots" | "storage"> {
  readonly storage: Pick<AppStorage, "vault">;
  readonly snapshots: Pick<SnapshotStore, "current" | "subscribe">;
}

/** A request that continues a response fails without it, so the read waits longer than others. */
const WAIT_MS = 2_000;

/** Creates the store of converted responses: in memory, or in Redis for all replicas. */
export function composeResponseStore(deps: ComposeDeps): ResponseStore {
  const { redis, clock, metrics, snapshots, storage } = deps;
  const [outputs, requests] = redis ? inRedis(redis, deps) : [createMemoryEntries(), createMemoryEntries()];
  metrics.watch({ storedResponsesBytes: () => outputs.bytes + requests.bytes });
  snapshots.subscribe(({ options }) => {
    if (options.KeptResponsesHours > 0) return;
    outputs.clear();
    requests.clear();
  });
  const options = () => snapshots.current().options;
  return createResponseStore({ outputs, requests, vault: storage.vault, options, now: () => clock.now() });
}

function inRedis(
  redis: RedisClient,
  { storage, ...reporting }: ComposeDeps,
): readonly [TtlStore<Entry>, TtlStore<Entry>] {
  const waitBudget = createWaitBudget(WAIT_MS);
  const onFailure = reportLosses("kept-responses", "stored responses are out of reach", reporting);
  const entries = (what: string) =>
    createRedisEntries({
      redis,
      sealer: storage.vault,
      keys: (name) => redis.keys.responses(`${what}-${name}`),
      waitBudget: () => waitBudget,
      onFailure,
    });
  return [entries("outputs"), entries("requests")];
}
