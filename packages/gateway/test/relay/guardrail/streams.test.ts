import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { CLOSE, HANG, SECRET, readStreamText, useGuardrail } from "./guardrail-webhook.ts";
import { seeded } from "../../management/fuzz-values.ts";
import { books, chat, consumeRows, splitEvents, startRelayApp, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const guardrail = useGuardrail(relay);
const { set, findConsumeRow } = guardrail;

const post = (path: string, body: object) => relay.gateway.post(path, body, relay.key);
const contents = [{ role: "user", parts: [{ text: "hi" }] }];

beforeAll(async () => {
  await relay.gateway.channel("judged,long-300,long-60+slow-10,long-20000,cut-after-3,tools,no-usage+tools");
});

describe("windows of a stream", () => {
  it("are judged in order with the text before them, and leave unchanged", async () => {
    await set({ GuardrailPhases: "answer", GuardrailStreamChars: 100 });
    const stream = await relay.ask("long-300", { stream: true });
    const events = splitEvents(await stream.text());
    const text = Array.from({ length: 300 }, (_, at) => ` word${at % 10}`).join("");
    expect(guardrail.webhook.questions.map((question) => question.text).join("")).toBe(text);
    expect(guardrail.webhook.questions.map(({ window }) => window)).toEqual([...guardrail.webhook.questions.keys()]);
    expect(guardrail.webhook.questions.length).toBeGreaterThan(1);
    for (const [at, { context }] of guardrail.webhook.questions.entries()) {
      const before = guardrail.webhook.questions.slice(0, at).map((question) => question.text);
      expect(context).toBe(before.join("").slice(-100));
    }
    expect(events.at(-1)).toBe("data: [DONE]");
    expect(events.filter((event) => event.includes("word"))).toHaveLength(300);
  });

  it("are held until the verdict or the timeout", async () => {
    await set({ GuardrailPhases: "answer", GuardrailStreamChars: 100_000, GuardrailStreamMs: 50 });
    let isJudged = false;
    guardrail.webhook.react(async () => {
      await pause(100);
      isJudged = true;
      return { action: "allow" };
    });
    const stream = await relay.ask("long-60+slow-10", { stream: true });
    let seen = "";
    for await (const chunk of stream.body as ReadableStream<Uint8Array>) {
      seen += Buffer.from(chunk).toString();
      if (seen.includes("word")) expect(isJudged).toBe(true);
    }
    expect(seen).toContain("[DONE]");
    expect(guardrail.webhook.questions.length).toBeGreaterThan(2);
  });

  it("end the stream where one is refused: earlier ones are delivered, later ones are not, all usage is billed", async () => {
    await set({ GuardrailPhases: "answer", GuardrailStreamChars: 30 });
    guardrail.webhook.react(({ window }) => ({ action: window < 2 ? "allow" : "block", reason: "bad" }));
    const stream = await relay.ask("long-60+slow-10", { stream: true });
    const text = await stream.text();
    const released = guardrail.webhook.questions.slice(0, 2).map((question) => question.text);
    const delivered = [...text.matchAll(/"content":"( word\d)"/g)].map(([, word]) => word).join("");
    expect(delivered).toBe(released.join(""));
    expect(splitEvents(text).at(-1)).toContain('"code":"answer_blocked"');
    expect(text).not.toContain("[DONE]");
    const row = await findConsumeRow(stream);
    expect(row).toMatchObject({ other: { end_reason: "guardrail", guardrail: "block" } });
    expect(row?.completion_tokens).toBeGreaterThanOrEqual(10);
    expect(row?.completion_tokens).toBeLessThan(120);
  });

  it("separate the answers of one request", async () => {
    await set({ GuardrailPhases: "answer" });
    const piece = (index: number, content: string) =>
      `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`;
    const end = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    relay.gateway.upstream.script("/chat/completions", () => ({
      headers: { "content-type": "text/event-stream" },
      body: piece(0, "for") + piece(1, "x") + piece(0, "bid") + piece(1, "y") + piece(0, "den") + end,
    }));
    await (await relay.ask("judged", { stream: true, n: 2 })).text();
    expect(guardrail.webhook.questions.map(({ text }) => text)).toEqual(["forbidden\nxy"]);
  });

  it("judge calls of tools", async () => {
    guardrail.webhook.react(({ phase, text }) => ({
      action: phase === "answer" && text.includes("Paris") ? "block" : "allow",
    }));
    const tools = [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }];
    expect((await relay.ask("tools", { tools })).status).toBe(400);
    const stream = await relay.ask("tools", { tools, stream: true });
    const text = await stream.text();
    expect(text).toContain("answer_blocked");
    expect(text).not.toContain("[DONE]");
    for (const model of ["tools", "no-usage+tools"]) {
      const google = await post(`/v1beta/models/${model}:streamGenerateContent?alt=sse`, { contents });
      const text = await readStreamText(google);
      expect(text).toContain("refused by the content policy");
      expect(text).not.toContain("Paris");
      expect((await findConsumeRow(google))?.completion_tokens).toBeGreaterThan(0);
    }
  });

  it("are dropped when the upstream breaks off", async () => {
    await set({ GuardrailPhases: "answer" });
    const stream = await relay.ask("cut-after-3", { stream: true });
    const text = await stream.text();
    expect(text).toContain("upstream_stream_interrupted");
    expect(text).not.toContain("Hello");
    expect(await findConsumeRow(stream)).toMatchObject({ other: { end_reason: "upstream_cut" } });
  });

  it("are judged when many bytes are held, however short their text", async () => {
    await set({ GuardrailPhases: "answer", GuardrailStreamChars: 100_000, GuardrailStreamMs: 30_000 });
    const stream = await relay.ask("long-20000", { stream: true });
    expect(splitEvents(await stream.text()).filter((event) => event.includes("word"))).toHaveLength(20_000);
    // The limits of text and time alone would lead to two windows.
    expect(guardrail.webhook.questions.length).toBeGreaterThan(9);
  });

  it("pause the upstream when many bytes are held", async () => {
    await set({ GuardrailPhases: "answer", GuardrailStreamChars: 1000 });
    guardrail.webhook.react(async () => {
      await pause(5);
      return { action: "allow" };
    });
    const stream = await relay.ask("long-20000", { stream: true });
    expect(splitEvents(await stream.text()).filter((event) => event.includes("word"))).toHaveLength(20_000);
  });
});

