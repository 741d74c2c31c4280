import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import type { Logger } from "../../observability/log.ts";
import { createFailureReports } from "./failure-reports.ts";

let kit: StoreKit;

beforeAll(async () => {
  kit = await openStoreKit(await createDatabase("sqlite"));
});
afterAll(() => kit.database.close());

test("a channel that still fails after two trials makes one event an hour, whichever replica sees it", async () => {
  const channels = new Map([[7, { name: "main" }]]);
  const current = () => ({ channels }) as never;
  const log = { warn: vi.fn<() => void>() } as unknown as Logger;
  const replicas = [1, 2].map(() => createFailureReports({ ...kit, snapshots: { current }, log }));
  const rows = () => kit.database.db.selectFrom("events").select(["type", "user_id", "data"]).orderBy("id").execute();
  const report = async (forMs: number, channelId = 7) => {
    for (const one of replicas) one(channelId, { keyIndex: 1, forMs });
    await vi.waitFor(async () => expect((await rows()).length).toBeGreaterThan(0));
  };
  for (const forMs of [0, 10_000, 20_000]) for (const one of replicas) one(7, { keyIndex: 1, forMs });
  await report(40_000);
  const until = START_SECONDS + 40;
  const data = JSON.stringify({ id: 7, name: "main", number: 2, until });
  expect(await rows()).toEqual([{ type: "channel.failing", user_id: 0, data }]);
  kit.clock.set(START_SECONDS + 3_600);
  await report(300_000);
  await vi.waitFor(async () => expect(await rows()).toHaveLength(2));
  expect(log.warn).not.toHaveBeenCalled();
});
