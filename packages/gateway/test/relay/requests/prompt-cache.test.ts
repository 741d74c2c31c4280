import type { LogExplanation, LogPage } from "@fairway/wire";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const MODEL = "claude-sonnet-4-5";
const SYSTEM = "A long rule. ".repeat(600);
const MARK = { type: "ephemeral" };

const setting = (more: object) => JSON.stringify(more);
let channel = 0;
let sent: Record<string, unknown>[] = [];

beforeAll(async () => {
  channel = await relay.gateway.channel(MODEL, { type: 14, setting: setting({ prompt_cache: "always" }) });
  await relay.gateway.option("SelfUseModeEnabled", "false");
  await relay.gateway.option("ModelRatio", JSON.stringify({ [MODEL]: 2 }));
  await relay.gateway.option("CompletionRatio", JSON.stringify({ [MODEL]: 5 }));
  await relay.gateway.option("CacheRatio", JSON.stringify({ [MODEL]: 0.1 }));
  await relay.gateway.option("CreateCacheRatio", JSON.stringify({ [MODEL]: 1.25 }));
});

beforeEach(() => {
  sent = [];
  script();
});

/** Answers every call; the usage has what the vendor wrote to its cache, and what it read. */
function script(
  usage: object = { cache_creation_input_tokens: 2000 },
  refuses: (body: string) => boolean = () => false,
) {
  relay.gateway.upstream.script("/v1/messages", ({ body }) => {
    const text = body.toString();
    sent.push(JSON.parse(text) as Record<string, unknown>);
    if (refuses(text))
      return {
        status: 400,
        body: {
          type: "error",
          error: { type: "invalid_request_error", message: "system.0.cache_control: Extra inputs are not permitted" },
        },
      };
    return {
      body: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: MODEL,
        content: [{ type: "text", text: "ok" }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 20, output_tokens: 10, ...usage },
      },
    };
  });
}

const ask = (more: object = {}, headers: Record<string, string> = {}) =>
  relay.gateway.post(
    "/v1/messages",
    { model: MODEL, max_tokens: 100, system: SYSTEM, messages: [{ role: "user", content: "hi" }], ...more },
    relay.key,
    { headers: { authorization: `Bearer ${relay.key}`, "content-type": "application/json", ...headers } },
  );

async function rowOf(response: Response) {
  expect(response.status).toBe(200);
  await response.text();
  await relay.gateway.settled();
  const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
  return row;
}

async function explain(response: Response): Promise<LogExplanation> {
  await rowOf(response);
  const id = response.headers.get("x-request-id") ?? "";
  const page = await relay.gateway.root.must<LogPage>("GET", `/api/log/?request_id=${id}`);
  return relay.gateway.root.must<LogExplanation>("GET", `/api/log/${page.items[0]?.id ?? 0}/explain`);
}

it("a channel that wants marks sends them, and the bill follows what the vendor wrote and read", async () => {
  const wrote = await rowOf(await ask());
  expect(sent[0]).toMatchObject({
    system: [{ type: "text", text: SYSTEM, cache_control: MARK }],
    messages: [{ role: "user", content: [{ type: "text", text: "hi", cache_control: MARK }] }],
  });
  // 20 + 2000 x 1.25 + 10 x 5, at 2 units: the write cost 1000 more than the same input without a cache.
  expect(wrote?.quota).toBe(5140);
  expect(wrote?.other).toMatchObject({ cache_marks: { n: 2, ttl: "5m", why: "always" }, cache_saved: -1000 });
  script({ cache_read_input_tokens: 2000 });
  const read = await rowOf(await ask());
  expect(read?.quota).toBe(540);
  expect(read?.other["cache_saved"]).toBe(3600);
  expect(sent[1]).toEqual(sent[0]);
});

it("a marked prompt reserves the price of writing it, and its explanation names the marks", async () => {
  const marked = await explain(await ask());
  const plain = await explain(await ask({}, { "x-fairway-prompt-cache": "off" }));
  expect(sent[1]?.["system"]).toBe(SYSTEM);
  expect(marked.prompt_cache).toEqual({ marks: 2, ttl: "5m", why: "always", saved: -1000 });
  expect(plain.prompt_cache).toBeUndefined();
  expect(marked.price.reserved).toBeGreaterThan(plain.price.reserved);
});

it("a request with marks of its client stays as it is", async () => {
  const system = [{ type: "text", text: SYSTEM, cache_control: { type: "ephemeral", ttl: "1h" } }];
  const row = await rowOf(await ask({ system }));
  expect(sent[0]?.["system"]).toEqual(system);
  expect(sent[0]?.["messages"]).toEqual([{ role: "user", content: "hi" }]);
  expect(row?.other["cache_marks"]).toBeUndefined();
});

it("a wrong header is refused before any upstream is called", async () => {
  const response = await ask({}, { "x-fairway-prompt-cache": "sometimes" });
  expect(response.status).toBe(400);
  expect(sent).toEqual([]);
});

it("a token without marks gets none, and the call that sets it refuses other words", async () => {
  const { root } = relay.gateway;
  const [token] = await root.must<{ id: number; name: string }[]>("GET", "/api/token/");
  const change = (mode: string) =>
    root.call("PUT", "/api/token/", { id: token?.id, name: token?.name, unlimited_quota: true, prompt_cache: mode });
  const words = "Invalid input: prompt_cache must be one of inherit, off, auto, always.";
  expect(await change("never")).toMatchObject({ success: false, message: words });
  expect(await change("off")).toMatchObject({ success: true, data: { prompt_cache: "off" } });
  expect((await ask({}, { "x-fairway-prompt-cache": "always" })).status).toBe(200);
  expect(JSON.stringify(sent[0])).not.toContain("cache_control");
  expect(await change("inherit")).toMatchObject({ success: true, data: { prompt_cache: "inherit" } });
  expect((await ask()).status).toBe(200);
  expect(JSON.stringify(sent[1])).toContain("cache_control");
});

it("an upstream that refuses marks is called once more without them, and gets none for a while", async () => {
  script({}, (text) => text.includes("cache_control"));
  const row = await rowOf(await ask());
  expect(sent.map(({ system }) => typeof system)).toEqual(["object", "string"]);
  expect(row?.quota).toBe(140);
  await rowOf(await ask());
  expect(sent).toHaveLength(3);
  expect(sent[2]?.["system"]).toBe(SYSTEM);
  const metrics = await (await fetch(`${relay.gateway.adminUrl}/metrics`)).text();
  expect(metrics).toContain('fairway_cache_marks_total{provider="claude",result="refused"} 1');
  expect(row?.channel_id).toBe(channel);
});
