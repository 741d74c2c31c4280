import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText, objects } from "../../../dialects/core/read.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { findHost, overridden, findHostRules } from "./find-host.ts";
import { filteredFor } from "./host-filter.ts";
import { refusedNames } from "./host-refusals.ts";
import { HOST_RULES, type MessagesHost } from "./host-rules.ts";

const HOSTS = Object.keys(HOST_RULES) as MessagesHost[];
const HI = [{ role: "user", content: "hi" }];
const allBetas = new Set(
  HOSTS.flatMap((host) => {
    const { forward = [], drop = [], rename = {} } = HOST_RULES[host].betas;
    return [...forward, ...drop, ...Object.keys(rename)];
  }),
);
const BETAS = [...allBetas, "fast-mode-2026-02-01", "never-heard-of-2031-01-01"];
const MEMBERS = [
  "context_management",
  "mcp_servers",
  "container",
  "service_tier",
  "inference_geo",
  "speed",
  "output_format",
];
const OF_TOOLS = ["defer_loading", "input_examples", "allowed_callers", "eager_input_streaming"];
const TYPES = [
  "custom",
  "bash_20250124",
  "text_editor_20250728",
  "memory_20250818",
  "computer_20251124",
  "tool_search_tool_bm25_20251119",
  "web_search_20250305",
  "web_search_20260209",
  "web_fetch_20250910",
  "code_execution_20250825",
  "advisor_20260301",
];

function filtered(host: MessagesHost, body: JsonObject, betas: readonly string[] = [], learned?: ReadonlySet<string>) {
  const headers = betas.length === 0 ? {} : { "anthropic-beta": betas.join(",") };
  const found = filteredFor(findHostRules(host, "claude-sonnet-4-6"), { body, headers }, learned);
  return { ...found, betas: found.headers["anthropic-beta"]?.split(",") ?? [] };
}

/** Requests with everything that the rules of a host cover. */
const requests = fc.record({
  betas: fc.uniqueArray(fc.constantFrom(...BETAS), { maxLength: 8 }),
  members: fc.subarray(MEMBERS),
  ofTools: fc.subarray(OF_TOOLS),
  types: fc.subarray(TYPES),
  isScoped: fc.boolean(),
});

function buildBody({ members, ofTools, types, isScoped }: typeof requests extends fc.Arbitrary<infer T> ? T : never) {
  const cache_control = { type: "ephemeral", ...(isScoped && { scope: "global" }) };
  const own = Object.fromEntries(ofTools.map((name) => [name, true]));
  const tools = ["custom", ...types.filter((type) => type !== "custom")].map((type) => ({ type, name: type, ...own }));
  return {
    model: "m",
    max_tokens: 5,
    system: [{ type: "text", text: "s", cache_control }],
    messages: HI,
    tools,
    ...Object.fromEntries(members.map((name) => [name, { a: 1 }])),
  };
}

function listToolNames(body: JsonObject): string[] {
  return objects(body, "tools").map((tool) => `tools:${anyText(tool, "type")}`);
}

/** Betas by the start of their names, with the member that they enable. */
const MEMBER_BY_BETA = [
  ["mcp-client-", "mcp_servers"],
  ["context-management-", "context_management"],
  ["structured-outputs-", "output_format"],
  ["fast-mode-", "speed"],
] as const;

