import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Batch } from "@fairway/wire";
import { createChannel, createToken, setOptions, signIn, type Session } from "../../packages/testkit/src/index.ts";
import { table } from "../../packages/testkit/load/report.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { build } from "../build.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";
import { describe, HEADINGS, measure } from "./batch-cost.ts";
import { benchFileBatches } from "./file-batches.ts";
import { benchOpenBatches } from "./open-batches.ts";

const ITEMS = 50_000;
const QUICK_ITEMS = 500;
/** With it, 50,000 requests or answers are 200 MB. */
const TEXT = "x".repeat(3_900);
const MODEL = "claude-haiku-4-5";
const SAMPLE_MS = 50;
const WAIT_MS = 600_000;

/**
 * `npm run bench -- --batches`: what it costs to create a batch of 50,000 requests (200 MB) and to settle its results, of
 * the same size, to upload and read a file of as many requests, and to follow 1,000 open batches, with SQLite. Prints
 * each next to its goal; `--quick` takes a hundredth, and its figures mean nothing.
 */
export async function benchBatches(): Promise<void> {
  const isQuick = process.argv.includes("--quick");
  const items = isQuick ? QUICK_ITEMS : ITEMS;
  await build(["gateway"], true);
  const rows = [...(await benchInline(items)), ...(await benchFileBatches(items)), await benchOpenBatches(isQuick)];
  console.log(table(HEADINGS, rows).join("\n"));
}

async function benchInline(items: number): Promise<string[][]> {
  const upstream = await startUpstream(items);
  const system = await start.startFairwaySqlite(upstream.url, { env: ALLOCATOR, nodeArgs: NODE_FLAGS });
  try {
    const url = `http://127.0.0.1:${system.port}`;
    const root = await signIn(url);
    await setOptions(root, { BatchMaxItems: String(ITEMS), BatchMaxMegabytes: "256" });
    await createChannel(root, { type: 14, base_url: upstream.url, models: MODEL });
    const key = await createToken(root);
    const gateway = { pid: system.gatewayPid, url };
    const [created, creation] = await measure(gateway, () => create(url, key, items));
    await sleep(11_000); // a read within ten seconds would not ask the upstream
    await readBatch(url, key, created.id);
    await upstream.isAsked;
    const [, settlement] = await measure(gateway, () => untilSettled(root, created.id));
    const goal = { grownMib: 64, stalledMs: 50 };
    return [
      describe({ name: "creation", items, bytes: created.bytes, goal, ...creation }),
      describe({
        name: "settlement",
        items,
        bytes: upstream.resultBytes,
        goal: { ...goal, cpuSeconds: 15 },
        ...settlement,
      }),
    ];
  } finally {
    await system.stop();
    upstream.stop();
  }
}

function* writeRequests(items: number): Generator<string> {
  yield '{"requests":[';
  for (let at = 0; at < items; at++) {
    const params = { model: MODEL, max_tokens: 10, messages: [{ role: "user", content: TEXT }] };
    yield `${at === 0 ? "" : ","}${JSON.stringify({ custom_id: `item-${at}`, params })}`;
  }
  yield "]}";
}

async function create(
  url: string,
  key: string,
  items: number,
): Promise<{ readonly id: string; readonly bytes: number }> {
  let bytes = 0;
  const pieces = writeRequests(items).map((text) => {
    bytes += text.length;
    return Buffer.from(text);
  });
  const response = await fetch(`${url}/v1/messages/batches`, {
    method: "POST",
    headers: { ...headersOf(key), "content-type": "application/json" },
    body: Readable.toWeb(Readable.from(pieces)),
    duplex: "half",
  } as RequestInit);
  const answer = (await response.json()) as { readonly id?: string };
  if (answer.id === undefined) throw new Error(`the batch was refused: ${JSON.stringify(answer)}`);
  return { id: answer.id, bytes };
}

const headersOf = (key: string) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" });

async function readBatch(url: string, key: string, id: string): Promise<void> {
  await (await fetch(`${url}/v1/messages/batches/${id}`, { headers: headersOf(key) })).arrayBuffer();
}

async function untilSettled(root: Session, id: string): Promise<void> {
  const limit = performance.now() + WAIT_MS;
  while ((await root.must<Batch>("GET", `/api/batch/${id}`)).phase !== "settled") {
    if (performance.now() > limit) throw new Error("the batch is not settled");
    await sleep(SAMPLE_MS);
  }
}

interface BatchUpstream {
  readonly url: string;
  /** Resolves when the results are asked for. */
  readonly isAsked: Promise<void>;
  readonly resultBytes: number;
  stop(): void;
}

/** An upstream with one batch, which has ended as soon as it was created. */
async function startUpstream(items: number): Promise<BatchUpstream> {
  let bytes = 0;
  const asked = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      if (!request.url?.endsWith("/results")) return sendBatch(response, items, request.method === "POST");
      asked.resolve();
      void sendResults(response, items).then((sent) => (bytes = sent));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isAsked: asked.promise,
    get resultBytes() {
      return bytes;
    },
    stop: () => server.close().closeAllConnections(),
  };
}

function sendBatch(response: ServerResponse, items: number, isNew: boolean): void {
  const now = new Date().toISOString();
  const counts = { errored: 0, canceled: 0, expired: 0 };
  const body = {
    id: "msgbatch_bench",
    type: "message_batch",
    processing_status: isNew ? "in_progress" : "ended",
    request_counts: { processing: isNew ? items : 0, succeeded: isNew ? 0 : items, ...counts },
    created_at: now,
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    ended_at: isNew ? null : now,
    results_url: null,
  };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function sendResults(response: ServerResponse, items: number): Promise<number> {
  response.writeHead(200, { "content-type": "application/x-jsonl" });
  let bytes = 0;
  for (let at = 0; at < items; at++) {
    const message = {
      id: `msg_${at}`,
      type: "message",
      role: "assistant",
      model: MODEL,
      content: [{ type: "text", text: TEXT }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 1_000, output_tokens: 10 },
    };
    const line = `${JSON.stringify({ custom_id: `item-${at}`, result: { type: "succeeded", message } })}\n`;
    bytes += line.length;
    if (!response.write(line)) await new Promise((resolve) => response.once("drain", resolve));
  }
  response.end();
  return bytes;
}
