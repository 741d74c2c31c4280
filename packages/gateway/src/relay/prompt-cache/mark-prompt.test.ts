import { describe, expect, it } from "vitest";
import { createChannelRecord, createRequestSpec } from "../../../test/kit/provider-kit.ts";
import type { DialectId, JsonObject } from "../../dialects/core/types.ts";
import { createPriceBook } from "../../billing/pricing/price-book.ts";
import { parseOptions } from "@fairway/wire";
import { providerByType } from "../../providers/registry.ts";
import type { ProviderAdapter } from "../../providers/core/types.ts";
import { jsonBody } from "../body/read-body.ts";
import type { RelayRequest } from "../request/request.ts";
import { markPrompt } from "./mark-prompt.ts";
import { createSeenPrefixes } from "./seen-prefixes.ts";

const CLAUDE = "claude-sonnet-4-5";
const LONG = "A long rule. ".repeat(500);
const SHORT = { type: "ephemeral" };
let now = 1_000_000;

function startCaching(options: Record<string, string> = {}) {
  const prefixes = createSeenPrefixes({ now: () => now }, () => {});
  const snapshot = {
    options: parseOptions(Object.entries(options).map(([key, value]) => ({ key, value }))),
    prices: createPriceBook(),
  };
  return { prefixes, current: () => snapshot };
}

interface Case {
  readonly body: object;
  readonly setting?: JsonObject;
  readonly header?: string;
  readonly token?: "off" | "auto" | "always";
  readonly dialect?: DialectId;
  readonly model?: string;
  readonly type?: number;
  readonly caching?: ReturnType<typeof startCaching>;
}

/** Returns the body that is sent and the note; the body is undefined if every byte stays. */
function mark({
  body,
  setting = {},
  header,
  token,
  dialect = "anthropic-messages",
  model = CLAUDE,
  type = 14,
  caching,
}: Case) {
  const bytes = Buffer.from(JSON.stringify(body));
  const request = {
    spec: createRequestSpec({ model }),
    body: jsonBody(bytes),
    caller: { userId: 7, ...(token && { promptCache: token }) },
    clientHeaders: header === undefined ? {} : { "x-fairway-prompt-cache": header },
  } as unknown as RelayRequest;
  const channel = createChannelRecord({ id: 3, type, setting });
  const plan = { provider: providerByType(type) as ProviderAdapter, route: { dialect } };
  const target = { channel, plan, upstreamModel: model };
  const marked = markPrompt(bytes, request, target, { caching: caching ?? startCaching(), now });
  return {
    sent: marked && (JSON.parse(marked.bytes.toString()) as JsonObject),
    note: marked?.note,
    bytes: marked?.bytes,
  };
}

const ALWAYS = { prompt_cache: "always" };
const AUTO = { prompt_cache: "auto" };
const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });

describe("who chooses", () => {
  const body = { model: CLAUDE, system: LONG, messages: [user("hi")] };
  it.each([
    ["the token marks where the channel does not", { token: "always" }, true],
    ["the token leaves out the marks of the channel", { setting: ALWAYS, token: "off" }, false],
    ["the header goes before the token", { token: "auto", header: "always" }, true],
    ["the header leaves out the marks of the token", { token: "always", header: "off" }, false],
    ["the header does not lift what the token forbids", { setting: ALWAYS, token: "off", header: "always" }, false],
  ] as const)("%s", (_title, choice, isMarked) => {
    expect(mark({ body, ...choice }).note !== undefined).toBe(isMarked);
  });
});

