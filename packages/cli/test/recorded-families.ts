// Answers in the recorded shapes of compatible gateways.
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export const CANARY = "canary-3f8a";
export const CHANNEL = {
  id: 3,
  type: 1,
  key: "",
  openai_organization: null,
  test_model: null,
  status: 1,
  name: "upstream",
  weight: 0,
  created_time: 1_730_000_000,
  test_time: 1_730_000_100,
  response_time: 812,
  base_url: "",
  other: "",
  balance: 0,
  balance_updated_time: 0,
  models: "gpt-4o,gpt-4o-mini",
  group: "default",
  used_quota: 500_000,
  model_mapping: "",
  priority: 5,
};
export const TOKEN = {
  id: 7,
  user_id: 1,
  key: `${CANARY}0123456789abcdef`,
  status: 1,
  name: "laptop",
  created_time: 1_730_000_000,
  accessed_time: 1_730_000_000,
  expired_time: -1,
  remain_quota: 500_000,
  unlimited_quota: false,
  used_quota: 100,
};
export const USER = {
  id: 1,
  username: "root",
  display_name: "Root",
  role: 100,
  status: 1,
  quota: 5_000_000,
  used_quota: 9,
  request_count: 4,
  group: "default",
  access_token: CANARY,
};
const LOG = {
  id: 11,
  user_id: 1,
  created_at: 1_730_000_200,
  type: 2,
  content: "model ratio 1.25",
  username: "root",
  token_name: "laptop",
  model_name: "gpt-4o",
  quota: 1234,
  prompt_tokens: 12,
  completion_tokens: 30,
};
const STARTED = 1_730_000_000;
export const OPTIONS = [{ key: "RetryTimes", value: "2" }];

export type Answers = Readonly<Record<string, unknown>>;

/** Bare rows, ten per page, and a log of the same shape. */
export const ONE_API: Answers = {
  "/api/status": {
    version: "v0.6.10",
    start_time: STARTED,
    system_name: "One API",
    quota_per_unit: 500_000,
    display_in_currency: true,
  },
  "/api/user/self": USER,
  "/api/channel/": [
    CHANNEL,
    ...Array.from({ length: 22 }, (_one, at) => ({ ...CHANNEL, id: at + 10, name: `other-${at}` })),
  ],
  "/api/channel/3": CHANNEL,
  "/api/channel/test/3": undefined,
  "/api/token/": [TOKEN],
  "/api/token/7": TOKEN,
  "/api/user/": [USER],
  "/api/user/1": USER,
  "/api/log/": [{ ...LOG, channel: 3, elapsed_time: 800 }],
  "/api/option/": OPTIONS,
  "/api/group/": ["default", "vip"],
  "/api/log/stat": { quota: 1234 },
  "/api/user/login": { id: 1, username: "root", display_name: "Root", role: 100, status: 1 },
  "/api/user/token": `${CANARY}-new`,
};

const PRICE = {
  model_name: "gpt-4o",
  quota_type: 0,
  model_ratio: 1.25,
  model_price: 0,
  owner_by: "",
  completion_ratio: 4,
};

/** A page object around the rows of every list. */
export const NEW_API: Answers = {
  ...ONE_API,
  "/api/log/stat": { quota: 1234, rpm: 3, tpm: 90 },
  "/api/pricing": [{ ...PRICE, enable_groups: ["default"], supported_endpoint_types: ["openai"] }],
  "/api/status": {
    version: "v0.9.3",
    start_time: STARTED,
    system_name: "New API",
    quota_per_unit: 500_000,
    display_in_currency: true,
  },
  "/api/channel/": { items: [CHANNEL], total: 1, page: 1, page_size: 10 },
  "/api/token/": { items: [TOKEN], total: 1, page: 1, page_size: 10 },
  "/api/user/": { items: [USER], total: 1, page: 1, page_size: 10 },
  "/api/log/": {
    items: [
      {
        ...LOG,
        use_time: 1,
        is_stream: true,
        channel: 3,
        channel_name: "upstream",
        token_id: 7,
        group: "default",
        ip: "",
        other: "",
      },
    ],
    total: 1,
    page: 1,
    page_size: 10,
  },
};

