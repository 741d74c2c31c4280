import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createChannel, createToken, setOptions, signIn } from "../../packages/testkit/src/index.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";
import { describe, measure } from "./batch-cost.ts";

const MODEL = "claude-haiku-4-5";
const [OPEN, QUICK_OPEN] = [1_000, 10];
const [WATCHED_MS, QUICK_WATCHED_MS] = [120_000, 2_000];
/** The first two polls of a batch come sooner than the later ones. */
const SETTLING_MS = 60_000;
const AT_ONCE = 20;
/** The share of a core that polling may take. */
const SHARE = 0.02;

/** Measures what it costs to follow open batches, above what a gateway without any uses. */
export async function benchOpenBatches(isQuick: boolean): Promise<string[]> {
  const [count, watchedMs] = isQuick ? [QUICK_OPEN, QUICK_WATCHED_MS] : [OPEN, WATCHED_MS];
  const upstream = await startUpstream();
  const system = await start.startFairwaySqlite(upstream.url, { env: ALLOCATOR, nodeArgs: NODE_FLAGS });
  try {
    const url = `http://127.0.0.1:${system.port}`;
    const root = await signIn(url);
    await setOptions(root, { BatchMaxOpenPerUser: "0" });
    await createChannel(root, { type: 14, base_url: upstream.url, models: MODEL });
    const key = await createToken(root);
    const gateway = { pid: system.gatewayPid, url };
    const [, idle] = await measure(gateway, () => sleep(watchedMs));
    let left = count;
    const work = async () => {
      while (left-- > 0) await create(url, key);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    await sleep(isQuick ? 0 : SETTLING_MS);
    const [, busy] = await measure(gateway, () => sleep(watchedMs));
    const cpuSeconds = Math.max(0, busy.cpuSeconds - idle.cpuSeconds);
    const goal = { cpuSeconds: (SHARE * watchedMs) / 1_000 };
    const name = `following ${count} open ones for ${watchedMs / 1_000} s`;
    return describe({ name, items: count, bytes: 0, goal, ...busy, cpuSeconds });
  } finally {
    await system.stop();
    upstream.stop();
  }
}

async function create(url: string, key: string): Promise<void> {
  const params = { model: MODEL, max_tokens: 10, messages: [{ role: "user", content: "x" }] };
  const response = await fetch(`${url}/v1/messages/batches`, {
    method: "POST",
    headers: { "x-api-key": key, "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({ requests: [{ custom_id: "a", params }] }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`a batch was refused: ${text.slice(0, 500)}`);
}

/** An upstream whose batches never end. */
async function startUpstream(): Promise<{ readonly url: string; stop(): void }> {
  let serial = 0;
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      const id = request.method === "POST" ? `msgbatch_${++serial}` : (request.url ?? "").split("/").at(-1);
      const now = new Date().toISOString();
      const body = {
        id,
        type: "message_batch",
        processing_status: "in_progress",
        request_counts: { processing: 1, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
        created_at: now,
        expires_at: new Date(Date.now() + 86_400_000).toISOString(),
        ended_at: null,
        results_url: null,
      };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => server.close().closeAllConnections(),
  };
}