describe("clients that leave", () => {
  /** Sends a request, leaves when the webhook was called, and returns the row of the charge. */
  const leave = async (model: string) => {
    guardrail.webhook.react(() => HANG);
    const leaving = new AbortController();
    const gone = relay.gateway
      .post("/v1/chat/completions", chat(model, { stream: true }), relay.key, { signal: leaving.signal })
      .then(readStreamText, (error: Error) => error.name);
    while (guardrail.webhook.questions.length === 0) await pause(10);
    leaving.abort();
    await gone;
    const since = performance.now();
    while (guardrail.webhook.left === 0) await pause(10);
    expect(performance.now() - since).toBeLessThan(2_500);
    await relay.gateway.settled();
    return (await consumeRows(relay.gateway, guardrail.webhook.questions[0]?.request_id))[0];
  };

  it("abort the webhook call while a window is judged, and pay for what was used", async () => {
    await set({ GuardrailPhases: "answer", GuardrailStreamChars: 10 });
    const row = await leave("long-60+slow-10");
    expect(row).toMatchObject({ other: { end_reason: "client_abort" } });
    expect(row?.completion_tokens).toBeGreaterThan(0);
    expect(row?.completion_tokens).toBeLessThan(120);
  });

  it("pay for the whole answer once while its end is judged", async () => {
    await set({ GuardrailPhases: "answer" });
    expect(await leave("judged")).toMatchObject({ prompt_tokens: 20, completion_tokens: 10 });
  });
});

