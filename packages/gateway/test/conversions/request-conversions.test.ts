import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findBridges } from "../../src/dialects/find-bridges.ts";
import type { BridgeContext } from "../../src/dialects/core/bridge.ts";
import type { RequestSpec, JsonObject } from "../../src/dialects/core/types.ts";
import { AppError } from "../../src/lib/app-error.ts";
import { beginConversions, translateRequest } from "../../src/relay/conversion/translate.ts";
import { dialect, PROTOCOLS, type ChatLike } from "./response-meaning.ts";
import { IMAGE, readRequest, withoutIds, writeRequest, type Request, type Turn } from "./request-meaning.ts";

const pairs = PROTOCOLS.flatMap((client) => PROTOCOLS.map((upstream) => [client, upstream] as const)).filter(
  ([client, upstream]) => client !== upstream,
);
/** Models of a generation that takes sampling parameters. */
const MODELS: Readonly<Record<ChatLike, string>> = {
  "openai-chat": "gpt-4.1",
  "anthropic-messages": "claude-haiku-4-5",
  "gemini-generate": "gemini-2.5-flash",
  "openai-responses": "gpt-5.2",
};

function convert(client: ChatLike, upstream: ChatLike, body: JsonObject): JsonObject {
  const spec: RequestSpec = {
    operation: "chat",
    dialect: client,
    model: "m",
    stream: false,
    wantsStreamUsage: false,
    outputCap: undefined,
    promptEstimate: 0,
    units: 1,
  };
  const context: BridgeContext = {
    spec,
    upstreamModel: MODELS[upstream],
    requestId: "01R",
    now: 0,
    setting: {},
    dropped: () => undefined,
  };
  const bridges = findBridges(client, upstream);
  if (bridges === undefined) throw new Error(`no way from ${client} to ${upstream}`);
  return JSON.parse(JSON.stringify(translateRequest(beginConversions(bridges, context), body))) as JsonObject;
}

const word = fc.stringMatching(/^[a-zäß€ ]{1,12}[a-z]$/);
const user = fc.record({ role: fc.constant("user" as const), text: word, image: fc.constantFrom(undefined, IMAGE) });
const args = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(word, fc.integer()), { maxKeys: 2 });

/** A question, and maybe a loop of tool calls with their results before the next question. */
const exchange = fc
  .tuple(
    user,
    word,
    fc.array(fc.record({ name: fc.constantFrom("now", "get_weather"), args, output: word }), { maxLength: 3 }),
  )
  .map(([question, text, calls]): Turn[] => {
    const named = calls.map(({ name, args: input }, at) => ({ id: `call_${at}`, name, args: input }));
    const said: Turn = { role: "assistant", text, calls: named };
    if (calls.length === 0) return [question, said];
    return [
      question,
      said,
      { role: "results", results: calls.map(({ name, output }, at) => ({ id: `call_${at}`, name, text: output })) },
      { role: "assistant", text: "done", calls: [] },
    ];
  });
const request: fc.Arbitrary<Request> = fc.record({
  system: word,
  turns: fc
    .tuple(fc.array(exchange, { maxLength: 3 }), user)
    .map(([exchanges, last]): Turn[] => [...exchanges.flat(), last]),
  tools: fc.constant([
    { name: "now", description: "the time" },
    { name: "get_weather", description: "weather of a city" },
  ]),
  choice: fc.constantFrom("auto" as const, "none" as const, "required" as const, { name: "now" }),
  maxTokens: fc.integer({ min: 16, max: 4000 }),
  temperature: fc.constantFrom(0, 0.5, 1),
});

describe.each(pairs)("requests of %s clients to %s upstreams", (client, upstream) => {
  it("keep their meaning", () => {
    fc.assert(
      fc.property(request, (asked) => {
        const body = convert(client, upstream, writeRequest(client, asked));
        expect(withoutIds(readRequest(upstream, body))).toEqual(withoutIds(asked));
        expect(JSON.stringify(body)).not.toContain('"fw_');
      }),
      { numRuns: 60 },
    );
  });

  it("are understood by the upstream's own dialect", () => {
    fc.assert(
      fc.property(request, (asked) => {
        const json = convert(client, upstream, writeRequest(client, asked));
        const bytes = Buffer.from(JSON.stringify(json));
        expect(dialect(upstream).inspect({ bytes, json: () => json }, "chat", MODELS[upstream]).model).toBe(
          MODELS[upstream],
        );
      }),
      { numRuns: 20 },
    );
  });

  it("of any shape are converted or refused, never crash", () => {
    const key = fc.constantFrom(
      "messages",
      "contents",
      "input",
      "system",
      "tools",
      "tool_choice",
      "role",
      "content",
      "parts",
      "type",
      "stop",
      "n",
      "generationConfig",
      "reasoning",
      "thinking",
      "response_format",
      "function",
      "name",
    );
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.string({ maxLength: 6 }),
        fc.integer(),
        fc.constant(null),
        fc.boolean(),
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(key, tie("any"), { maxKeys: 4 }),
      ),
    })).any;
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 6 }), (body) => {
        try {
          convert(client, upstream, body as JsonObject);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }),
      { numRuns: 200 },
    );
  });
});
