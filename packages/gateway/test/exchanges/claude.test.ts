import { describe, it } from "vitest";
import type { JsonObject } from "../../src/dialects/core/types.ts";
import { exchange, HELLO, MESSAGE_ANSWER } from "./exchange-cases.ts";

function sends(body: JsonObject, sent: JsonObject): Promise<void> {
  return exchange({
    type: 14,
    body: { messages: HELLO, ...body },
    sent: { body: { messages: HELLO, model: body["model"], ...sent } },
    answer: { body: MESSAGE_ANSWER },
  });
}

describe("chat clients on Claude", () => {
  it("have an output limit above the model's lowered instead of refused", async () => {
    await sends({ model: "claude-3-haiku-20240307", max_tokens: 10_000 }, { max_tokens: 4096 });
    await sends({ model: "claude-sonnet-4-5", max_completion_tokens: 200_000 }, { max_tokens: 64_000 });
    await sends({ model: "some-other-model", max_tokens: 200_000 }, { max_tokens: 200_000 });
  });

  it("send temperature without top_p to models that accept only one of them", async () => {
    const both = { temperature: 0.4, top_p: 0.9, max_tokens: 10 };
    await sends({ model: "claude-sonnet-4-5", ...both }, { max_tokens: 10, temperature: 0.4 });
    await sends({ model: "claude-sonnet-4-5", top_p: 0.9, max_tokens: 10 }, { max_tokens: 10, top_p: 0.9 });
    await sends({ model: "claude-3-5-haiku-20241022", ...both }, both);
  });

  it("have a thinking budget converted to an effort where budgets are refused", async () => {
    await sends(
      { model: "claude-opus-4-8", max_tokens: 9000, thinking: { type: "enabled", budget_tokens: 5000 } },
      {
        max_tokens: 9000,
        thinking: { type: "adaptive", display: "summarized" },
        output_config: { effort: "high" },
      },
    );
    const own = { max_tokens: 9000, thinking: { type: "enabled", budget_tokens: 5000 } };
    await sends({ model: "claude-opus-4-6", ...own }, own);
    await sends({ model: "some-other-model", ...own }, own);
  });

  it("have adaptive thinking converted to a budget where only budgets are supported", async () => {
    await sends(
      { model: "claude-haiku-4-5", max_tokens: 9000, thinking: { type: "adaptive" } },
      { max_tokens: 9000, thinking: { type: "enabled", budget_tokens: 2048 } },
    );
    await sends(
      { model: "claude-3-haiku-20240307", max_tokens: 900, thinking: { type: "adaptive" } },
      { max_tokens: 900 },
    );
  });
});

describe("usage of Claude", () => {
  it("includes the cost of compacting the conversation", async () => {
    const usage: JsonObject = {
      input_tokens: 10,
      output_tokens: 5,
      iterations: [
        { type: "compaction", input_tokens: 900, cache_read_input_tokens: 100, output_tokens: 50 },
        { type: "message", input_tokens: 10, output_tokens: 5 },
      ],
    };
    await exchange({
      type: 14,
      body: { model: "claude-opus-4-8", messages: HELLO },
      answer: { body: { ...MESSAGE_ANSWER, usage } },
      usage: { prompt_tokens: 1010, completion_tokens: 55, cached_tokens: 100 },
    });
  });
});
