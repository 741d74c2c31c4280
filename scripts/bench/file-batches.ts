import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { createChannel, createToken, setOptions, signIn } from "../../packages/testkit/src/index.ts";
import * as start from "../../packages/testkit/load/systems.ts";
import { ALLOCATOR, NODE_FLAGS } from "../memory.ts";
import { describe, measure } from "./batch-cost.ts";

const MODEL = "gpt-5.6-bench";
const ENDPOINT = "/v1/chat/completions";
/** With it, 50,000 lines are 200 MB. */
const TEXT = "x".repeat(3_800);
const GOAL = { megabytesPerCpuSecond: 60, grownMib: 64, stalledMs: 50 };

/** Measures the upload of a file of requests, and the creation of a batch of it, which reads it once more. */
export async function benchFileBatches(items: number): Promise<string[][]> {
  const upstream = await startUpstream(items);
  const system = await start.startFairwaySqlite(upstream.url, { env: ALLOCATOR, nodeArgs: NODE_FLAGS });
  try {
    const url = `http://127.0.0.1:${system.port}`;
    const root = await signIn(url);
    await setOptions(root, { ModelRatio: JSON.stringify({ [MODEL]: 1 }), BatchMaxMegabytes: "256" });
    await createChannel(root, { type: 1, base_url: upstream.url, models: MODEL });
    const key = await createToken(root);
    const gateway = { pid: system.gatewayPid, url };
    const [id, uploading] = await measure(gateway, () => upload(url, key, items));
    const [, reading] = await measure(gateway, () => createBatch(url, key, id));
    const bytes = upstream.sentBytes;
    return [
      describe({ name: "upload of a file", items, bytes, goal: GOAL, ...uploading }),
      describe({ name: "creation from a file", items, bytes, goal: { grownMib: 64, stalledMs: 50 }, ...reading }),
    ];
  } finally {
    await system.stop();
    upstream.stop();
  }
}

function* writeLines(items: number): Generator<string> {
  for (let at = 0; at < items; at++) {
    const body = { model: MODEL, max_completion_tokens: 10, messages: [{ role: "user", content: TEXT }] };
    yield `${JSON.stringify({ custom_id: `item-${at}`, method: "POST", url: ENDPOINT, body })}\n`;
  }
}

const BOUNDARY = "bench-boundary";

function* writeForm(items: number): Generator<Buffer> {
  const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n`;
  const file = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="in.jsonl"\r\n\r\n`;
  yield Buffer.from(head + file);
  for (const line of writeLines(items)) yield Buffer.from(line);
  yield Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
}

async function upload(url: string, key: string, items: number): Promise<string> {
  const response = await fetch(`${url}/v1/files`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
    body: Readable.toWeb(Readable.from(writeForm(items))),
    duplex: "half",
  } as RequestInit);
  return readId(response, "file");
}

async function createBatch(url: string, key: string, file: string): Promise<string> {
  const body = { input_file_id: file, endpoint: ENDPOINT, completion_window: "24h" };
  const response = await fetch(`${url}/v1/batches`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return readId(response, "batch");
}

async function readId(response: Response, what: string): Promise<string> {
  const answer = (await response.json()) as { readonly id?: string; readonly status?: string };
  if (answer.id === undefined || answer.status === "failed")
    throw new Error(`the ${what} was refused: ${JSON.stringify(answer).slice(0, 500)}`);
  return answer.id;
}

interface FileUpstream {
  readonly url: string;
  /** The size of the file. */
  readonly sentBytes: number;
  stop(): void;
}

/** An upstream that takes any file, and returns the same requests when its content is read. */
async function startUpstream(items: number): Promise<FileUpstream> {
  let sentBytes = 0;
  const server = createServer((request, response) => {
    const { url: path = "", method } = request;
    if (path.endsWith("/content")) return void sendLines(response, items).then((bytes) => (sentBytes = bytes));
    discard(request, () => sendJson(response, method === "POST" && path.endsWith("/batches") ? BATCH : FILE));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sentBytes() {
      return sentBytes;
    },
    stop: () => server.close().closeAllConnections(),
  };
}

const CREATED = { created_at: 1_700_000_000 };
const FILE = { id: "file-bench", object: "file", bytes: 1, filename: "in.jsonl", purpose: "batch", ...CREATED };
const BATCH = {
  id: "batch_bench",
  object: "batch",
  endpoint: ENDPOINT,
  status: "in_progress",
  request_counts: { total: 1, completed: 0, failed: 0 },
  ...CREATED,
};

function discard(request: IncomingMessage, then: () => void): void {
  request.resume().once("end", then);
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function sendLines(response: ServerResponse, items: number): Promise<number> {
  response.writeHead(200, { "content-type": "application/octet-stream" });
  let bytes = 0;
  for (const line of writeLines(items)) {
    bytes += line.length;
    if (!response.write(line)) await new Promise((resolve) => response.once("drain", resolve));
  }
  response.end();
  return bytes;
}
