import { describe, expect, it } from "vitest";
import { chat, consumeRows, readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

describe("pass-through", () => {
  it("sends the client's bytes unchanged, unknown fields and number spelling included", async () => {
    await relay.gateway.channel("bytes");
    const body =
      '{ "model":"bytes", "temperature": 0, "top_p":1.0, "big":12345678901234567890, "new_field":{"a":[1.50]},"messages":[{"role":"user","content":"hi"}] }';
    const response = await relay.gateway.post("/v1/chat/completions", body, relay.key);
    expect(response.status).toBe(200);
    expect(relay.gateway.upstream.requests[0]?.body.toString()).toBe(body);
  });

  it("returns the answer byte for byte without the operator's headers (6.7)", async () => {
    await relay.gateway.channel("whole");
    const answer =
      '{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"1.0"},"finish_reason":"stop"}],"big":12345678901234567890,"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}';
    relay.gateway.upstream.script("/chat/completions", () => ({
      headers: {
        "content-type": "application/json",
        "set-cookie": "a=b",
        "openai-organization": "org-secret",
        server: "upstream",
        "x-request-id": "req_up",
      },
      body: answer,
    }));
    const response = await relay.ask("whole");
    expect(await response.text()).toBe(answer);
    for (const name of ["set-cookie", "openai-organization", "server"]) expect(response.headers.has(name)).toBe(false);
    expect(response.headers.get("x-request-id")).not.toBe("req_up");
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row).toMatchObject({
      prompt_tokens: 3,
      completion_tokens: 2,
      other: { admin_info: { upstream_request_id: "req_up" } },
    });
  });

  it("never shows the client's credentials to the upstream, nor the upstream's to the client", async () => {
    await relay.gateway.channel("secretive", { key: "sk-upstream-secret-0123456789" });
    const response = await relay.gateway.post("/v1/chat/completions", chat("secretive"), relay.key, {
      headers: {
        authorization: `Bearer ${relay.key}`,
        cookie: "session=1",
        "x-forwarded-for": "1.2.3.4",
        origin: "https://app.example",
        "content-type": "application/json",
      },
    });
    const [seen] = relay.gateway.upstream.requests;
    expect(seen?.headers.authorization).toBe("Bearer sk-upstream-secret-0123456789");
    expect(JSON.stringify(seen?.headers)).not.toContain(relay.key.slice(3));
    for (const name of ["cookie", "x-forwarded-for", "origin"]) expect(seen?.headers[name]).toBeUndefined();
    expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain("upstream-secret");
  });

  it("bills speech by its characters", async () => {
    await relay.gateway.channel("tts-1");
    const response = await relay.gateway.post(
      "/v1/audio/speech",
      { model: "tts-1", input: "Grüße!", voice: "alloy" },
      relay.key,
    );
    expect(response.headers.get("content-type")).toContain("audio");
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.quota).toBe(45);
  });

  it.each([
    ["/v1/completions", { model: "legacy", prompt: "once" }],
    ["/v1/embeddings", { model: "legacy", input: ["a", "b"] }],
    ["/v1/responses", { model: "legacy", input: "hi" }],
    ["/v1/moderations", { model: "legacy", input: "hi" }],
  ])("serves %s and charges it", async (path, body) => {
    await relay.gateway.channel("legacy");
    const response = await relay.gateway.post(path, body, relay.key);
    expect({ status: response.status, text: await response.clone().text() }).toMatchObject({ status: 200 });
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    expect(row?.model_name).toBe("legacy");
  });
});

describe("moderations without a model", () => {
  const served = async () => {
    const response = await relay.gateway.post("/v1/moderations", { input: "hi" }, relay.key);
    expect(response.status).toBe(200);
    const [row] = await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "");
    const sent = relay.gateway.upstream.requests.at(-1)?.json?.["model"];
    return { charged: row?.model_name, sent };
  };

  it("use the current one, or the older one where the caller's group has only that", async () => {
    const older = "text-moderation-stable";
    const current = "omni-moderation-latest";
    await relay.gateway.channel(older);
    expect(await served()).toEqual({ charged: older, sent: older });
    await relay.gateway.channel(`${current},${older}`);
    expect(await served()).toEqual({ charged: current, sent: current });
  });
});

describe("model lists (10.2)", () => {
  it("speaks the protocol of the caller", async () => {
    await relay.gateway.channel("listed-model");
    const bearer = { authorization: `Bearer ${relay.key}` };
    const openai = (await (await fetch(`${relay.gateway.url}/v1/models`, { headers: bearer })).json()) as {
      object: string;
      data: { id: string }[];
    };
    expect(openai.object).toBe("list");
    expect(openai.data.map(({ id }) => id)).toContain("listed-model");
    const anthropic = (await (
      await fetch(`${relay.gateway.url}/v1/models?limit=1`, {
        headers: { ...bearer, "anthropic-version": "2026-10-21" },
      })
    ).json()) as { data: unknown[]; has_more: boolean };
    expect([anthropic.data.length, anthropic.has_more]).toEqual([1, true]);
    const gemini = (await (await fetch(`${relay.gateway.url}/v1beta/models?key=${relay.key}`)).json()) as {
      models: { name: string }[];
    };
    expect(gemini.models.map(({ name }) => name)).toContain("models/listed-model");
    const one = await fetch(`${relay.gateway.url}/v1/models/not-there`, { headers: bearer });
    expect(one.status).toBe(404);
  });

  it("shows only models that the key may use", async () => {
    const limited = await relay.gateway.token({ model_limits_enabled: true, model_limits: "listed-model" });
    const list = (await (
      await fetch(`${relay.gateway.url}/v1/models`, { headers: { authorization: `Bearer ${limited}` } })
    ).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(["listed-model"]);
    const refused = await relay.gateway.post("/v1/chat/completions", chat("quiet"), limited);
    expect([refused.status, (await readError(refused)).code]).toEqual([403, "model_not_allowed"]);
  });
});

describe("browsers", () => {
  it("may call the relay from anywhere, without credentials (10.3)", async () => {
    const preflight = await fetch(`${relay.gateway.url}/v1/chat/completions`, {
      method: "OPTIONS",
      headers: { origin: "https://app.example", "access-control-request-headers": "authorization, x-stainless-os" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-headers")).toContain("x-stainless-os");
    const refused = await fetch(`${relay.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { origin: "https://app.example" },
      body: "{}",
    });
    expect(refused.headers.get("access-control-allow-origin")).toBe("*");
    expect(refused.headers.get("access-control-allow-credentials")).toBeNull();
  });
});

describe("balance reads", () => {
  it("work for old clients (10.5)", async () => {
    const token = await relay.gateway.token({ unlimited_quota: false, remain_quota: 1_000_000 });
    const bearer = { authorization: `Bearer ${token}` };
    expect(
      await (await fetch(`${relay.gateway.url}/v1/dashboard/billing/subscription`, { headers: bearer })).json(),
    ).toMatchObject({ object: "billing_subscription", hard_limit_usd: 2, access_until: 0 });
    expect(await (await fetch(`${relay.gateway.url}/dashboard/billing/usage`, { headers: bearer })).json()).toEqual({
      object: "list",
      total_usage: 0,
    });
  });
});