describe("answers that an upstream stores", () => {
  it("cannot be fetched when they were refused", async () => {
    let id = "";
    guardrail.webhook.react(({ phase }) => ({ action: phase === "answer" ? "block" : "allow" }));
    relay.gateway.upstream.script("/responses", () => {
      id = "resp_blocked_1";
      const output = [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "bad" }] }];
      const usage = { input_tokens: 20, output_tokens: 10, total_tokens: 30 };
      return { body: { id, object: "response", status: "completed", model: "judged", output, usage } };
    });
    expect((await post("/v1/responses", { model: "judged", input: "hi" })).status).toBe(400);
    const get = () =>
      fetch(`${relay.gateway.url}/v1/responses/${id}`, { headers: { authorization: `Bearer ${relay.key}` } });
    expect((await get()).status).toBe(404);
    guardrail.webhook.react(() => ({ action: "allow" }));
    expect((await post("/v1/responses", { model: "judged", input: "hi" })).status).toBe(200);
    relay.gateway.upstream.script(`/responses/${id}`, () => ({ body: { id } }));
    expect((await get()).status).toBe(200);
  });
});

describe("whatever happens", () => {
  it("each request is charged once, and no reservation remains", async () => {
    const next = seeded(7);
    await set({ GuardrailStreamChars: 20, GuardrailTimeoutMs: 50, GuardrailOnFailure: "block" });
    guardrail.webhook.react(async () => {
      await pause(next() * 20);
      const at = next();
      return at < 0.1 ? { action: "block" } : at < 0.15 ? HANG : at < 0.2 ? CLOSE : { action: "allow" };
    });
    const sendOne = async () => {
      const leaving = new AbortController();
      if (next() < 0.2) setTimeout(() => leaving.abort(), next() * 200);
      const model = ["judged", "long-60+slow-10", "cut-after-3", "no-usage+tools"][Math.floor(next() * 4)] ?? "judged";
      const body = chat(model, { stream: next() < 0.7 });
      const response = await relay.gateway
        .post("/v1/chat/completions", body, relay.key, { signal: leaving.signal })
        .catch(() => undefined);
      if (response) await readStreamText(response);
    };
    await Promise.all(Array.from({ length: 80 }, sendOne));
    await relay.gateway.settled();
    const twice = "select count(*) as n from (select request_id from ledger group by request_id having count(*) > 1) t";
    const [row] = await relay.gateway.database.raw.rows<{ n: number }>(twice, []);
    expect(Number(row?.n)).toBe(0);
  });
});

describe("a stop", () => {
  it("waits for verdicts, and charges answers that it cuts off", async () => {
    const app = await startRelayApp({ FAIRWAY_DRAIN_SECONDS: "4" });
    const options = { GuardrailUrl: guardrail.webhook.url, GuardrailSecret: SECRET, GuardrailOnFailure: "block" };
    for (const [key, value] of Object.entries({ ...options, GuardrailStreamChars: 10, GuardrailEnabled: true }))
      await app.option(key, value);
    await app.channel("judged,long-600+slow-20");
    const key = await app.token();
    guardrail.webhook.react(async ({ phase }) => {
      await pause(phase === "prompt" ? 300 : 10);
      return { action: "allow" };
    });
    const send = (model: string, stream: boolean) => app.post("/v1/chat/completions", chat(model, { stream }), key);
    const stream = send("long-600+slow-20", true).then(readStreamText);
    while (guardrail.webhook.questions.length < 3) await pause(10);
    const whole = send("judged", false).then(async (response) => [response.status, await response.text()]);
    while (!guardrail.webhook.questions.some(({ model }) => model === "judged")) await pause(10);
    await app.app.stop();
    expect(await whole).toEqual([200, expect.stringContaining("upstream") as string]);
    expect(await stream).toContain("server_shutdown");
    const rows = await consumeRows(app);
    expect(rows.map(({ other }) => other["end_reason"])).toEqual(["stop", "server_shutdown"]);
    expect(await books(app)).toMatchObject({ held: 0, holds: 0 });
    await app.close();
  });
});
