// The log is printed without being held: many more rows need no more memory.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "./terminal.ts";

const MIB = 2 ** 20;
/** What the garbage of a longer run may add; the rows themselves would take more than 25 MiB. */
const MAX_GROWTH = 20 * MIB;

const row = (id: number) => ({
  id,
  user_id: 1,
  created_at: 1_800_000_000 - Math.floor(id / 100),
  type: 2,
  content: `call ${id} at a ratio of 1.25`,
  username: "root",
  token_name: "laptop",
  model_name: `model-${id % 7}`,
  quota: id,
  prompt_tokens: 12,
  completion_tokens: 30,
  use_time: 1,
  is_stream: true,
  channel: 3,
  channel_name: "upstream",
  token_id: 7,
  group: "default",
  ip: "",
  request_id: `0a1b2c${id}`,
  other: `{"frt":120,"model_ratio":1.25,"note":"${"x".repeat(2_000)}"}`,
});

/** A gateway with a log of that many rows. */
const server = createServer((request, response) => {
  const path = (request.url ?? "").split("?", 1)[0];
  const count = Number(/\/rows-(\d+)\//.exec(path ?? "")?.[1]);
  if (path?.endsWith("/api/log/export")) {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    void sendRows(count, response);
    return;
  }
  const user = { id: 1, username: "root", role: 100, status: 1, quota: 0, used_quota: 0, request_count: 0 };
  const status = {
    version: "v1",
    start_time: 1,
    system_name: "Fairway",
    quota_per_unit: 500_000,
    display_in_currency: true,
  };
  const data = path?.endsWith("/api/status") ? status : { ...user, display_name: "", email: "", group: "default" };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ success: true, message: "", data }));
});

async function sendRows(count: number, response: ServerResponse): Promise<void> {
  for (let at = 0; at < count; at += 500) {
    const lines = Array.from({ length: 500 }, (_one, more) => JSON.stringify(row(count - at - more)));
    if (!response.write(`${lines.join("\n")}\n`)) await once(response, "drain");
  }
  response.end();
}

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(() => void server.close());

const REPORT = "process.on('exit',()=>process.stderr.write(`peak=${process.resourceUsage().maxRSS}`))";

/** Returns the most memory that the program had, in bytes, and how many rows it printed. */
async function measure(count: number, format: string) {
  const env = {
    FAIRWAY_SERVER: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rows-${count}`,
    FAIRWAY_TOKEN: "token",
    FAIRWAY_USER_ID: "1",
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REPORT)}`,
  };
  const { code, out, err } = await run(["log", "list", "--limit", "all", "-o", format], env);
  expect(code, err).toBe(0);
  expect(out.match(/0a1b2c\d+/g)?.length ?? 0, format).toBeGreaterThanOrEqual(count);
  return Number(/peak=(\d+)/.exec(err)?.[1]) * 1024;
}

test.each([
  ["wide", 10_000, 30_000],
  ["json", 10_000, 30_000],
  // Its writer takes its time.
  ["yaml", 3_000, 15_000],
  ["csv", 10_000, 30_000],
  ['jsonpath={range .items[*]}{.request_id}{"\\n"}{end}', 10_000, 30_000],
  ["custom-columns=REQUEST:.request_id", 10_000, 30_000],
] as const)("-o %s holds no rows", { timeout: 120_000 }, async (format, short, long) => {
  const few = await measure(short, format);
  const many = await measure(long, format);
  expect((many - few) / MIB, `${few / MIB} MiB grow to ${many / MIB} MiB`).toBeLessThan(MAX_GROWTH / MIB);
});
