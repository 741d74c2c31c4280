import { createDatabase } from "@fairway/testkit/databases";
import { propertyRuns } from "@fairway/testkit/property-runs";
import { parseOptions } from "@fairway/wire";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { openSqlHarness } from "../../billing/ledger/sql/test-harness.contract.ts";
import { createTestAccounts, granted } from "../../billing/ledger/test-harness.contract.ts";
import { quota } from "../../billing/money/quota.ts";
import { createPriceBook } from "../../billing/pricing/price-book.ts";
import { priceOptionDefaults } from "../../snapshot/option-defaults.ts";
import { freezeTerms, openTerms, type OpenTerms } from "../pricing/terms.ts";
import { dropElements, fillLists } from "./named-lists.ts";
import { readBatchResults, type ReadResultsRequest } from "./read-results.ts";
import { settleBatch, type SettledBatch } from "./settle-batch.ts";
import { SETTLEMENT_CASES } from "./settlements.contract.ts";

function termsFor(...models: string[]): OpenTerms {
  const options = parseOptions([], { defaults: priceOptionDefaults() });
  return openTerms(
    freezeTerms({ models, operation: "chat", group: "default" }, { prices: createPriceBook(), options }),
  );
}

/** A stream of a text in chunks of this many bytes. */
async function* streamOf(text: string, chunkBytes = 65_536): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}

const count = (_model: string, texts: readonly string[]) => Promise.resolve(texts.map((text) => text.length));

function read(
  part: Partial<Omit<ReadResultsRequest, "streams">> & { readonly streams: readonly string[] },
  chunk?: number,
) {
  const { terms = termsFor("gpt-5.6"), total = 1000, format = "openai", streams, models = {}, ...rest } = part;
  const opened = streams.map((text) => streamOf(text, chunk));
  return readBatchResults({ format, terms, total, models, count, ...rest, streams: opened });
}

const settled = (part: Partial<SettledBatch> = {}): SettledBatch => ({
  id: "batch_1",
  requestId: "request",
  userId: 1,
  tokenId: 2,
  username: "user",
  tokenName: "key",
  channelId: 7,
  group: "default",
  endpoint: "/v1/chat/completions",
  total: 4,
  uncapped: 0,
  deposit: quota(20_000),
  createdAt: 1000,
  endedAt: 1090,
  terms: termsFor("gpt-5.6"),
  isLogged: true,
  ...part,
});

describe("the settlement of", () => {
  it.each(SETTLEMENT_CASES)("$title", async (one) => {
    const harness = await openSqlHarness(await createDatabase("sqlite"));
    const accounts = createTestAccounts(harness);
    const user = await accounts.addUser(100_000);
    const channelId = await accounts.addChannel();
    const hold = await granted(harness.ledger, user, 0, one.deposit);
    await harness.ledger.deposit(hold, { at: 1 });
    const terms = termsFor(one.model);
    const owner = { requestId: hold.requestId, userId: user, tokenId: 0, channelId, deposit: quota(one.deposit) };
    const batch = settled({ ...owner, total: one.total, endpoint: one.endpoint, terms });
    const close = async () =>
      harness.ledger.closeDeposit(
        settleBatch(batch, await read({ ...one, terms, streams: one.streams }), { at: 90_000 }),
      );
    expect([await close(), await close()]).toEqual([true, false]);
    expect((await accounts.entries(user)).slice(1).map(({ kind, quota: moved }) => [kind, moved])).toEqual(one.ledger);
    const rows = await harness.logDatabase.rows<{ other: string }>("select * from logs where user_id = ?", [user]);
    expect(rows).toMatchObject([{ ...one.log, use_time: 90, is_stream: 0, request_id: hold.requestId }]);
    expect(JSON.parse(rows[0]?.other ?? "")).toMatchObject({ batch: one.batch });
    await harness.close();
  });
});

/** A line of an output file with this usage. */
function line(id: string, input: number, output: number, more: object = {}): string {
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const body = { id: "c", object: "chat.completion", model: "gpt-5.6", choices: [], usage, ...more };
  return `${JSON.stringify({ id: `r${id}`, custom_id: id, response: { status_code: 200, body }, error: null })}\n`;
}

