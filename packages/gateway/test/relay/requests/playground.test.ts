import { describe, expect, it } from "vitest";
import { splitEvents, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

const send = (body: object) =>
  fetch(`${relay.gateway.url}/pg/chat/completions`, {
    method: "POST",
    headers: { ...relay.gateway.root.headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** A body as consoles of compatible gateways send it. */
const body = (model: string) => ({
  model,
  group: "",
  max_tokens: 0,
  temperature: 0,
  stream: true,
  messages: [{ role: "user", content: "hi", id: "m1", createAt: 1_700_000_000_000 }],
});

const chunks = (text: string) =>
  splitEvents(text)
    .filter((event) => event !== "data: [DONE]")
    .map((event) => JSON.parse(event.slice("data: ".length)) as { choices: { delta: unknown }[]; error?: object });

describe("the playground of a console", () => {
  it("sends only members that upstreams accept", async () => {
    await relay.gateway.channel("plain");
    expect((await send(body("plain"))).status).toBe(200);
    const sent = String(relay.gateway.upstream.requests.at(-1)?.body);
    expect(JSON.parse(sent)).toMatchObject({ temperature: 0, messages: [{ role: "user", content: "hi" }] });
    expect(sent).not.toMatch(/createAt|"id"|"group"|max_tokens/);
  });

  it("sends events that all have choices with a delta", async () => {
    await relay.gateway.channel("nodelta");
    relay.gateway.upstream.script("/chat/completions", () => {
      const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
      const events = [
        { ...chunk, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] },
        { ...chunk, choices: [{ index: 0, delta: null, finish_reason: "stop" }] },
        { ...chunk, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
      ];
      const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      return { headers: { "content-type": "text/event-stream" }, body: `${text}data: [DONE]\n\n` };
    });
    const text = await (await send(body("nodelta"))).text();
    expect(text).not.toContain(": ping");
    for (const { choices } of chunks(text)) for (const { delta } of choices) expect(delta).not.toBeNull();
  });

  it("sends keep-alives and errors that have choices", async () => {
    await relay.gateway.channel("slow-300+cut-after-2");
    const text = await (await send(body("slow-300+cut-after-2"))).text();
    expect(text).not.toContain(": ping");
    const all = chunks(text);
    expect(all.every(({ choices }) => Array.isArray(choices))).toBe(true);
    expect(all.at(-1)).toMatchObject({ choices: [], error: { code: "upstream_stream_interrupted" } });
  });
});
