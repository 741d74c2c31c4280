import { describe, expect, it } from "vitest";
import type { TokenCounter } from "../../billing/tokenizer/token-counter.ts";
import { dialectById } from "../../dialects/index.ts";
import type { Dialect } from "../../dialects/core/types.ts";
import { OutputCounter } from "./output-counter.ts";

const counter: TokenCounter = {
  stop: () => Promise.resolve(),
  count: (_model: string, texts: readonly string[]) => Promise.resolve(texts.map((text) => text.length)),
};
const chat = dialectById("openai-chat") as Dialect;

function event(content: string): Buffer {
  return Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);
}

describe("the output counter of a stream", () => {
  it("counts small, large and mixed blocks in their order, however many there are", async () => {
    for (const sizes of [
      [3],
      [5, 5_000, 7, 1],
      Array.from({ length: 400 }, (_, at) => (at * 37) % 90),
      [2_000, 2_000],
    ]) {
      const texts: string[] = [];
      const recording: TokenCounter = {
        stop: () => Promise.resolve(),
        count: (model: string, all: readonly string[]) => (texts.push(...all), counter.count(model, all)),
      };
      const outputCounter = new OutputCounter(chat, "gpt-4o", recording);
      const contents = sizes.map((size, at) => String.fromCharCode(97 + (at % 26)).repeat(size));
      for (const content of contents) outputCounter.add(event(content));
      expect(await outputCounter.count()).toBe(contents.join("").length);
      expect(texts.join("")).toBe(contents.join(""));
    }
  });

  it("does not depend on later changes of a small block's bytes", async () => {
    const outputCounter = new OutputCounter(chat, "gpt-4o", counter);
    const block = event("hello");
    outputCounter.add(block);
    block.fill(0);
    expect(await outputCounter.count()).toBe(5);
  });
});
