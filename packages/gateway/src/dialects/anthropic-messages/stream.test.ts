import { expect, it } from "vitest";
import { anthropicMessages } from "./index.ts";

it("the usage of a stream that becomes an answer is the largest count of each end", () => {
  const answer = anthropicMessages.assembleAnswer([
    {
      type: "message_start",
      message: {
        id: "msg_1",
        content: [],
        usage: { input_tokens: 7, cache_read_input_tokens: 2, output_tokens: 1, service_tier: "standard" },
      },
    },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { input_tokens: 0, output_tokens: 3 } },
  ]);
  expect(answer?.["usage"]).toEqual({
    input_tokens: 7,
    cache_read_input_tokens: 2,
    output_tokens: 3,
    service_tier: "standard",
  });
});
