import { NORMAL_TEXT } from "@fairway/testkit";
import { messageText } from "@fairway/wire";
import { beforeAll, describe, expect, it } from "vitest";
import { CLOSE, HANG, SECRET, readStreamText, useGuardrail } from "./guardrail-webhook.ts";
import { readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const guardrail = useGuardrail(relay);
const { set, findConsumeRow } = guardrail;

const post = (path: string, body: object) => relay.gateway.post(path, body, relay.key);

beforeAll(async () => {
  await relay.gateway.channel("judged");
  await relay.gateway.channel("claude-judged", { type: 14 });
  await relay.gateway.channel("gemini-judged", { type: 24 });
});

describe("switching on", () => {
  it.each(["GuardrailUrl", "GuardrailSecret", "GuardrailOnFailure"])("needs %s", async (key) => {
    await set({ GuardrailEnabled: false });
    await set({ [key]: "" });
    const answer = await relay.gateway.root.call("PUT", "/api/option/", { key: "GuardrailEnabled", value: "true" });
    expect(answer).toMatchObject({ success: false, message: messageText("guardrail_not_configured") });
  });

  it("does not judge requests while it is off, nor those outside its lists", async () => {
    await set({ GuardrailModels: "other\nnot-*", GuardrailGroups: "default" });
    expect((await relay.ask("judged")).status).toBe(200);
    await set({ GuardrailModels: "jud*", GuardrailGroups: "vip" });
    expect((await relay.ask("judged")).status).toBe(200);
    await set({ GuardrailEnabled: false });
    expect((await relay.ask("judged")).status).toBe(200);
    expect(guardrail.webhook.questions).toHaveLength(0);
    await set({ GuardrailEnabled: true });
    await set({ GuardrailModels: "jud*", GuardrailGroups: "default\nvip" });
    expect((await relay.ask("judged")).status).toBe(200);
    expect(guardrail.webhook.questions).toHaveLength(2);
  });

  it("never shows the secret", async () => {
    const options = await relay.gateway.root.must<{ key: string }[]>("GET", "/api/option/");
    expect(JSON.stringify(options)).not.toContain(SECRET);
    expect(options.map(({ key }) => key)).not.toContain("GuardrailSecret");
  });
});

describe("the question", () => {
  it("contains the caller and the text, signed", async () => {
    const response = await relay.ask("judged", {
      messages: [
        { role: "system", content: "be kind" },
        { role: "user", content: [{ type: "text", text: "hello" }] },
      ],
    });
    const [prompt, answer] = guardrail.webhook.questions;
    const whose = {
      version: 1,
      request_id: response.headers.get("x-request-id"),
      operation: "chat",
      dialect: "openai-chat",
      model: "judged",
      group: "default",
      user: { id: 1, name: "root" },
      token: { id: expect.any(Number) as number, name: "test" },
      stream: false,
      window: 0,
      context: "",
    };
    expect(prompt).toEqual({ ...whose, phase: "prompt", text: "be kind\nhello" });
    expect(answer).toEqual({ ...whose, phase: "answer", text: NORMAL_TEXT });
    expect(guardrail.webhook.isSigned).toBe(true);
    expect(guardrail.webhook.heads[0]).toMatchObject({ "content-type": "application/json", "user-agent": "fairway" });
  });

  it("is sent for the selected phases", async () => {
    await set({ GuardrailPhases: "prompt" });
    await relay.ask("judged");
    await set({ GuardrailPhases: "answer" });
    await relay.ask("judged");
    expect(guardrail.webhook.questions.map(({ phase }) => phase)).toEqual(["prompt", "answer"]);
  });
});

interface Dialect {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  /** Matches a regular end. */
  readonly end: RegExp | undefined;
  readonly streamPath?: string;
}

const contents = [{ role: "user", parts: [{ text: "hi" }] }];
const messages = [{ role: "user", content: "hi" }];
const DIALECTS: readonly Dialect[] = [
  { name: "chat", path: "/v1/chat/completions", body: { model: "judged", messages }, end: /\[DONE\]/ },
  { name: "completions", path: "/v1/completions", body: { model: "judged", prompt: "hi" }, end: /\[DONE\]/ },
  { name: "responses", path: "/v1/responses", body: { model: "judged", input: "hi" }, end: /response\.completed/ },
  {
    name: "messages",
    path: "/v1/messages",
    body: { model: "claude-judged", max_tokens: 50, messages },
    end: /message_stop/,
  },
  {
    name: "messages on chat",
    path: "/v1/messages",
    body: { model: "judged", max_tokens: 50, messages },
    end: /message_stop/,
  },
  {
    name: "gemini",
    path: "/v1beta/models/gemini-judged:generateContent",
    streamPath: "/v1beta/models/gemini-judged:streamGenerateContent?alt=sse",
    body: { contents },
    end: /"finishReason"/,
  },
  {
    name: "gemini on chat",
    path: "/v1beta/models/judged:generateContent",
    streamPath: "/v1beta/models/judged:streamGenerateContent?alt=sse",
    body: { contents },
    end: /"finishReason"/,
  },
];
const plain = ({ path, body }: Dialect) => post(path, body);
const streamed = ({ path, streamPath, body }: Dialect) =>
  streamPath ? post(streamPath, body) : post(path, { ...body, stream: true });

describe.each(DIALECTS)("$name", (dialect) => {
  it("delivers the same bytes, whole and streamed, when everything is allowed", async () => {
    const variable = /[\w-]*fake-\d+|[a-z]+_[\w-]*\d+|\d{10}/g;
    const both = async () => [
      (await (await plain(dialect)).text()).replace(variable, ""),
      (await (await streamed(dialect)).text()).replace(variable, ""),
    ];
    const judged = await both();
    const asked = guardrail.webhook.questions.filter(({ phase }) => phase === "answer").map(({ text }) => text);
    expect(asked).toEqual([NORMAL_TEXT, NORMAL_TEXT]);
    await set({ GuardrailEnabled: false });
    expect(await both()).toEqual(judged);
  });

  it("refuses a prompt before the upstream is called, without a charge", async () => {
    guardrail.webhook.react(({ phase }) => ({
      action: phase === "prompt" ? "block" : "allow",
      reason: "secret reason",
    }));
    for (const ask of [plain, streamed]) {
      const response = await ask(dialect);
      const text = await response.text();
      expect([response.status, await findConsumeRow(response)]).toEqual([400, undefined]);
      expect(text).toContain("The prompt was refused by the content policy.");
      expect(text).not.toContain("secret reason");
    }
    expect(relay.gateway.upstream.requests).toHaveLength(0);
    expect(relay.gateway.logLines()).toContain("secret reason");
  });

  it("refuses an answer in the client's protocol, and bills what the upstream used", async () => {
    guardrail.webhook.react(({ phase }) => ({ action: phase === "answer" ? "block" : "allow", reason: "too rude" }));
    const whole = await plain(dialect);
    expect([whole.status, await whole.text()]).toEqual([
      400,
      expect.stringContaining("The answer was refused by the content policy.") as string,
    ]);
    const stream = await streamed(dialect);
    const text = await readStreamText(stream);
    expect(stream.status).toBe(200);
    expect(text).toContain("The answer was refused by the content policy.");
    expect(text).not.toContain("upstream.");
    if (dialect.end) expect(text).not.toMatch(dialect.end);
    for (const response of [whole, stream]) {
      expect(await findConsumeRow(response)).toMatchObject({
        prompt_tokens: 20,
        completion_tokens: 10,
        other: {
          end_reason: "guardrail",
          usage_source: "upstream",
          guardrail: "block",
          admin_info: { guardrail_reason: "too rude" },
        },
      });
    }
  });

  it("refuses or passes requests without a verdict, as configured", async () => {
    await set({ GuardrailTimeoutMs: 60 });
    guardrail.webhook.react(({ phase }) => (phase === "prompt" ? { action: "allow" } : HANG));
    const closed = await plain(dialect);
    expect([closed.status, await closed.text()]).toEqual([503, expect.stringContaining("cannot be checked") as string]);
    expect(await readStreamText(await streamed(dialect))).toContain("cannot be checked");
    guardrail.webhook.react(() => HANG);
    expect((await plain(dialect)).status).toBe(503);
    await set({ GuardrailOnFailure: "allow" });
    const open = await plain(dialect);
    expect([open.status, await open.text()]).toEqual([200, expect.stringContaining("fake upstream") as string]);
    expect(await findConsumeRow(open)).toMatchObject({ other: { end_reason: "stop", guardrail: "failed" } });
    const stream = await streamed(dialect);
    expect(await readStreamText(stream)).toMatch(dialect.end as RegExp);
    expect(await findConsumeRow(stream)).toMatchObject({
      other: { guardrail: "failed", admin_info: { guardrail_reason: "no answer within 60 ms" } },
    });
  });
});

describe("a missing verdict", () => {
  it.each([
    ["another status", { status: 500 }],
    ["a redirect", { status: 302, location: "http://127.0.0.1:1/" }],
    ["no JSON", "yes"],
    ["another action", { action: "replace" }],
    ["a long answer", "x".repeat(70_000)],
  ])("%s", async (_name, reaction) => {
    guardrail.webhook.react(() => reaction);
    const response = await relay.ask("judged");
    expect([response.status, (await readError(response)).code]).toEqual([503, "guardrail_unavailable"]);
  });

  it("a closed connection, twice", async () => {
    let closed = 0;
    guardrail.webhook.react(() => (closed++ % 2 === 0 ? CLOSE : { action: "allow" }));
    expect((await relay.ask("judged")).status).toBe(200);
    guardrail.webhook.react(() => CLOSE);
    expect((await relay.ask("judged")).status).toBe(503);
  });

  it("an address without a server, of cloud credentials, or none any more", async () => {
    for (const url of ["http://127.0.0.1:1", "http://169.254.169.254/latest", ""]) {
      await set({ GuardrailUrl: url });
      expect((await relay.ask("judged")).status).toBe(503);
    }
    const metrics = await (await fetch(`${relay.gateway.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/fairway_guardrail_verdicts_total\{phase="prompt",verdict="failed"\} \d+/);
    expect(metrics).toMatch(/fairway_guardrail_verdicts_total\{phase="answer",verdict="block"\} \d+/);
    expect(metrics).toMatch(/fairway_guardrail_duration_seconds_count\{phase="answer"\} \d+/);
    expect(relay.gateway.logLines()).toContain("the guardrail gave no verdict");
  });
});

it("that gives no verdicts makes one event, and one slow verdict none", async () => {
  const heard = () =>
    relay.gateway.database.db.selectFrom("events").selectAll().where("type", "=", "guardrail.failing").execute();
  const fails = async (calls: number) => {
    guardrail.webhook.react(() => ({ status: 500 }));
    for (let call = 0; call < calls; call += 1) expect((await relay.ask("judged")).status).toBe(503);
    guardrail.webhook.react(() => ({ action: "allow" }));
    expect((await relay.ask("judged")).status).toBe(200);
  };
  await fails(0);
  await relay.gateway.database.db.deleteFrom("events").execute();
  await fails(2);
  await fails(2);
  expect(await heard()).toEqual([]);
  await fails(5);
  await expect.poll(heard).toMatchObject([{ severity: "critical", user_id: 0 }]);
  expect(JSON.parse((await heard())[0]?.data ?? "")).toEqual({ reason: "status 500", on_failure: "block" });
});

describe("other operations", () => {
  it.each([
    ["/v1/embeddings", { input: ["one", "two"] }, "one\ntwo"],
    ["/v1/moderations", { input: "one" }, "one"],
    ["/v1/rerank", { query: "one", documents: ["two"] }, "one\ntwo"],
    ["/v1/images/generations", { prompt: "one" }, "one"],
    ["/v1/audio/speech", { input: "one", voice: "alloy" }, "one"],
  ])("%s is judged by its input alone", async (path, body, text) => {
    const response = await post(path, { model: "judged", ...body });
    expect([response.status, guardrail.webhook.questions.map((one) => [one.phase, one.text])]).toEqual([
      200,
      [["prompt", text]],
    ]);
    await response.arrayBuffer();
    guardrail.webhook.react(() => ({ action: "block" }));
    expect((await post(path, { model: "judged", ...body })).status).toBe(400);
  });
});
