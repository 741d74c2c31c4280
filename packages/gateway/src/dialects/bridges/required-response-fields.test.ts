// Members that are not optional in the types of a vendor's own client, so that its readers do not check whether they
// are missing.
import { expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import { parseEvents } from "../../lib/text/sse.ts";
import { openaiResponses } from "../openai-responses/index.ts";
import type { RequestSpec } from "../core/types.ts";

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
const ofType = (events: readonly object[], type: string) =>
  events.filter((event) => "type" in event && event.type === type);

it("a response counts the tokens that were written to a cache, also when there are none", () => {
  const bridge = run("openai-responses", "openai-chat", "gpt-4.1");
  const choices = [{ message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
  const input_tokens_details = { cached_tokens: 0, cache_write_tokens: 0 };
  expect(bridge.answer({ choices, usage })).toMatchObject({ usage: { input_tokens_details } });
  const chunk = { choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }], usage };
  expect(bridge.stream([chunk]).at(-1)).toMatchObject({ response: { usage: { input_tokens_details } } });
});

it("the events of a text list the probabilities of its tokens, also when there are none", () => {
  const chunk = { choices: [{ index: 0, delta: { content: "hi" }, finish_reason: "stop" }] };
  const streamed = run("openai-responses", "openai-chat", "gpt-4.1").stream([chunk]);
  const content = [{ type: "output_text", text: "hi", annotations: [] }];
  const whole = { id: "r", status: "completed", output: [{ type: "message", id: "m", role: "assistant", content }] };
  const blocks = openaiResponses.toStream(whole, {} as RequestSpec);
  for (const events of [streamed, parseEvents(blocks).flatMap(({ data }) => (data ? [data] : []))]) {
    expect(ofType(events, "response.output_text.delta")).toMatchObject([{ delta: "hi", logprobs: [] }]);
    expect(ofType(events, "response.output_text.done")).toMatchObject([{ text: "hi", logprobs: [] }]);
  }
});