function refused(id: string, code?: string): string {
  const response = code === undefined ? { status_code: 400, body: { error: { message: "bad" } } } : null;
  return `${JSON.stringify({ custom_id: id, response, error: code === undefined ? null : { code, message: "x" } })}\n`;
}

describe("results", () => {
  it("charge a repeated item once, whatever its second line says", async () => {
    const sums = await read({ streams: [line("a", 1000, 0) + line("a", 9000, 0) + refused("b"), line("b", 1, 1)] });
    expect(sums).toMatchObject({ quota: 1000, succeeded: 1, failed: 1, duplicates: 2, unreadable: 0 });
  });

  it("take nothing for what is no item of the batch, and let it displace nothing", async () => {
    const ids = new Set(["a", "b"]);
    const streams = [line("x", 5000, 5000) + line("a", 1000, 0) + line("y", 1, 1) + line("b", 10, 2)];
    expect(await read({ streams, total: 2, knownIds: ids })).toMatchObject({
      quota: 1020,
      succeeded: 2,
      unreadable: 2,
      missing: 0,
    });
  });

  it("take nothing beyond the number of items", async () => {
    const streams = [line("a", 1000, 0) + line("b", 10, 2) + line("c", 1000, 0)];
    expect(await read({ streams, total: 2 })).toMatchObject({ quota: 1020, succeeded: 2, unreadable: 1 });
  });

  it("count lines that are no JSON or no result as unreadable", async () => {
    const lines = ["{broken", "[]", "1", '{"custom_id":1}', '{"custom_id":"q","response":{"body":{}}}', "null"];
    const sums = await read({ streams: [`${lines.join("\n")}\n\n \r\n${line("a", 1000, 0)}`] });
    expect(sums).toMatchObject({ quota: 1000, succeeded: 1, unreadable: lines.length, failed: 0 });
  });

  it("tell expired, cancelled and refused items apart", async () => {
    const streams = [
      refused("a", "batch_expired") + refused("b", "batch_cancelled") + refused("c", "other") + refused("d"),
    ];
    const sums = await read({ streams, total: 6 });
    expect(sums).toMatchObject({ expired: 1, cancelled: 1, failed: 2, succeeded: 0, missing: 2, models: [] });
  });

  it("count an answer without usage, its prompt by the average of the estimates", async () => {
    const message = { role: "assistant", content: "x".repeat(100) };
    const body = { choices: [{ index: 0, message }], usage: undefined };
    const models = { "gpt-5.6": { upstream: "gpt-5.6", items: 4, promptTokens: 4000 } };
    const sums = await read({ streams: [line("a", 0, 0, body)], models });
    expect(sums.models).toMatchObject([{ counted: 1, promptTokens: 1000 }]);
    expect(sums.models[0]?.completionTokens).toBeGreaterThanOrEqual(100);
    const close = settleBatch(settled(), sums, { at: 1 });
    expect(JSON.parse(close.settlements[0]?.log?.other ?? "")).toMatchObject({ usage_source: "counted" });
  });

  it("take nothing for usage that no balance could pay", async () => {
    const streams = [line("a", 9_000_000_000_000_000, 9_000_000_000_000_000) + line("b", 1000, 0)];
    expect(await read({ streams })).toMatchObject({ quota: 1000, succeeded: 1, unreadable: 1 });
  });

  it("are attributed to the model that answered, by the name that the upstream got", async () => {
    const answer = (id: string, model: string, input: number) => {
      const message = {
        id,
        type: "message",
        role: "assistant",
        model,
        content: [],
        usage: { input_tokens: input, output_tokens: 0 },
      };
      return `${JSON.stringify({ custom_id: id, result: { type: "succeeded", message } })}\n`;
    };
    const lines = [
      answer("a", "claude-opus-5", 1000),
      answer("b", "claude-sonnet-5-20260901", 1000),
      answer("c", "claude-opus-5", 2000),
      '{"custom_id":"d","result":{"type":"canceled"}}\n',
    ];
    const terms = termsFor("claude-opus-5", "claude-sonnet-5");
    const models = {
      "claude-opus-5": { upstream: "claude-opus-5", items: 2 },
      "claude-sonnet-5": { upstream: "claude-sonnet-5", items: 2 },
    };
    const sums = await read({ format: "anthropic", terms, models, total: 4, streams: [lines.join("")] });
    expect(sums.models.map(({ model, succeeded }) => [model, succeeded])).toEqual([
      ["claude-opus-5", 2],
      ["claude-sonnet-5", 1],
    ]);
    const close = settleBatch(settled({ terms }), sums, { at: 1 });
    const details = close.settlements.map(({ log }) => (JSON.parse(log?.other ?? "") as { batch: object }).batch);
    expect(details).toMatchObject([
      { items: 3, succeeded: 2, cancelled: 1 },
      { items: 1, succeeded: 1, cancelled: 0 },
    ]);
  });

  it("of Gemini are read from a file and from an operation, with and without keys", async () => {
    const usageMetadata = { promptTokenCount: 200, candidatesTokenCount: 50, totalTokenCount: 250 };
    const responses = [
      { response: { candidates: [], usageMetadata }, metadata: { key: 'a,"]' } },
      { response: { candidates: [], usageMetadata } },
      { error: { code: 400, message: "]}," } },
    ];
    const output = { inlinedResponses: { inlinedResponses: responses } };
    const operation = JSON.stringify(
      { name: "inlinedResponses", metadata: { output }, response: output },
      undefined,
      1,
    );
    const terms = termsFor("gemini-3.5-flash");
    const expected = { succeeded: 2, failed: 1, quota: 2 * 188, unreadable: 0, missing: 0 };
    for (const chunk of [1, 7, 65_536])
      expect(await read({ format: "gemini-inline", terms, total: 3, streams: [operation] }, chunk)).toMatchObject(
        expected,
      );
    const lines = responses.map((one, at) => `${JSON.stringify({ key: `k${at}`, ...one })}\n`).join("");
    expect(await read({ format: "gemini", terms, total: 3, streams: [lines] })).toMatchObject(expected);
  });

  it("above the deposit are charged in full, and the row says so", async () => {
    const sums = await read({ streams: [line("a", 1000, 500)], total: 1 });
    const close = settleBatch(settled({ deposit: quota(3000), total: 1 }), sums, { at: 1 });
    expect(close.settlements).toMatchObject([{ quota: 3500, items: 1 }]);
    expect(JSON.parse(close.settlements[0]?.log?.other ?? "")).toMatchObject({ batch: { over_deposit: 500 } });
    expect(settleBatch(settled({ isLogged: false }), sums, { at: 1 }).settlements[0]).not.toHaveProperty("log");
  });

  it("reject when their stream breaks", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(line("a", 1, 1));
      await Promise.resolve();
      throw new Error("the connection was reset");
    }
    const request = { format: "openai", terms: termsFor("gpt-5.6"), models: {}, total: 1, count } as const;
    await expect(readBatchResults({ ...request, streams: [broken()] })).rejects.toThrow("reset");
  });
});