describe("marks of the Messages protocol", () => {
  it("end the tools, the system text and the last turn, and every other byte stays", () => {
    const body = {
      model: CLAUDE,
      tools: [{ name: "a" }, { name: "b", input_schema: {} }],
      system: LONG,
      messages: [user("hi"), assistant("yes?"), user([{ type: "text", text: "go" }])],
      top_k: 1.0,
    };
    const { sent, note } = mark({ body, setting: ALWAYS });
    expect(note).toEqual({ n: 3, ttl: "5m", why: "always" });
    expect(sent).toEqual({
      ...body,
      tools: [{ name: "a" }, { name: "b", input_schema: {}, cache_control: SHORT }],
      system: [{ type: "text", text: LONG, cache_control: SHORT }],
      messages: [user("hi"), assistant("yes?"), user([{ type: "text", text: "go", cache_control: SHORT }])],
    });
  });

  it("live an hour on tools and system text only", () => {
    const body = { system: [{ type: "text", text: LONG }], messages: [user("hi")] };
    const { sent, note } = mark({ body, setting: { ...ALWAYS, prompt_cache_ttl: "1h" } });
    expect(note).toEqual({ n: 2, ttl: "1h", why: "always" });
    expect(sent?.["system"]).toEqual([{ type: "text", text: LONG, cache_control: { ...SHORT, ttl: "1h" } }]);
    expect(sent?.["messages"]).toEqual([user([{ type: "text", text: "hi", cache_control: SHORT }])]);
  });

  it("stand on the turn before too if many blocks lie between", () => {
    const blocks = Array.from({ length: 12 }, (_, at) => ({ type: "text", text: `part ${at} ${LONG}` }));
    const messages = [user(blocks), assistant(blocks.slice(0, 7)), user("more")];
    const { sent, note } = mark({ body: { messages }, setting: ALWAYS });
    expect(note?.n).toBe(2);
    const marked = { ...blocks.at(-1), cache_control: SHORT };
    expect(sent?.["messages"]).toMatchObject([user([...blocks.slice(0, -1), marked]), {}, {}]);
  });

  it.each([
    ["a thinking block", [{ type: "thinking", thinking: "…", signature: "s" }]],
    ["an empty text", [{ type: "text", text: " \n" }]],
  ])("never stand on %s", (_what, content) => {
    const { sent, note } = mark({ body: { system: LONG, messages: [user(content)] }, setting: ALWAYS });
    expect(note?.n).toBe(1);
    expect(sent?.["messages"]).toEqual([user(content)]);
  });

  it.each([
    ["the client marked a block", { messages: [user([{ type: "text", text: LONG, cache_control: SHORT }])] }, ALWAYS],
    ["the client marked the request", { cache_control: SHORT, messages: [user(LONG)] }, ALWAYS],
    ["the prefix is too short", { system: "short", messages: [user("hi")] }, ALWAYS],
    ["the channel does not want it", { system: LONG, messages: [user("hi")] }, {}],
    ["the channel is off", { system: LONG, messages: [user("hi")] }, { prompt_cache: "off" }],
  ])("are not set if %s", (_what, body, setting) => {
    expect(mark({ body, setting }).sent).toBeUndefined();
  });
});

describe("marks that are items of their own", () => {
  const POINT = { cachePoint: { type: "default" } };
  const converse = {
    dialect: "private:aws-converse",
    type: 33,
    model: "amazon.nova-pro-v1:0",
    setting: ALWAYS,
  } as const;
  const said = (text: string) => ({ text });
  const RULES = said(LONG);

  it("follow the tools, the system text and the last turn, and every other byte stays", () => {
    const body = {
      messages: [user([said("hi")]), assistant([said("yes?")]), user([said("go")])],
      system: [RULES],
      toolConfig: { tools: [{ toolSpec: { name: "a" } }], toolChoice: { auto: {} } },
    };
    const { sent, note } = mark({ ...converse, body });
    expect(note).toEqual({ n: 3, ttl: "5m", why: "always" });
    expect(sent).toEqual({
      messages: [user([said("hi")]), assistant([said("yes?")]), user([said("go"), POINT])],
      system: [RULES, POINT],
      toolConfig: { tools: [{ toolSpec: { name: "a" } }, POINT], toolChoice: { auto: {} } },
    });
  });

  it("live an hour on tools and system text only", () => {
    const body = { messages: [user([said("hi")])], system: [RULES] };
    const { sent } = mark({ ...converse, body, setting: { ...ALWAYS, prompt_cache_ttl: "1h" } });
    expect(sent).toEqual({
      messages: [user([said("hi"), POINT])],
      system: [RULES, { cachePoint: { type: "default", ttl: "1h" } }],
    });
  });

  it.each([
    ["a thought", { reasoningContent: { reasoningText: said("…") } }],
    ["an empty text", said(" \n")],
  ])("never follow %s", (_what, block) => {
    const { sent, note } = mark({ ...converse, body: { messages: [user([block])], system: [RULES] } });
    expect(note?.n).toBe(1);
    expect(sent?.["messages"]).toEqual([user([block])]);
  });

  it.each([
    ["the client marked a block", { messages: [user([said(LONG), POINT])] }, converse.model],
    ["the prefix is too short", { messages: [user([said("hi")])] }, converse.model],
    ["the model takes none", { messages: [user([RULES])] }, "meta.llama3-70b-instruct-v1:0"],
  ])("are not set if %s", (_what, body, model) => {
    expect(mark({ ...converse, body, model }).sent).toBeUndefined();
  });
});

