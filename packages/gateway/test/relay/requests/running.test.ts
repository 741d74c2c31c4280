// Running requests by the channel that serves them, as administrators and other replicas read them.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Replica } from "@fairway/wire";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";

let gateway: RelayApp;
beforeAll(async () => {
  gateway = await startRelayApp();
});
afterAll(() => gateway.close());

const replica = async () => (await gateway.root.must<Replica[]>("GET", "/api/system/replicas"))[0];

it("a request is counted at its channel while it runs, in the answer and in what the process reports", async () => {
  const id = await gateway.channel("hang");
  const key = await gateway.token();
  const gone = new AbortController();
  const body = { model: "hang", messages: [{ role: "user", content: "hi" }], stream: true };
  const calls = [1, 2].map(() => gateway.post("/v1/chat/completions", body, key, { signal: gone.signal }));
  await expect.poll(async () => (await replica())?.channels).toEqual({ [id]: 2 });
  expect(await replica()).toMatchObject({ running: 2, is_lost: false });
  const reported = async () =>
    (await gateway.database.db.selectFrom("replicas").select("channels").execute())[0]?.channels;
  await expect.poll(reported, { timeout: 10_000 }).toBe(`{"${id}":2}`);
  gone.abort();
  await Promise.allSettled(calls);
  await expect.poll(async () => (await replica())?.channels).toEqual({});
});
