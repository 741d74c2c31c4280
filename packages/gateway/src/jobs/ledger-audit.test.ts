import { freshRedis } from "@fairway/testkit/databases";
import { expect, test, vi } from "vitest";
import { quietLog } from "../../test/kit/support.ts";
import { granted, createSettlement } from "../billing/ledger/test-harness.contract.ts";
import { openHarnesses } from "../billing/ledger/redis/traffic.contract.ts";
import { ledgerAuditJob } from "./ledger-audit.ts";

const DAY_MS = 86_400_000;

test("balances that differ make one event a day", async () => {
  const service = await freshRedis();
  const { harness, user, token } = await openHarnesses(service, { isPair: false });
  await granted(harness.ledger, user, token, 100).then((hold) => harness.ledger.settle(createSettlement(hold, 10)));
  await harness.ledger.flush();
  let now = DAY_MS * 20_000;
  const ledgerAudited = vi.fn<(differences: number) => void>();
  const { redis, database } = harness;
  const job = ledgerAuditJob({ redis, database, clock: { now: () => now }, log: quietLog, metrics: { ledgerAudited } });
  const run = () => job.run(new AbortController().signal, () => Promise.resolve());
  const events = () => database.rows("select user_id, severity, data from events where type = 'ledger.difference'", []);
  await run();
  expect(await events()).toEqual([]);
  await redis.sendOne({ command: "hincrby", args: [redis.keys.user(user), "b", 5] }, 1_000);
  await run();
  await run();
  const event = { user_id: 0, severity: "critical", data: JSON.stringify({ differences: 1 }) };
  expect(await events()).toEqual([event]);
  now += DAY_MS;
  await run();
  expect(await events()).toEqual([event, event]);
  expect(ledgerAudited.mock.calls).toEqual([[0], [1], [1], [1]]);
  await harness.close();
});