// @weakness Providers' keys: Flags and members of Claude Code reach hosts that refuse them
describe.each(HOSTS)("a request to %s", (host) => {
  const rules = HOST_RULES[host];

  it("has no beta, member, tool or scope that the host refuses, and names each that went", () => {
    fc.assert(
      fc.property(requests, (asked) => {
        const body = buildBody(asked) as JsonObject;
        const after = filtered(host, body, asked.betas);
        for (const beta of after.betas) {
          if (rules.betas.unknown === "drop") expect(rules.betas.forward).toContain(beta);
          expect(rules.betas.drop ?? []).not.toContain(beta);
        }
        for (const name of rules.members.drop ?? [])
          if (!name.includes(".")) expect(after.body).not.toHaveProperty(name);
        for (const name of Object.keys(after.body)) if (rules.members.keep) expect(rules.members.keep).toContain(name);
        const text = JSON.stringify(after.body);
        if (!rules.hasCacheScope) expect(text).not.toContain('"scope"');
        const lost = Object.keys(body).filter((name) => after.body[name] === undefined);
        expect(after.dropped).toEqual(expect.arrayContaining(lost));
        const before = listToolNames(body);
        const left = listToolNames(after.body);
        expect(after.dropped.filter((name) => name.startsWith("tools:"))).toEqual(
          before.filter((name) => !left.includes(name)),
        );
        for (const name of OF_TOOLS)
          if (text.includes(name) !== JSON.stringify(body).includes(name))
            expect(after.dropped).toContain(`tools[].${name}`);
        expect(after.body["messages"]).toBe(body["messages"]);
        // A second application changes nothing.
        expect(filtered(host, after.body, after.betas).dropped).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it.each(BETAS)("has %s under its name there, or names it", (beta) => {
    const { forward = [], rename = {}, drop = [], unknown } = rules.betas;
    const name = rename[beta] ?? beta;
    const isTaken = unknown === "forward" ? !drop.includes(name) : forward.includes(name);
    const after = filtered(host, { messages: HI }, [beta]);
    const isScope = beta.startsWith("prompt-caching-scope-") && !rules.hasCacheScope;
    const isDropped =
      isScope ||
      MEMBER_BY_BETA.some(([start, member]) => beta.startsWith(start) && rules.members.drop?.includes(member) === true);
    if (isTaken && !isDropped) expect(after).toMatchObject({ betas: [name], dropped: [] });
    else expect(after).toMatchObject({ betas: [], dropped: [`anthropic-beta:${beta}`] });
  });
});

it("the vendor's own host gets everything", () => {
  const body = buildBody({
    betas: [],
    members: MEMBERS,
    ofTools: OF_TOOLS,
    types: TYPES,
    isScoped: true,
  }) as JsonObject;
  const after = filtered("anthropic", body, BETAS);
  expect(after).toMatchObject({ betas: BETAS, dropped: [] });
  expect(after.body).toBe(body);
});

describe("tools", () => {
  it("that search for tools go with their deferral", () => {
    const tools = [
      { name: "a", input_schema: {}, defer_loading: true },
      { type: "tool_search_tool_bm25_20251119", name: "search" },
    ];
    const whole = filtered("bedrock-invoke", { messages: HI, tools });
    expect(whole.body["tools"]).toEqual([{ name: "a", input_schema: {} }]);
    expect(whole.dropped).toEqual(["tools[].defer_loading", "tools:tool_search_tool_bm25_20251119"]);
    const deferred = filtered("bedrock-invoke", { messages: HI, tools }, ["advanced-tool-use-2025-11-20"]);
    expect(deferred).toMatchObject({ body: { tools }, betas: ["tool-search-tool-2025-10-19"], dropped: [] });
  });

  it("that a host does not run are refused where they are alone or forced", () => {
    const search = { type: "web_search_20250305", name: "web_search" };
    const own = { name: "a", input_schema: {} };
    const refused = { code: "unsupported_parameter", param: "tools.web_search_20250305" };
    const ask = (tools: JsonObject[], more: JsonObject = {}) =>
      filtered("bedrock-invoke", { messages: HI, tools, ...more });
    expect(() => ask([search])).toThrow(expect.objectContaining(refused));
    const forced = { tool_choice: { type: "tool", name: "web_search" } };
    expect(() => ask([search, own], forced)).toThrow(expect.objectContaining(refused));
    expect(ask([search, own]).dropped).toEqual(["tools:web_search_20250305"]);
    expect(ask([search], { tool_choice: { type: "none" } }).body).toEqual({ messages: HI });
  });
});

it.each([
  ["deepseek", "compaction"],
  ["vertex", "mcp_tool_use"],
  ["vertex", "tool_addition"],
] as const)("a conversation for %s with a block %s is refused", (host, type) => {
  const messages = [...HI, { role: "assistant", content: [{ type }] }];
  expect(() => filtered(host, { messages })).toThrow(
    expect.objectContaining({ code: "unsupported_parameter", param: `messages.content.${type}` }),
  );
  expect(filtered("anthropic", { messages }).dropped).toEqual([]);
});

it.each([
  ["", "anthropic"],
  ["https://api.anthropic.com", "anthropic"],
  ["http://127.0.0.1:4000", "anthropic"],
  ["http://litellm:4000/v1", "anthropic"],
  ["https://my.services.ai.azure.com/anthropic", "foundry"],
  ["https://bedrock-mantle.us-east-1.api.aws/anthropic", "bedrock-mantle"],
  ["https://openrouter.ai/api", "openrouter"],
  ["https://api.deepseek.com/anthropic", "deepseek"],
  ["https://api.moonshot.ai/anthropic", "kimi"],
  ["https://api.kimi.com/coding", "kimi"],
  ["https://open.bigmodel.cn/api/anthropic", "glm"],
  ["https://api.z.ai/api/anthropic", "glm"],
  ["https://api.minimax.io/anthropic", "minimax"],
  ["https://dashscope.aliyuncs.com/apps/anthropic", "qwen"],
  ["https://notanthropic.com", "other"],
  ["https://relay.example.com", "other"],
])("the host of %s is %s", (baseUrl, host) => {
  expect(findHost(baseUrl)).toBe(host);
});

it("OpenRouter passes the context management of Claude on", () => {
  const ask = (model: string) =>
    filteredFor(findHostRules("openrouter", model), {
      body: { context_management: {} },
      headers: { "anthropic-beta": "context-management-2025-06-27" },
    }).dropped;
  expect(ask("anthropic/claude-sonnet-4.6")).toEqual([]);
  expect(ask("z-ai/glm-5")).toEqual(["anthropic-beta:context-management-2025-06-27", "context_management"]);
});

describe("what a host refuses by name", () => {
  it.each([
    ["Unexpected value(s) `a-1`, `b-2` for the `anthropic-beta` header", ["anthropic-beta:a-1", "anthropic-beta:b-2"]],
    ["Unsupported beta header: a-1", ["anthropic-beta:a-1"]],
    ["invalid beta flag", ["anthropic-beta:x-1", "anthropic-beta:y-2"]],
    ["tools.0.custom.defer_loading: Extra inputs are not permitted", ["tools[].defer_loading"]],
    ["context_management: Extra inputs are not permitted", ["context_management"]],
    ["system.0.cache_control.ephemeral.scope: Extra inputs are not permitted", ["cache_control.scope"]],
    ["tools[3].type: unknown variant `advisor_20260301`, expected `custom`", ["tools:advisor_20260301"]],
    ["messages.0.content.0.text.foo: Extra inputs are not permitted", []],
    ["tools.0.custom.input_schema: Extra inputs are not permitted", []],
    ["thinking: Extra inputs are not permitted", []],
    ["max_tokens: 5 > 4", []],
  ])("is read from %s", (message, names) => {
    expect(refusedNames(message, ["x-1", "y-2"])).toEqual(names);
  });

  it("is taken out of the next request", () => {
    const body = { messages: HI, foo: 1, tools: [{ name: "a", input_schema: {}, bar: 1 }] };
    const learned = new Set(["anthropic-beta:x-1", "foo", "tools[].bar"]);
    expect(filtered("anthropic", body, ["x-1", "y-2"], learned)).toMatchObject({
      body: { messages: HI, tools: [{ name: "a", input_schema: {} }] },
      betas: ["y-2"],
      dropped: ["anthropic-beta:x-1", "foo", "tools[].bar"],
    });
  });
});

it("the operator's word wins over the rules of a host", () => {
  const rules = overridden(findHostRules("bedrock-invoke", "m"), {
    forward: ["claude-code-20250219"],
    drop: ["effort-2025-11-24"],
    rename: { "old-1": "context-1m-2025-08-07" },
    members: { keep: ["speed", "cache_control.scope", "context_management"], drop: ["metadata"] },
  });
  const body = {
    speed: "fast",
    metadata: {},
    context_management: {},
    cache_control: { type: "ephemeral", scope: "global" },
  };
  const headers = { "anthropic-beta": "claude-code-20250219,effort-2025-11-24,old-1" };
  const after = filteredFor(rules, { body, headers });
  expect(after.headers["anthropic-beta"]).toBe("claude-code-20250219,context-1m-2025-08-07");
  expect(after.body).toEqual({ speed: "fast", context_management: {}, cache_control: body.cache_control });
  expect(after.dropped).toEqual(["anthropic-beta:effort-2025-11-24", "metadata"]);
});
