import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createTokenCounter } from "./token-counter.ts";
import { selectEncoder } from "./encoders.ts";

describe("the counting thread", () => {
  const counter = createTokenCounter();
  afterAll(() => counter.stop());

  it("counts as the published encoders do", async () => {
    expect(await counter.count("gpt-4o", ["hi", "", "Hello, world!", "你好，世界"])).toEqual([1, 0, 4, 3]);
    expect(await counter.count("claude-3-opus-20240229", ["hi", "Hello, world!", "你好，世界"])).toEqual([1, 4, 6]);
  });

  it("takes special tokens for ordinary text", async () => {
    const [tokens] = await counter.count("gpt-4o", ["<|endoftext|>"]);
    expect(tokens).toBeGreaterThan(1);
  });

  it("estimates what lies beyond a mebibyte", async () => {
    const text = "word ".repeat(200_000);
    const [first, second] = await counter.count("gpt-4o", [text, text]);
    const encoded = 1024 * 1024 - text.length;
    expect(first).toBe(200_001);
    expect(second).toBeGreaterThanOrEqual(Math.floor(encoded / 5) + Math.ceil((text.length - encoded) / 4));
  });

  it.each([
    ["one letter", "a"],
    ["spaces", " "],
    ["line ends", "\n"],
    ["marks", "!"],
    ["pictures", "😀"],
    ["Han without marks", "汉字处理"],
    ["a letter under marks", "e\u0301\u0302\u0303"],
  ])("counts 100,000 characters of %s in a moment", async (_, unit) => {
    const text = unit.repeat(Math.ceil(100_000 / unit.length));
    const startedAt = performance.now();
    const [tokens] = await counter.count("gpt-4o", [text]);
    expect(tokens).toBeGreaterThan(500);
    // A quadratic count takes minutes; a linear one takes a few seconds even on a busy machine.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe("a counting thread without work", () => {
  const starts: Worker[] = [];
  const onWorker = (worker: Worker) => void starts.push(worker);
  beforeEach(() => {
    process.on("worker", onWorker);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(() => {
    process.off("worker", onWorker);
    vi.useRealTimers();
    starts.length = 0;
  });

  it("ends after a minute, and another one counts what comes later", async () => {
    const counter = createTokenCounter();
    expect(starts).toHaveLength(0);
    await counter.count("gpt-4o", ["hi"]);
    vi.advanceTimersByTime(59_000);
    await counter.count("gpt-4o", ["hi"]);
    vi.advanceTimersByTime(59_000);
    expect(starts).toHaveLength(1);
    const ended = once(starts[0] as Worker, "exit");
    vi.advanceTimersByTime(1_000);
    await ended;
    expect(await counter.count("gpt-4o", ["hi"])).toEqual([1]);
    expect(starts).toHaveLength(2);
    await counter.stop();
  });

  it("does not end while it counts", async () => {
    const counter = createTokenCounter();
    await counter.count("gpt-4o", ["hi"]);
    const counting = counter.count("gpt-4o", ["Hello, world!"]);
    vi.advanceTimersByTime(60_000);
    expect(await counting).toEqual([4]);
    expect(starts).toHaveLength(1);
    await counter.stop();
  });
});

describe("a counting thread that dies", () => {
  const folder = join(tmpdir(), `fairway-count-${process.pid}`);
  const script = (text: string) => {
    const path = `${folder}-${text.length}.mjs`;
    return writeFile(path, text).then(() => path);
  };

  it("is started again, and the texts get one more try", async () => {
    const mark = `${folder}.mark`;
    const path = await script(`
      import { existsSync, writeFileSync } from "node:fs";
      import { parentPort } from "node:worker_threads";
      parentPort.on("message", ({ id, texts }) => {
        if (existsSync(${JSON.stringify(mark)})) return parentPort.postMessage({ id, tokens: texts.map((text) => text.length) });
        writeFileSync(${JSON.stringify(mark)}, "");
        throw new Error("out of memory");
      });`);
    const counter = createTokenCounter(pathToFileURL(path));
    expect(await counter.count("x", ["abc"])).toEqual([3]);
    await counter.stop();
    await Promise.all([rm(path), rm(mark)]);
  });

  it("is not started a third time for the same texts", async () => {
    const path = await script(
      `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(1));`,
    );
    const counter = createTokenCounter(pathToFileURL(path));
    await expect(counter.count("x", ["abc"])).rejects.toThrow("the counting thread ended");
    await counter.stop();
    await rm(path);
  });

  it("rejects what is waiting when it is stopped", async () => {
    const counter = createTokenCounter();
    const waiting = counter.count("gpt-4o", ["abc"]).catch((error: unknown) => error);
    await counter.stop();
    expect(await waiting).toEqual(new Error("tokens were not counted: the counting thread ended"));
    await expect(counter.count("gpt-4o", ["abc"])).rejects.toThrow("stopped");
  });
});

describe("the encoder of a model", () => {
  it.each([
    ["gpt-4o-mini", "o200k_base"],
    ["gpt-4.1", "o200k_base"],
    ["gpt-5.1-codex", "o200k_base"],
    ["o3-mini", "o200k_base"],
    ["gpt-oss-120b", "o200k_base"],
    ["gpt-4-turbo", "cl100k_base"],
    ["gpt-3.5-turbo", "cl100k_base"],
    ["text-davinci-003", "cl100k_base"],
    ["claude-sonnet-4-5", "cl100k_base"],
    ["gemini-2.5-pro", "cl100k_base"],
  ])("%s", (model, encoder) => {
    expect(selectEncoder(model)).toBe(encoder);
  });
});