test("the sum over any results equals an independent exact sum, however their bytes are cut", async () => {
  const usage = fc.record({ input: fc.nat(400_000), cached: fc.nat(400_000), output: fc.nat(50_000) });
  await fc.assert(
    fc.asyncProperty(fc.array(usage, { maxLength: 60 }), fc.integer({ min: 1, max: 5000 }), async (usages, chunk) => {
      let expected = 0n;
      const lines = usages.map(({ input, cached, output }, at) => {
        const fromCache = Math.min(cached, input);
        // US dollars per million tokens at half price, times ten; 272,000 is the border of long prompts.
        const [ofInput, ofOutput, ofCache] = input > 272_000 ? [40n, 150n, 4n] : [20n, 100n, 2n];
        const tenths = BigInt(input - fromCache) * ofInput + BigInt(fromCache) * ofCache + BigInt(output) * ofOutput;
        // One unit is two dollars for a million tokens, which is twenty tenths.
        const units = (2n * tenths + 20n) / 40n;
        expected += units === 0n && tenths > 0n ? 1n : units;
        const details = { prompt_tokens_details: { cached_tokens: fromCache } };
        const counts = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output, ...details };
        return line(`item-${at}`, 0, 0, { usage: counts });
      });
      const sums = await read({ streams: [lines.join("")], total: usages.length }, chunk);
      expect(BigInt(sums.quota)).toBe(expected);
      expect(sums.succeeded).toBe(usages.length);
    }),
    { numRuns: propertyRuns(60) },
  );
});

