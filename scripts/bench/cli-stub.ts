import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const CHANNEL = {
  id: 1,
  type: 1,
  name: "openai",
  status: 1,
  priority: 0,
  weight: 0,
  response_time: 800,
  group: "default",
  models: "gpt-4o",
  used_quota: 1,
  balance: 0,
  balance_updated_time: 0,
  other_info: "",
  tag: null,
};
const USER = { id: 1, username: "root", role: 100, quota: 1, used_quota: 1, request_count: 1, group: "default" };
const NONE = { count: 0, p50: 0, p90: 0, p95: 0, p99: 0 };
const TOTAL = {
  calls: 0,
  errors: 0,
  refused: 0,
  quota: 0,
  input_tokens: 0,
  output_tokens: 0,
  latency: NONE,
  first_token: NONE,
};
const ROW = {
  user_id: 1,
  type: 2,
  content: "model price",
  username: "root",
  token_name: "ci",
  model_name: "gpt-4o",
  quota: 123,
  prompt_tokens: 100,
  completion_tokens: 20,
  use_time: 2,
  is_stream: true,
  channel: 1,
  channel_name: "openai",
  token_id: 4,
  group: "default",
  ip: "192.0.2.1",
  request_id: "01M86T2MM99F5SH9C9952RV2J9",
  other: "",
};

const USAGE = {
  by: "channel",
  start_timestamp: 0,
  end_timestamp: 3_599,
  total: TOTAL,
  subjects: Array.from({ length: 100 }, (_one, at) => ({ subject: String(at + 1), name: "", ...TOTAL, points: [] })),
  more_subjects: 0,
};
const REPLICA = {
  version: "0.1.0",
  started_at: 0,
  seen_at: 0,
  is_leader: false,
  is_lost: false,
  running: 100,
  revision: 1,
  channels: Object.fromEntries(Array.from({ length: 100 }, (_one, at) => [at + 1, 1])),
};

const ANSWERS: readonly (readonly [path: string, data: unknown])[] = [
  ["/api/status", { version: "0.1.0", quota_per_unit: 500_000, display_in_currency: true }],
  ["/api/user/self", USER],
  ["/api/channel/types", [{ type: 1, id: "openai", label: "OpenAI" }]],
  ["/api/channel/health", []],
  ["/api/declarative/managed", []],
  ["/api/log/stat", { quota: 0, rpm: 10, tpm: 1000 }],
  ["/api/log/facets", { complete: true, models: [], tokens: [], groups: [], types: [], channels: [], users: [] }],
  ["/api/log/", { items: [{ id: 1, created_at: 1_700_000_000, ...ROW }], total: 1, page: 1, page_size: 30, next: "" }],
  ["/api/statistics/usage", USAGE],
  ["/api/statistics/recent", USAGE],
  ["/api/system/info", { instance: "bench", database: "sqlite" }],
  ["/api/system/replicas", ["a", "b", "c"].map((instance) => ({ ...REPLICA, instance }))],
];

export interface StubSettings {
  /** Rows of an export of the log. */
  readonly rows: number;
  readonly channels?: number;
  /** New log rows per second. */
  readonly rowsPerSecond?: number;
}

/** Starts a fake gateway that has every answer ready. */
export async function startStub({
  rows,
  channels = 100,
  rowsPerSecond = 0,
}: StubSettings): Promise<{ readonly url: string; stop(): void }> {
  const all = Array.from({ length: channels }, (_one, at) => ({ ...CHANNEL, id: at + 1, name: `openai-${at + 1}` }));
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", "http://stub");
    const path = url.pathname;
    if (path.startsWith("/api/log/export")) return void writeRows(response, rows);
    const isLog = path === "/api/log/" && rowsPerSecond > 0;
    const isChannels = path === "/api/channel/";
    const found = isLog
      ? newestRows(rowsPerSecond)
      : isChannels
        ? selectPage(all, url.searchParams)
        : ANSWERS.find(([start]) => path.startsWith(start))?.[1];
    const total = isChannels ? { total: all.length } : {};
    const body = JSON.stringify({ success: found !== undefined, message: "", data: found ?? null, ...total });
    response.writeHead(found ? 200 : 404, { "content-type": "application/json" }).end(body);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}

function selectPage<T>(all: readonly T[], query: URLSearchParams): readonly T[] {
  const size = Number(query.get("page_size") ?? 10);
  return all.slice(Number(query.get("p") ?? 0) * size).slice(0, size);
}

/** Returns the last hundred rows of a growing log. */
function newestRows(rowsPerSecond: number) {
  const now = Date.now();
  const last = Math.floor((now / 1000) * rowsPerSecond);
  const items = Array.from({ length: 100 }, (_one, at) => ({
    ...ROW,
    id: last - at,
    created_at: Math.floor(now / 1000),
    prompt_tokens: (last - at) % 1000,
  }));
  return { items, total: 100_000, page: 1, page_size: 100, next: String(last - 100) };
}

async function writeRows(response: ServerResponse, rows: number): Promise<void> {
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  let part: string[] = [];
  for (let id = rows; id > 0; id--) {
    part.push(`${JSON.stringify({ id, created_at: 1_700_000_000 + Math.floor(id / 50), ...ROW })}\n`);
    if (part.length < 500) continue;
    if (!response.write(part.join(""))) await once(response, "drain");
    part = [];
  }
  response.end(part.join(""));
}
