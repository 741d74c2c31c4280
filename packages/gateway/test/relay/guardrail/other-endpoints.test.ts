import { beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { useGuardrail } from "./guardrail-webhook.ts";
import { useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const guardrail = useGuardrail(relay);
const post = (path: string, body: object) => relay.gateway.post(path, body, relay.key);

beforeAll(async () => {
  await relay.gateway.channel("mj_imagine", { type: 2 });
  await relay.gateway.channel("suno_music,suno_lyrics", { type: 36 });
  await relay.gateway.channel("spoken");
});

describe("tasks", () => {
  it.each([
    ["/mj/submit/imagine", { prompt: "a cat" }, { dialect: "midjourney", model: "mj_imagine", text: "a cat" }],
    [
      "/suno/submit/MUSIC",
      { prompt: "la la", title: "Song" },
      { dialect: "suno", model: "suno_music", text: "la la\nSong" },
    ],
  ])("%s: the prompt is judged before anything is sent", async (path, body, asked) => {
    guardrail.webhook.react(() => ({ action: "block", reason: "no" }));
    const refused = await post(path, body);
    expect(await refused.text()).toContain("refused by the content policy");
    expect(refused.status).toBe(400);
    expect(relay.gateway.upstream.requests).toHaveLength(0);
    const whose = { phase: "prompt", operation: "task", group: "default" };
    expect(guardrail.webhook.questions[0]).toMatchObject({ ...whose, ...asked });
    guardrail.webhook.react(() => ({ action: "allow" }));
    await post(path, body);
    expect(relay.gateway.upstream.requests).toHaveLength(1);
    await guardrail.set({ GuardrailModels: "other" });
    await post(path, body);
    await guardrail.set({ GuardrailModels: "", GuardrailPhases: "answer" });
    await post(path, body);
    expect([guardrail.webhook.questions.length, relay.gateway.upstream.requests.length]).toEqual([2, 3]);
  });
});

describe("realtime", () => {
  const open = () =>
    new Promise<string>((resolve) => {
      const url = `${relay.gateway.url.replace("http", "ws")}/v1/realtime?model=spoken`;
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${relay.key}` } });
      socket.on("open", () => {
        socket.close();
        resolve("open");
      });
      socket.on("error", () => undefined);
      socket.on("unexpected-response", (_request, response) => {
        response.resume();
        resolve(String(response.statusCode));
      });
    });

  it("is refused where nothing may pass without a verdict", async () => {
    expect(await open()).toBe("403");
    await guardrail.set({ GuardrailOnFailure: "allow" });
    expect(await open()).toBe("open");
    await guardrail.set({ GuardrailOnFailure: "block", GuardrailModels: "other" });
    expect(await open()).toBe("open");
    expect(guardrail.webhook.questions).toHaveLength(0);
  });
});

describe("the playground", () => {
  it("is judged like calls with a key", async () => {
    guardrail.webhook.react(() => ({ action: "block" }));
    const answer = await fetch(`${relay.gateway.url}/pg/chat/completions`, {
      method: "POST",
      headers: { ...relay.gateway.root.headers, "content-type": "application/json" },
      body: JSON.stringify({ model: "spoken", messages: [{ role: "user", content: "hi" }], stream: true }),
    });
    expect([answer.status, guardrail.webhook.questions[0]?.token.id]).toEqual([400, 0]);
  });
});

describe("upstreams that answer in another shape", () => {
  it.each([
    ["json-for-stream", true],
    ["sse-for-plain", false],
  ])("%s", async (model, stream) => {
    await relay.gateway.channel(model);
    const ask = () => relay.ask(model, { stream });
    expect(await (await ask()).text()).toContain("upstream");
    expect(guardrail.webhook.questions.map(({ phase }) => phase)).toEqual(["prompt", "answer"]);
    guardrail.webhook.react(({ phase }) => ({ action: phase === "answer" ? "block" : "allow" }));
    const refused = await (await ask()).text();
    expect(refused).toContain("answer_blocked");
    expect(refused).not.toContain("fake upstream");
  });
});
