import type { LogExplanation, LogPage, LogRow } from "@fairway/wire";
import { describe, expect, it, vi } from "vitest";
import { useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

/** Returns the one row of a request id; failed calls are written in the background. */
function readLogRow(requestId: string): Promise<LogRow> {
  return vi.waitFor(
    async () => {
      const page = (await relay.gateway.root.must("GET", `/api/log/?request_id=${requestId}`)) as LogPage;
      expect(page.items).toHaveLength(1);
      return page.items[0] as LogRow;
    },
    { timeout: 10_000, interval: 100 },
  );
}

interface Line {
  readonly message?: string;
  readonly request_id?: string;
}

function listLogLines(requestId: string): string[] {
  const lines = relay.gateway
    .logLines()
    .split("\n")
    .filter((line) => line.startsWith("{"));
  return lines
    .map((line) => JSON.parse(line) as Line)
    .filter(({ request_id }) => request_id === requestId)
    .map(({ message = "" }) => message);
}

const readRequestId = (response: Response) => response.headers.get("x-request-id") ?? "";
const explained = (row: LogRow) =>
  relay.gateway.root.must("GET", `/api/log/${row.id}/explain`) as Promise<LogExplanation>;

describe("the request id of a call", () => {
  it("is one id in the headers, the log row, its explanation and the log line of an answered call", async () => {
    await relay.gateway.channel("answers");
    const response = await relay.ask("answers");
    expect(response.status).toBe(200);
    await response.text();
    await relay.gateway.settled();
    const id = readRequestId(response);
    expect(id).toMatch(/^[0-9A-Z]{26}$/);
    expect(response.headers.get("x-oneapi-request-id")).toBe(id);
    const row = await readLogRow(id);
    expect(row).toMatchObject({ request_id: id, type: 2 });
    expect(await explained(row)).toMatchObject({ request_id: id, outcome: "ok" });
    expect(listLogLines(id)).toEqual(["relay"]);
  });

  it("is also in the error body of a call that no channel could answer", async () => {
    await relay.gateway.channel("status-500");
    const response = await relay.ask("status-500");
    expect(response.status).toBe(500);
    const id = readRequestId(response);
    expect(await response.text()).toContain(id);
    const row = await readLogRow(id);
    expect(row).toMatchObject({ request_id: id, type: 5 });
    expect(await explained(row)).toMatchObject({ request_id: id, status: 500 });
    expect(listLogLines(id)).toEqual(["relay refused"]);
  });

  it("is also in the error body of a call that the gateway refused", async () => {
    const response = await relay.ask("no-channel-has-it");
    expect(response.status).toBe(404);
    const id = readRequestId(response);
    expect(await response.text()).toContain(id);
    expect(await readLogRow(id)).toMatchObject({ request_id: id, type: 5 });
    expect(listLogLines(id)).toEqual(["relay refused"]);
  });

  it("is the gateway's own: a client cannot choose it, and the upstream's is recorded next to it", async () => {
    await relay.gateway.channel("named");
    const message = { role: "assistant", content: "Hi" };
    const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    relay.gateway.upstream.script("/chat/completions", () => ({
      headers: { "x-request-id": "req_upstream_1" },
      body: { id: "a", object: "chat.completion", model: "named", created: 1, usage, choices },
    }));
    const forged = { "x-request-id": "mine", "x-oneapi-request-id": "mine" };
    const headers = { authorization: `Bearer ${relay.key}`, "content-type": "application/json", ...forged };
    const body = { model: "named", messages: [{ role: "user", content: "hi" }] };
    const response = await relay.gateway.post("/v1/chat/completions", body, relay.key, { headers });
    await response.text();
    await relay.gateway.settled();
    const id = readRequestId(response);
    expect(id).toMatch(/^[0-9A-Z]{26}$/);
    const found = await explained(await readLogRow(id));
    expect(found.attempts.map(({ upstream_request_id }) => upstream_request_id)).toEqual(["req_upstream_1"]);
    expect(JSON.stringify(relay.gateway.upstream.requests.at(-1)?.headers)).not.toContain("mine");
  });
});
