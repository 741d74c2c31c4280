import { LOG_TYPE, type LogExplanation, type LogPage, type LogRow } from "@fairway/wire";
import { describe, expect, it, vi } from "vitest";
import { chat, consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

/** Returns the row of a failed call; rows are written in the background. */
function errorRow(requestId: string): Promise<LogRow> {
  return vi.waitFor(
    async () => {
      const page = (await relay.gateway.root.must("GET", `/api/log/?request_id=${requestId}`)) as LogPage;
      const [row] = page.items;
      expect(row?.type).toBe(LOG_TYPE.error);
      return row as LogRow;
    },
    { timeout: 10_000, interval: 100 },
  );
}

const readRequestId = (response: Response) => response.headers.get("x-request-id") ?? "";
const parseDetail = (row: LogRow) => JSON.parse(row.other) as Record<string, unknown>;

async function explained(row: LogRow): Promise<LogExplanation> {
  return (await relay.gateway.root.must("GET", `/api/log/${row.id}/explain`)) as LogExplanation;
}

const SECRET = "the prompt says 4711";
const broken = { status: 500, body: { error: { message: `cannot answer: ${SECRET}`, type: "server_error" } } };

describe("a failed call", () => {
  it("is a log row with every attempt and every other candidate", async () => {
    const tried = await relay.gateway.channel("fails", { priority: 9 });
    const second = await relay.gateway.channel("fails", { priority: 5 });
    const off = await relay.gateway.channel("fails", { priority: 1 });
    await relay.gateway.root.must("PUT", "/api/channel/", { id: off, status: 2 });
    await relay.gateway.option("RetryTimes", 1);
    relay.gateway.upstream.script("/chat/completions", () => broken);
    const response = await relay.ask("fails", { messages: [{ role: "user", content: SECRET }] });
    expect(response.status).toBe(500);
    const row = await errorRow(readRequestId(response));
    expect(row).toMatchObject({ quota: 0, model_name: "fails", channel: second, username: "root" });
    expect(parseDetail(row)).toMatchObject({
      status_code: 500,
      error_type: "upstream",
      outcome: "upstream_error",
      attempts: 2,
      request_path: "/v1/chat/completions",
    });
    expect(JSON.stringify(row)).not.toContain(SECRET);
    const found = await explained(row);
    expect(found).toMatchObject({ is_recorded: true, status: 500, route: "weight" });
    expect(found.attempts.map(({ channel, status, next }) => [channel, status, next])).toEqual([
      [tried, 500, "retry"],
      [second, 500, "retries_used"],
    ]);
    expect(found.attempts.map((attempt) => attempt.upstream_message)).toEqual(["cannot answer: …", "cannot answer: …"]);
    expect(parseDetail(row)["admin_info"]).toMatchObject({ upstream_message: "cannot answer: …" });
    expect(found.attempts[0]?.upstream_host).toBe(new URL(relay.gateway.upstream.url).host);
    expect(found.candidates.map(({ channel, skipped }) => [channel, skipped])).toEqual([
      [tried, undefined],
      [second, undefined],
      [off, "status"],
    ]);
  });

  it("was not retried because retries are switched off, and says so", async () => {
    await relay.gateway.channel("unretried");
    await relay.gateway.channel("unretried");
    await relay.gateway.option("RetryTimes", 0);
    relay.gateway.upstream.script("/chat/completions", () => broken);
    const found = await explained(await errorRow(readRequestId(await relay.ask("unretried"))));
    expect(found.attempts.map(({ next }) => next)).toEqual(["retries_off"]);
  });

  it("leaves its route in the row of the charge when another channel succeeded", async () => {
    const bad = await relay.gateway.channel("cured", { priority: 9 });
    const good = await relay.gateway.channel("cured", { priority: 5 });
    await relay.gateway.option("RetryTimes", 2);
    let calls = 0;
    const message = { role: "assistant", content: "Hi" };
    const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
    const answer = { id: "a", object: "chat.completion", model: "cured", created: 1, usage };
    const done = { body: { ...answer, choices: [{ index: 0, message, finish_reason: "stop" }] } };
    relay.gateway.upstream.script("/chat/completions", () => ((calls += 1) === 1 ? broken : done));
    const response = await relay.ask("cured");
    expect(response.status).toBe(200);
    await response.text();
    await relay.gateway.settled();
    expect(await consumeRows(relay.gateway, readRequestId(response))).toHaveLength(1);
    const page = (await relay.gateway.root.must("GET", `/api/log/?request_id=${readRequestId(response)}`)) as LogPage;
    const found = await explained(page.items[0] as LogRow);
    expect(found.attempts.map(({ channel, outcome, next }) => [channel, outcome, next])).toEqual([
      [bad, "upstream_error", "retry"],
      [good, "ok", ""],
    ]);
  });

  it.each([
    ["a model that no channel has", chat("nowhere"), 404, "model_not_found"],
    ["a body that is no JSON", "{", 400, "invalid_json"],
  ])("is a row for %s", async (_, body, status, code) => {
    const response = await relay.gateway.post("/v1/chat/completions", body, relay.key);
    expect(response.status).toBe(status);
    const row = await errorRow(readRequestId(response));
    expect(parseDetail(row)).toMatchObject({ status_code: status, error_code: code, attempts: 0 });
  });

  it("is a row for an exhausted key, and none for an unknown key", async () => {
    const key = await relay.gateway.token({ name: "spent", unlimited_quota: false, remain_quota: 0 });
    const response = await relay.gateway.post("/v1/chat/completions", chat("fails"), key);
    expect(response.status).toBe(401);
    expect(await errorRow(readRequestId(response))).toMatchObject({ token_name: "spent", username: "root" });
    const unknown = await relay.gateway.post("/v1/chat/completions", chat("fails"), "sk-nobody");
    expect(unknown.status).toBe(401);
    const page = (await relay.gateway.root.must("GET", `/api/log/?request_id=${readRequestId(unknown)}`)) as LogPage;
    expect(page.items).toEqual([]);
  });
});
