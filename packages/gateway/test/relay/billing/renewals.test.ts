// The cost of a running stream, if its process died, is an upper estimate; only a charge starts the encoder's thread.
import { afterAll, beforeAll, expect, it } from "vitest";
import { chat, consumeRows, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const SLOW = "slow-50+long-400";

let threads = 0;
const onWorker = () => void (threads += 1);
beforeAll(() => void process.on("worker", onWorker));
afterAll(() => void process.off("worker", onWorker));

it("a renewal estimates, and the charge of a client that left counts", { timeout: 30_000 }, async () => {
  await relay.gateway.channel(SLOW);
  const leaver = new AbortController();
  const before = threads;
  const { signal } = leaver;
  const body = chat(SLOW, { stream: true });
  const response = await relay.gateway.post("/v1/chat/completions", body, relay.key, { signal });
  const id = response.headers.get("x-request-id") ?? "";
  const seen = async () => {
    const holds = relay.gateway.database.db.selectFrom("holds").selectAll().where("request_id", "=", id);
    const text = (await holds.executeTakeFirst())?.seen ?? "";
    return text === ""
      ? undefined
      : (JSON.parse(text) as { quota: number; log: { completionTokens: number; other: string } });
  };
  await expect.poll(async () => (await seen())?.quota ?? 0, { timeout: 10_000 }).toBeGreaterThan(0);
  const renewed = await seen();
  expect(JSON.parse(renewed?.log.other ?? "{}")).toMatchObject({ usage_source: "estimated" });
  expect(threads).toBe(before);
  leaver.abort();
  await relay.gateway.settled();
  const [row] = await consumeRows(relay.gateway, id);
  expect(row?.other).toMatchObject({ usage_source: "counted", end_reason: "client_abort" });
  expect(row?.completion_tokens).toBeGreaterThan(0);
  expect(threads).toBe(before + 1);
});
