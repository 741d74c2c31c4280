import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import { shownText } from "../core/ran-texts.ts";
import type { Dialect, JsonObject } from "../core/types.ts";
import { dialectById } from "../index.ts";

type Protocol = "anthropic-messages" | "gemini-generate" | "openai-responses";

const MODELS: Readonly<Record<Protocol, string>> = {
  "anthropic-messages": "claude-sonnet-4-5",
  "gemini-generate": "gemini-3-pro",
  "openai-responses": "gpt-5.2",
};
const createBridge = (client: Protocol | "openai-chat", upstream: Protocol) => run(client, upstream, MODELS[upstream]);

/** An answer that ran `1+1`, got `two` and says so, both whole and as events. */
const usage = { input_tokens: 1, output_tokens: 2 };
const use = { type: "server_tool_use", id: "srvtoolu_1", name: "code_execution", input: { code: "1+1" } };
const result = {
  type: "code_execution_tool_result",
  tool_use_id: "srvtoolu_1",
  content: { type: "code_execution_result", stdout: "two", stderr: "", return_code: 0, content: [] },
};
const ofClaude = (...content: object[]) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "m",
  content,
  stop_reason: "end_turn",
  usage,
});
const claudeEvents = (...results: object[]) => [
  { type: "message_start", message: { id: "msg_1", model: "m", usage } },
  { type: "content_block_start", index: 0, content_block: { ...use, input: {} } },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"code":"1+1"}' } },
  { type: "content_block_stop", index: 0 },
  ...results.flatMap((content_block) => [
    { type: "content_block_start", index: 1, content_block },
    { type: "content_block_stop", index: 1 },
    { type: "content_block_start", index: 2, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "It is two." } },
    { type: "content_block_stop", index: 2 },
  ]),
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];
const item = {
  type: "code_interpreter_call",
  id: "ci_1",
  container_id: "cntr_1",
  status: "completed",
  code: "1+1",
  outputs: [{ type: "logs", logs: "two" }],
};
const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: "It is two." }] };
const response = { id: "resp_1", model: "m", status: "completed", output: [item, message], usage };
const responseEvents = [
  { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
  { type: "response.output_item.done", output_index: 0, item },
  { type: "response.output_item.done", output_index: 1, item: message },
  { type: "response.completed", response },
];
const parts = [
  { executableCode: { language: "PYTHON", code: "1+1" } },
  { codeExecutionResult: { outcome: "OUTCOME_OK", output: "two" } },
  { text: "It is two." },
];
const createChunk = (some: object[], more: object = {}) => ({
  candidates: [{ content: { role: "model", parts: some }, ...more }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 },
});

const ANSWERS: Readonly<Record<Protocol, { whole: object; events: object[] }>> = {
  "anthropic-messages": {
    whole: ofClaude(use, result, { type: "text", text: "It is two." }),
    events: claudeEvents(result),
  },
  "openai-responses": { whole: response, events: responseEvents },
  "gemini-generate": {
    whole: createChunk(parts, { finishReason: "STOP" }),
    events: parts.map((part, at) => createChunk([part], at === 2 ? { finishReason: "STOP" } : {})),
  },
};
const upstreams = Object.keys(ANSWERS) as Protocol[];
const othersThan = (client: Protocol) => upstreams.filter((upstream) => upstream !== client);

describe("code that a vendor ran", () => {
  it.each(othersThan("anthropic-messages"))("of %s is a call with its result for Anthropic clients", (upstream) => {
    const { whole, events } = ANSWERS[upstream];
    const bridge = createBridge("anthropic-messages", upstream);
    const id = "srvtoolu_fw_01R_0";
    const answer = bridge.answer(whole);
    expect(answer["content"]).toEqual([
      { ...use, id },
      { ...result, tool_use_id: id },
      { type: "text", text: "It is two." },
    ]);
    const streamed = bridge.stream(events);
    const starts = streamed.filter(({ type }) => type === "content_block_start");
    expect(starts.map(({ content_block }) => (content_block as JsonObject)["type"])).toEqual([
      "server_tool_use",
      "code_execution_tool_result",
      "text",
    ]);
    expect(JSON.stringify(streamed)).toContain('"partial_json":"{\\"code\\":\\"1+1\\"}"');
    expect(JSON.stringify([answer, streamed])).not.toContain("```");
  });

  it.each(othersThan("openai-responses"))("of %s is an item for Responses clients", (upstream) => {
    const { whole, events } = ANSWERS[upstream];
    const bridge = createBridge("openai-responses", upstream);
    const made = { ...item, id: "ci_01R_0", container_id: "" };
    expect(bridge.answer(whole)["output"]).toMatchObject([made, { content: [{ text: "It is two." }] }]);
    const streamed = bridge.stream(events);
    expect(streamed.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        "response.code_interpreter_call.in_progress",
        "response.code_interpreter_call_code.delta",
        "response.code_interpreter_call_code.done",
        "response.code_interpreter_call.interpreting",
        "response.code_interpreter_call.completed",
      ]),
    );
    expect((streamed.at(-1)?.["response"] as JsonObject | undefined)?.["output"]).toMatchObject([
      made,
      { content: [{ text: "It is two." }] },
    ]);
    expect(streamed.map((event) => event["sequence_number"])).toEqual(streamed.map((_event, at) => at));
  });

  it.each(othersThan("gemini-generate"))("of %s is parts for Gemini clients", (upstream) => {
    const { whole, events } = ANSWERS[upstream];
    const bridge = createBridge("gemini-generate", upstream);
    expect(bridge.answer(whole)).toMatchObject({ candidates: [{ content: { parts } }] });
    const candidates = bridge.stream(events).flatMap((event) => event["candidates"] as { content: JsonObject }[]);
    const streamed = candidates.flatMap(({ content }) => content["parts"] as JsonObject[]);
    expect(streamed.filter(({ text }) => text !== "")).toEqual(parts);
  });

  it.each(upstreams)("of %s is fenced text for chat clients, who have no place for it", (upstream) => {
    const { whole, events } = ANSWERS[upstream];
    const bridge = createBridge("openai-chat", upstream);
    const text = "\n```python\n1+1\n```\n\n```\ntwo\n```\nIt is two.";
    const answer = bridge.answer(whole);
    expect(answer).toMatchObject({ choices: [{ message: { content: text } }] });
    const streamed = bridge.stream(events);
    const deltas = streamed.flatMap(({ choices }) => choices as { delta: JsonObject }[]);
    expect(deltas.map(({ delta }) => (delta["content"] as string | undefined) ?? "").join("")).toBe(text);
    expect(JSON.stringify([answer, streamed])).not.toContain("fw_");
  });

  it("is known to have failed, or to be a command, in each protocol", () => {
    const content = { type: "bash_code_execution_result", stdout: "", stderr: "no", return_code: 2, content: [] };
    const shell = [
      { ...use, name: "bash_code_execution", input: { command: "ls" } },
      { type: "bash_code_execution_tool_result", tool_use_id: "srvtoolu_1", content },
    ];
    expect(createBridge("gemini-generate", "anthropic-messages").answer(ofClaude(...shell))).toMatchObject({
      candidates: [
        {
          content: {
            parts: [
              { executableCode: { language: "LANGUAGE_UNSPECIFIED", code: "ls" } },
              { codeExecutionResult: { outcome: "OUTCOME_FAILED", output: "no" } },
            ],
          },
        },
      ],
    });
    const failed = { ...response, output: [{ ...item, status: "failed", outputs: [] }, message] };
    expect(createBridge("anthropic-messages", "openai-responses").answer(failed)).toMatchObject({
      content: [{}, { content: { type: "code_execution_tool_result_error", error_code: "unavailable" } }, {}],
    });
    const wrong = [parts[0] ?? {}, { codeExecutionResult: { outcome: "OUTCOME_FAILED", output: "no" } }];
    expect(createBridge("anthropic-messages", "gemini-generate").answer(createChunk(wrong))).toMatchObject({
      content: [{}, { content: { type: "code_execution_result", stdout: "", stderr: "no", return_code: 1 } }],
    });
  });

  it("is shown without a result where the answer ended before there was one", () => {
    const unfinished = [{ ...item, id: "ci_01R_0", container_id: "", status: "incomplete", outputs: [] }];
    const bridge = () => createBridge("openai-responses", "anthropic-messages");
    expect(bridge().answer(ofClaude(use))["output"]).toEqual(unfinished);
    const streamed = bridge().stream(claudeEvents());
    expect((streamed.at(-1)?.["response"] as JsonObject | undefined)?.["output"]).toEqual(unfinished);
    const gemini = createBridge("anthropic-messages", "gemini-generate");
    const [part = {}] = parts;
    const call = { ...use, id: "srvtoolu_fw_01R_0" };
    expect(gemini.answer(createChunk([part], { finishReason: "MAX_TOKENS" }))["content"]).toEqual([call]);
    expect(JSON.stringify(gemini.stream([createChunk([part], { finishReason: "MAX_TOKENS" })]))).toContain("1+1");
  });

  it.each(upstreams.flatMap((upstream) => othersThan(upstream).map((client) => [client, upstream] as const)))(
    "stays in the history that a client of %s sends back to %s",
    (client, upstream) => {
      const answer = createBridge(client, upstream).answer(ANSWERS[upstream].whole);
      const [hi, more] = ["hi", "more"].map((content) => ({ role: "user", content }));
      const [candidate] = (answer["candidates"] ?? []) as { content: JsonObject }[];
      const asked: Readonly<Record<Protocol, object>> = {
        "anthropic-messages": {
          max_tokens: 9,
          messages: [hi, { role: "assistant", content: answer["content"] }, more],
        },
        "openai-responses": { input: [hi, ...((answer["output"] ?? []) as JsonObject[]), more] },
        "gemini-generate": {
          contents: [
            { role: "user", parts: [{ text: "hi" }] },
            candidate?.content,
            { role: "user", parts: [{ text: "more" }] },
          ],
        },
      };
      const sent = JSON.stringify(createBridge(client, upstream).request(asked[client]));
      for (const part of ["1+1", "two", "It is two."]) expect(sent).toContain(part);
    },
  );

  it.each(upstreams)("of %s is part of what checks of answers read, in every other protocol", (upstream) => {
    for (const client of othersThan(upstream)) {
      const dialect = dialectById(client) as Dialect;
      const bridge = createBridge(client, upstream);
      const whole = shownText(dialect.answerTexts(bridge.answer(ANSWERS[upstream].whole)));
      const events = bridge.stream(ANSWERS[upstream].events);
      const streamed = events.map((event) => shownText(dialect.eventTexts(event))).join("");
      for (const part of ["1+1", "two", "It is two."]) {
        expect(whole).toContain(part);
        expect(streamed).toContain(part);
      }
      expect(dialect.answerTexts(bridge.answer(ANSWERS[upstream].whole)).text).toBe("It is two.");
    }
  });

  it("comes with its output from OpenAI, which leaves it out unless it is asked for", () => {
    const tools = [{ type: "code_execution_20250825", name: "code_execution" }];
    const body = { max_tokens: 9, messages: [{ role: "user", content: "hi" }], tools };
    expect(createBridge("anthropic-messages", "openai-responses").request(body)["include"]).toContain(
      "code_interpreter_call.outputs",
    );
  });
});