describe("marks by evidence", () => {
  const body = { system: LONG, messages: [user("hi")] };

  it("are set for a conversation that continues, and for a prefix that comes again within its life", () => {
    const talk = { system: LONG, messages: [user("hi"), assistant("yes?"), user("go")] };
    expect(mark({ body: talk, setting: AUTO }).note?.why).toBe("history");
    const caching = startCaching();
    expect(mark({ body, setting: AUTO, caching }).sent).toBeUndefined();
    const second = mark({ body: { ...body, messages: [user("other")] }, setting: AUTO, caching });
    expect(second.note?.why).toBe("seen");
    expect(mark({ body, setting: AUTO, caching }).bytes).toEqual(mark({ body, setting: AUTO, caching }).bytes);
    now += 301_000;
    expect(mark({ body, setting: AUTO, caching }).sent).toBeUndefined();
  });

  it("follow the client's header before the channel", () => {
    expect(mark({ body, setting: ALWAYS, header: "off" }).sent).toBeUndefined();
    expect(mark({ body, header: "always; ttl=1h" }).note).toEqual({ n: 2, ttl: "1h", why: "always" });
    expect(() => mark({ body, header: "maybe" })).toThrow("off, auto or always");
  });

  it("are set for the operator's models only", () => {
    const caching = startCaching({ PromptCacheModels: "claude-opus\ngpt-" });
    expect(mark({ body, setting: ALWAYS, caching }).sent).toBeUndefined();
    expect(mark({ body, setting: ALWAYS, caching: startCaching({ PromptCacheModels: "claude-so" }) }).note?.n).toBe(2);
  });
});

describe("breakpoints of OpenAI's protocols", () => {
  const at = { prompt_cache_breakpoint: { mode: "explicit" } };

  it("end the system text of chat, and lead the conversation to one cache", () => {
    const body = { messages: [{ role: "developer", content: LONG }, user("hi")] };
    const { sent, note } = mark({ body, setting: ALWAYS, dialect: "openai-chat", model: "gpt-5.6", type: 1 });
    expect(note).toEqual({ n: 1, ttl: "30m", why: "always" });
    expect(sent).toEqual({
      messages: [{ role: "developer", content: [{ type: "text", text: LONG, ...at }] }, user("hi")],
      prompt_cache_key: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    });
  });

  it("end the system part of Responses", () => {
    const body = { input: [{ role: "system", content: [{ type: "input_text", text: LONG }] }, user("hi")] };
    const { sent } = mark({ body, setting: ALWAYS, dialect: "openai-responses", model: "gpt-5.6", type: 1 });
    expect(sent?.["input"]).toEqual([
      { role: "system", content: [{ type: "input_text", text: LONG, ...at }] },
      user("hi"),
    ]);
  });

  it("are left out for older models, which get the key alone, unless the client sends one", () => {
    const body = { messages: [{ role: "system", content: LONG }, user("hi")] };
    const old = { setting: ALWAYS, dialect: "openai-chat", model: "gpt-4o", type: 1 } as const;
    expect(mark({ body, ...old }).note).toEqual({ n: 0, ttl: "30m", why: "key" });
    expect(mark({ body: { ...body, prompt_cache_key: "own" }, ...old }).sent).toBeUndefined();
  });
});

describe("a request that comes again", () => {
  const at = { prompt_cache_breakpoint: { mode: "explicit" } };
  const gpt = { model: "gpt-5.6", type: 1 } as const;
  const nova = { dialect: "private:aws-converse", model: "amazon.nova-pro-v1:0", type: 33 } as const;
  const system = (content: unknown) => ({ role: "system", content });
  const PROTOCOLS = [
    [
      "Messages",
      {},
      { system: LONG, messages: [user("hi")] },
      { system: [{ type: "text", text: LONG, cache_control: SHORT }] },
    ],
    [
      "Converse",
      nova,
      { system: [{ text: LONG }], messages: [user([{ text: "hi" }])] },
      { system: [{ text: LONG }, { cachePoint: { type: "default" } }] },
    ],
    [
      "chat",
      { ...gpt, dialect: "openai-chat" },
      { messages: [system(LONG), user("hi")] },
      { messages: [system([{ type: "text", text: LONG, ...at }]), user("hi")] },
    ],
    [
      "Responses",
      { ...gpt, dialect: "openai-responses" },
      { input: [system(LONG), user("hi")] },
      { input: [system([{ type: "input_text", text: LONG, ...at }]), user("hi")] },
    ],
  ] as const;

  it.each(PROTOCOLS)("has the same bytes in %s each time", (_name, to, body) => {
    const all = Array.from({ length: 3 }, () => mark({ ...to, body, setting: ALWAYS }).bytes?.toString("hex"));
    expect(all[0]).toBeDefined();
    expect(new Set(all).size).toBe(1);
  });

  it.each(PROTOCOLS)("keeps the marks of its client in %s", (_name, to, body, own) => {
    expect(mark({ ...to, body: { ...body, ...own }, setting: ALWAYS }).note?.n ?? 0).toBe(0);
  });

  it("keeps the caching mode that its client chose", () => {
    const body = {
      messages: [system(LONG), user("hi")],
      prompt_cache_options: { mode: "explicit" },
      prompt_cache_key: "k",
    };
    expect(mark({ ...gpt, dialect: "openai-chat", body, setting: ALWAYS }).sent).toBeUndefined();
  });
});
