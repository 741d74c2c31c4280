import { expect, test } from "vitest";
import { SilentProblem } from "../problems.ts";
import { eventBatches } from "./sse.ts";

const STREAM = ': hello\r\n\r\ndata: {"a":1}\r\n\r\nevent: x\r\ndata:two\r\ndata: lines\r\n\r\ndata: [DONE]\r\n\r\n';

async function collectData(text: string, size: number): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  const read: string[] = [];
  for await (const batch of eventBatches(stream, 60_000)) read.push(...batch.map(({ data }) => data));
  return read;
}

test("reads events wherever the pieces end", async () => {
  for (const size of [1, 2, 3, 7, STREAM.length])
    expect(await collectData(STREAM, size), `pieces of ${size}`).toEqual(['{"a":1}', "two\nlines", "[DONE]"]);
});

test("does not read an event without its end", async () => {
  expect(await collectData("data: half", 64)).toEqual([]);
});

test("reads the names of events, and signs that two pieces share", async () => {
  const bytes = new TextEncoder().encode(': open\n\nevent: row\ndata: "é"\n\nevent: dropped\ndata: 2\n\n');
  const cut = bytes.indexOf(0xc3) + 1;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.slice(0, cut));
      controller.enqueue(bytes.slice(cut));
      controller.close();
    },
  });
  const batches: unknown[] = [];
  for await (const batch of eventBatches(stream, 60_000)) batches.push(batch);
  expect(batches).toEqual([
    [
      { name: "row", data: '"é"' },
      { name: "dropped", data: "2" },
    ],
  ]);
});

test("gives up a stream that falls silent, and closes it", async () => {
  const closed = Promise.withResolvers<void>();
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("event: row\ndata: 1\n\n")),
    cancel: () => closed.resolve(),
  });
  const batches = eventBatches(stream, 20);
  expect((await batches.next()).value).toEqual([{ name: "row", data: "1" }]);
  await expect(batches.next()).rejects.toThrow(SilentProblem);
  await closed.promise;
});

test("a stream whose server only says that it is there is not silent", async () => {
  const bytes = new TextEncoder().encode(": still here\n\n");
  let beats = 0;
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (++beats > 20) controller.close();
        else controller.enqueue(bytes);
      },
    },
    { highWaterMark: 0 },
  );
  expect((await eventBatches(stream, 5_000).next()).done).toBe(true);
  expect(beats).toBe(21);
});
