import { afterEach, describe, expect, it } from "vitest";
import { consumeRows, readError, splitEvents, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

describe("retries (3.3)", () => {
  const failing = async (model: string, retries: number) => {
    await relay.gateway.option("RetryTimes", retries);
    const bad = await relay.gateway.channel(model, {
      priority: 10,
      model_mapping: JSON.stringify({ [model]: model.split("@")[0] }),
    });
    const good = await relay.gateway.channel(model, {
      priority: 0,
      model_mapping: JSON.stringify({ [model]: "fine" }),
    });
    return { bad: String(bad), good: String(good) };
  };
  afterEach(() => relay.gateway.option("RetryTimes", 0));

  it.each([
    "status-500",
    "status-503",
    "status-429",
    "status-401",
    "status-403",
    "html",
    "empty",
    "bad-json",
    "redirect",
  ])("%s is retried on the next channel, invisible to the client", async (fault) => {
    const { bad, good } = await failing(`${fault}@plain`, 1);
    const response = await relay.ask(`${fault}@plain`);
    expect({ status: response.status, text: await response.clone().text() }).toMatchObject({ status: 200 });
    const rows = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(rows).toHaveLength(1);
    expect(rows[0]?.other.admin_info.use_channel).toEqual([bad, good]);
  });

  it.each(["status-500", "error-first", "cut-after-0", "empty", "html"])(
    "%s before the first event of a stream goes to the next channel",
    async (fault) => {
      const { bad, good } = await failing(`${fault}@stream`, 1);
      const response = await relay.ask(`${fault}@stream`, { stream: true });
      expect(splitEvents(await response.text()).at(-1)).toBe("data: [DONE]");
      const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
      expect(row?.other.admin_info.use_channel).toEqual([bad, good]);
    },
  );

  it("a converted stream with an unreadable first event is retried on the next channel", async () => {
    const { bad, good } = await failing("bad-json@stream", 1);
    const ask = { model: "bad-json@stream", max_tokens: 9, stream: true, messages: [{ role: "user", content: "hi" }] };
    const response = await relay.gateway.post("/v1/messages", ask, relay.key);
    expect(splitEvents(await response.text()).at(-1)).toContain("message_stop");
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.other.admin_info.use_channel).toEqual([bad, good]);
  });

  it.each(["status-400", "status-504", "hang"])("%s is not retried", async (fault) => {
    await failing(`${fault}@never`, 2);
    const response = await relay.ask(`${fault}@never`);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(relay.gateway.upstream.requests).toHaveLength(1);
  });

  it("makes exactly one call without retries", async () => {
    await failing("status-500@once", 0);
    expect((await relay.ask("status-500@once")).status).toBe(500);
    expect(relay.gateway.upstream.requests).toHaveLength(1);
  });

  it("says that the group is saturated after 429 everywhere, with the time to wait", async () => {
    await relay.gateway.channel("retry-after-7");
    const response = await relay.ask("retry-after-7");
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(5);
    expect(await readError(response)).toMatchObject({ code: "upstream_saturated", type: "rate_limit_error" });
  });
});

describe("failures of upstreams", () => {
  it.each([
    ["status-401", 502, "upstream_auth_error"],
    ["status-403", 502, "upstream_auth_error"],
    ["status-402", 502, "upstream_billing_error"],
    ["status-500", 500, undefined],
    ["html", 502, "upstream_invalid_response"],
    ["empty", 502, "upstream_invalid_response"],
    ["bad-json", 502, "upstream_invalid_response"],
    ["huge", 502, "upstream_invalid_response"],
    ["hang", 504, "upstream_timeout"],
  ])("%s returns %i in the client's envelope, without host or key", async (model, status, code) => {
    await relay.gateway.channel(model, { key: "sk-canary-key-123456" });
    const response = await relay.ask(model);
    expect(response.status).toBe(status);
    const text = await response.text();
    const { error } = JSON.parse(text) as { error: Record<string, unknown> };
    expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
    if (code !== undefined) expect(error["code"]).toBe(code);
    for (const secret of ["canary", "127.0.0.1", new URL(relay.gateway.upstream.url).port, "node_modules", ".ts:"])
      expect(text).not.toContain(secret);
  });

  it("returns 502 without a charge when the upstream is unreachable", async () => {
    await relay.gateway.channel("nowhere", { base_url: "http://127.0.0.1:9" });
    const response = await relay.ask("nowhere");
    expect(response.status).toBe(502);
    expect((await readError(response)).code).toBe("upstream_connect_failed");
  });

  it("returns the status of the channel's mapping", async () => {
    await relay.gateway.channel("status-401+mapped", { status_code_mapping: '{"401":"418"}' });
    expect((await relay.ask("status-401+mapped")).status).toBe(418);
  });

  it("switches a channel off after a dead key, with the reason (3.6)", async () => {
    await relay.gateway.option("AutomaticDisableChannelEnabled", true);
    const id = await relay.gateway.channel("status-401+dead");
    await relay.ask("status-401+dead");
    await expect
      .poll(async () => (await relay.gateway.root.must<{ status: number }>("GET", `/api/channel/${id}`)).status)
      .toBe(3);
    const again = await relay.ask("status-401+dead");
    expect(again.status).toBe(503);
    expect((await readError(again)).code).toBe("no_available_channel");
    await relay.gateway.option("AutomaticDisableChannelEnabled", false);
  });
});