test("100,000 results need no memory that grows with them, and let other work run", { timeout: 120_000 }, async () => {
  const total = 100_000;
  const message = { role: "assistant", content: "word ".repeat(300) };
  const more = { choices: [{ index: 0, message, finish_reason: "stop" }] };
  let turns = 0;
  const watch = setInterval(() => (turns += 1), 1);
  async function* lines(): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < total; from += 32) {
      const some = Array.from({ length: 32 }, (_, at) => line(`item-${from + at}`, 1000, 500, more));
      yield Buffer.from(some.join(""));
    }
    await Promise.resolve();
  }
  const memory = process.memoryUsage().rss;
  const request = { format: "openai", terms: termsFor("gpt-5.6"), models: {}, total, count } as const;
  const sums = await readBatchResults({ ...request, streams: [lines()] });
  clearInterval(watch);
  expect(sums).toMatchObject({ succeeded: total, quota: 3500 * total, unreadable: 0 });
  expect((process.memoryUsage().rss - memory) / 1024 / 1024).toBeLessThan(160);
  expect(turns).toBeGreaterThan(100);
});

describe("lists of results inside of an operation", () => {
  const results = [{ response: { text: 'a "]," \\\\' }, metadata: { inlinedResponses: "[" } }, { error: [[]] }];
  const build = (list: readonly unknown[]) => ({
    name: 'x "inlinedResponses":[] [',
    metadata: { output: { inlinedResponses: { inlinedResponses: list } }, state: "y" },
    response: { inlinedResponses: { inlinedResponses: list } },
  });

  it("are left out and put back, however the bytes arrive", async () => {
    for (const text of [JSON.stringify(build(results)), JSON.stringify(build(results), null, 2)])
      for (let size = 1; size < 40; size++) {
        const rest = Buffer.concat(await Array.fromAsync(dropElements(streamOf(text, size), "inlinedResponses")));
        expect(JSON.parse(rest.toString())).toEqual(build([]));
        const frame = JSON.stringify({ ...build([]), name: "mine" });
        const filled = await Array.fromAsync(fillLists(frame, streamOf(text, size), "inlinedResponses"));
        expect(JSON.parse(Buffer.concat(filled).toString())).toEqual({ ...build(results), name: "mine" });
      }
  });

  it("stay empty where the other text has fewer, and further ones are left out", async () => {
    const fill = async (frame: object, text: object) => {
      const parts = await Array.fromAsync(fillLists(JSON.stringify(frame), streamOf(JSON.stringify(text)), "list"));
      return JSON.parse(Buffer.concat(parts).toString()) as unknown;
    };
    expect(await fill({ a: { list: [] }, b: { list: [] } }, { list: [1] })).toEqual({
      a: { list: [1] },
      b: { list: [] },
    });
    expect(await fill({ list: [] }, { a: { list: [1] }, b: { list: [2] } })).toEqual({ list: [1] });
    expect(await fill({ list: [] }, { a: 1 })).toEqual({ list: [] });
  });
});

it("the rows of a batch have the tags and the end user of the call that created it", async () => {
  const sums = await read({ streams: [line("a", 1000, 500)], total: 1 });
  const close = settleBatch(settled({ tags: "app=shop", endUser: "42" }), sums, { at: 1 });
  expect(close.settlements.map(({ log }) => [log?.tags, log?.endUser])).toEqual([["app=shop", "42"]]);
});
