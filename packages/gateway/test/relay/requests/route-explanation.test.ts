import type { LogExplanation, LogPage } from "@fairway/wire";
import { describe, expect, it } from "vitest";
import { useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

async function explained(response: Response): Promise<LogExplanation> {
  expect(response.status).toBe(200);
  await response.text();
  await relay.gateway.settled();
  const id = response.headers.get("x-request-id") ?? "";
  const page = (await relay.gateway.root.must("GET", `/api/log/?request_id=${id}`)) as LogPage;
  return (await relay.gateway.root.must("GET", `/api/log/${page.items[0]?.id ?? 0}/explain`)) as LogExplanation;
}

function answering(model: string): void {
  const message = { role: "assistant", content: "Hi" };
  const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
  const choices = [{ index: 0, message, finish_reason: "stop" }];
  const body = { id: "a", object: "chat.completion", model, created: 1, usage, choices };
  relay.gateway.upstream.script("/chat/completions", () => ({ body }));
}

describe("the explanation of a call that the first attempt answers", () => {
  it("names its candidates, its attempt and its price", async () => {
    const used = await relay.gateway.channel("plain", { priority: 9 });
    const lower = await relay.gateway.channel("plain", { priority: 5 });
    const off = await relay.gateway.channel("plain", { priority: 1 });
    const elsewhere = await relay.gateway.channel("plain", { group: "vip" });
    await relay.gateway.root.must("PUT", "/api/channel/", { id: off, status: 2 });
    answering("plain");
    const found = await explained(await relay.ask("plain"));
    expect(found).toMatchObject({ is_recorded: true, outcome: "ok", route: "weight", more_candidates: 0 });
    expect(found.candidates.map(({ channel, skipped }) => [channel, skipped])).toEqual([
      [used, undefined],
      [lower, "not_drawn"],
      [off, "status"],
      [elsewhere, "group"],
    ]);
    const host = new URL(relay.gateway.upstream.url).host;
    expect(found.attempts).toMatchObject([{ channel: used, status: 200, outcome: "ok", upstream_host: host }]);
    expect(found.price.kind).toBe("tokens");
    expect(found.price.reserved).toBeGreaterThan(0);
    expect(found.price.inputs).toContainEqual({ name: "model_ratio", value: 1, source: "self-use" });
  });

  it("names the only channel of a model", async () => {
    const only = await relay.gateway.channel("single");
    answering("single");
    const found = await explained(await relay.ask("single"));
    expect(found.route).toBe("only");
    expect(found.candidates.map(({ channel, is_tried }) => [channel, is_tried])).toEqual([[only, true]]);
  });

  it("says that a channel of higher priority rested when the call chose", async () => {
    const resting = await relay.gateway.channel("rests", { priority: 9 });
    const used = await relay.gateway.channel("rests", { priority: 5 });
    relay.gateway.upstream.script("/chat/completions", () => ({
      status: 429,
      headers: { "retry-after": "60" },
      body: { error: { message: "slow down", type: "rate_limit_error" } },
    }));
    await relay.gateway.option("RetryTimes", 0);
    expect((await relay.ask("rests")).status).toBe(429);
    answering("rests");
    const found = await explained(await relay.ask("rests"));
    expect(found.candidates).toMatchObject([{ channel: resting, skipped: "cooldown" }, { channel: used }]);
    expect(found.candidates[0]?.wait_ms).toBeGreaterThan(1_000);
    expect(found.attempts.map(({ channel }) => channel)).toEqual([used]);
  });
});