/** Pages in the shape of one-hub and done-hub: rows in `data`, with `total_count` next to them. */
const paged = (rows: readonly unknown[]) => ({ data: rows, page: 1, size: 10, total_count: rows.length });
export const ONE_HUB: Answers = {
  ...ONE_API,
  "/api/status": {
    version: "v0.14.27",
    start_time: STARTED,
    system_name: "One Hub",
    quota_per_unit: 500_000,
    display_in_currency: true,
  },
  "/api/channel/": paged(
    Array.from({ length: 123 }, (_one, at) => ({ ...CHANNEL, id: at + 3, name: at === 0 ? "upstream" : `hub-${at}` })),
  ),
  "/api/token/": paged([{ ...TOKEN, setting: { heartbeat: { enabled: false, timeout_seconds: 30 } } }]),
  "/api/user/": paged([USER]),
  "/api/log/": paged([{ ...LOG, channel_id: 3, channel: { name: "upstream" }, request_time: 800, is_stream: false }]),
};

/** The answers of new-api, with further members. */
export const VELOERA: Answers = {
  ...NEW_API,
  "/api/pricing": [{ ...PRICE, enable_groups: ["default"] }],
  "/api/status": {
    version: "v0.4.2",
    start_time: STARTED,
    system_name: "Veloera",
    quota_per_unit: 500_000,
    display_in_currency: true,
  },
  "/api/channel/": {
    items: [{ ...CHANNEL, tag: null, setting: null, model_prefix: "", system_prompt: "", status_code_mapping: "" }],
    total: 1,
    page: 1,
    page_size: 10,
  },
};

export const FAMILIES = [
  ["one-api", ONE_API],
  ["new-api", NEW_API],
  ["one-hub", ONE_HUB],
  ["veloera", VELOERA],
] as const;

export interface RecordedGateway {
  readonly env: Record<string, string>;
  readonly seen: string[];
}

/** Starts a server with these answers, until the end of the test that starts it. */
export async function startRecorded(answers: Answers): Promise<RecordedGateway> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    seen.push(`${request.method} ${path} ${readUser(request)}`);
    const isKnown = Object.hasOwn(answers, path);
    const body = isKnown
      ? { success: true, message: "", data: request.method === "PUT" ? CHANNEL : selectPage(answers[path], request) }
      : {
          error: {
            message: `Invalid URL (${request.method} ${path})`,
            type: "invalid_request_error",
            param: "",
            code: "",
          },
        };
    const cookie = path === "/api/user/login" ? { "set-cookie": "session=recorded; Path=/; HttpOnly" } : {};
    response
      .writeHead(isKnown ? 200 : 404, { "content-type": "application/json", ...cookie })
      .end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { env: { FAIRWAY_SERVER: address, FAIRWAY_TOKEN: CANARY, FAIRWAY_USER_ID: "1" }, seen };
}

/** Returns ten rows at a time, whatever the request says. */
function selectPage(data: unknown, { url }: IncomingMessage): unknown {
  const query = new URL(url ?? "", "http://gateway").searchParams;
  const page = Number(query.get("p") ?? 0);
  if (isHubPage(data)) {
    const [number, size] = [Number(query.get("page") ?? 1), Number(query.get("size") ?? 10)];
    return { ...data, page: number, size, data: data.data.slice((number - 1) * size, number * size) };
  }
  return Array.isArray(data) && url?.includes("page_size") ? data.slice(page * 10, page * 10 + 10) : data;
}

function isHubPage(data: unknown): data is ReturnType<typeof paged> {
  return typeof data === "object" && data !== null && "total_count" in data;
}

function readUser({ headers }: IncomingMessage): string {
  return `${String(headers.authorization ?? "")} ${String(headers["new-api-user"] ?? "")}`;
}
