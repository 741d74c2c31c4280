import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import { objects } from "../core/read.ts";
import type { DialectId, JsonObject } from "../core/types.ts";

const MODEL = "gemini-3-pro-preview";
const extra_content = { google: { thought_signature: "CiQB+/8=" } };
const signed = {
  index: 0,
  id: "function-call-1",
  type: "function",
  function: { name: "f", arguments: "{}" },
  extra_content,
};
const plain = { index: 1, id: "function-call-2", type: "function", function: { name: "g", arguments: "{}" } };
const answer = {
  id: "1",
  model: "m",
  choices: [
    {
      index: 0,
      message: { role: "assistant", content: null, tool_calls: [signed, plain] },
      finish_reason: "tool_calls",
    },
  ],
};
const chunk = (delta: object, finish: string | null = null) => ({
  id: "1",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const chunks = [
  chunk({ role: "assistant", tool_calls: [signed] }),
  chunk({ tool_calls: [plain] }),
  chunk({}, "tool_calls"),
];

/** Builds a client's next turn: what it received, and the result of every call. */
const turnBuilderByClient: Readonly<Record<string, (answers: readonly JsonObject[]) => JsonObject>> = {
  "anthropic-messages": (answers) => {
    const reported = answers.flatMap((one) => [one["content_block"] ?? one["content"]].flat() as JsonObject[]);
    const uses = reported.filter((block) => block?.["type"] === "tool_use");
    const results = uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "ok" }));
    return {
      max_tokens: 9,
      messages: [
        { role: "assistant", content: uses },
        { role: "user", content: results },
      ] as JsonObject[],
    };
  },
  "openai-responses": (answers) => {
    const last = answers.at(-1) as JsonObject;
    const output = ((last["response"] as JsonObject | undefined) ?? last)["output"] as JsonObject[];
    const results = output.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "ok" }));
    return { input: [...output, ...results] as JsonObject[] };
  },
  "gemini-generate": (answers) => {
    const parts = answers
      .flatMap((one) => one["candidates"] as JsonObject[])
      .flatMap((one) => (one["content"] as JsonObject)["parts"] as JsonObject[])
      .filter((part) => part["functionCall"] !== undefined);
    const results = parts.map(({ functionCall }) => {
      const { id, name } = functionCall as JsonObject;
      return { functionResponse: { id, name, response: { output: "ok" } } };
    });
    return {
      contents: [
        { role: "model", parts },
        { role: "user", parts: results },
      ] as JsonObject[],
    };
  },
};

describe.each(Object.keys(turnBuilderByClient) as DialectId[])(
  "what an upstream hangs on a call, with %s clients",
  (client) => {
    const turn = (answers: readonly JsonObject[]) => turnBuilderByClient[client]?.(answers) ?? {};
    const messages = (answers: readonly JsonObject[], model = MODEL) =>
      run(client, "openai-chat", model).request(turn(answers))["messages"] as JsonObject[];
    const ways = {
      answer: () => [run(client, "openai-chat", MODEL).answer(answer)],
      stream: () => run(client, "openai-chat", MODEL).stream(chunks),
    };

    it.each(Object.entries(ways))("comes back to the model that it came from (%s)", (_way, answers) => {
      const [assistant, ...results] = messages(answers());
      expect(assistant).toMatchObject({
        tool_calls: [{ id: "function-call-1", extra_content }, { id: "function-call-2" }],
      });
      expect(objects(assistant, "tool_calls")[1]).not.toHaveProperty("extra_content");
      expect(results.map((result) => result["tool_call_id"])).toEqual(["function-call-1", "function-call-2"]);
    });

    it("leaves no trace with another model", () => {
      const [assistant, ...results] = messages(ways.answer(), "gpt-4.1");
      const calls = assistant?.["tool_calls"] as JsonObject[];
      expect(calls.map(({ id }) => id)).toEqual(["function-call-1", "function-call-2"]);
      expect(results.map((result) => result["tool_call_id"])).toEqual(["function-call-1", "function-call-2"]);
      expect(calls[0]).not.toHaveProperty("extra_content");
    });

    it("travels in characters that every protocol takes in ids", () => {
      const ids = JSON.stringify(ways.answer()).matchAll(/"(?:id|call_id)":"(function-call[^"]*)"/g);
      expect([...ids].map(([, id]) => id).filter((id) => !/^[\w-]+$/.test(id ?? ""))).toEqual([]);
    });
  },
);

it.each(["openai-responses", "anthropic-messages", "openai-chat"] as const)(
  "%s upstreams get ids without the signatures of other models",
  (upstream) => {
    const client = upstream === "openai-chat" ? "openai-responses" : "openai-chat";
    const first = run(client, "gemini-generate", MODEL).answer({
      candidates: [
        { content: { parts: [{ functionCall: { id: "abc", name: "f", args: {} }, thoughtSignature: "CiQB" }] } },
      ],
    });
    const call = client === "openai-chat" ? (first["choices"] as JsonObject[])[0]?.["message"] : undefined;
    const id = /"(abc__thought__[^"]*)"/.exec(JSON.stringify(first))?.[1];
    const asked =
      call === undefined
        ? turnBuilderByClient["openai-responses"]?.([first])
        : { messages: [call, { role: "tool", tool_call_id: id, content: "ok" }], max_tokens: 9 };
    expect(id).toBeDefined();
    const sent = JSON.stringify(run(client, upstream, "other").request(asked ?? {}));
    expect(sent.match(/"abc[^"]*"/g)).toEqual(['"abc"', '"abc"']);
  },
);
