import { createClickhouse, createDatabase } from "@fairway/testkit/databases";
import { LOG_TYPE } from "@fairway/wire";
import { Kysely } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { removeOldLogs } from "../../jobs/log-retention.ts";
import { newestLogId } from "../newest-log.ts";
import type { Schema } from "../tables/schema.ts";
import { copyLogs } from "./copy.ts";
import { createClickhouseDialect } from "./dialect.ts";
import { explainRefusal } from "./errors.ts";
import { openClickhouse, type ClickhouseLog } from "./open.ts";

const DAY = 86_400;
const TODAY = START_SECONDS - (START_SECONDS % DAY);

let kit: StoreKit;
let logs: ClickhouseLog;
beforeEach(async () => {
  kit = await openStoreKit(await createClickhouse());
  if (kit.logs.kind !== "clickhouse") expect.unreachable();
  else logs = kit.logs;
});
afterEach(() => kit.database.close());

const contents = async () =>
  (await logs.raw.rows<{ content: string }>("select content from logs order by id", [])).map(({ content }) => content);

test("retention drops whole days, and failed calls earlier", async () => {
  const rows = [1, 2, 3, 4].flatMap((ago) => [
    { created_at: TODAY - ago * DAY + 5, content: `call ${ago}` },
    { created_at: TODAY - ago * DAY + 7, content: `failure ${ago}`, type: LOG_TYPE.error },
  ]);
  await insertLogs(logs, rows.toReversed());
  const said: string[] = [];
  const run = (days: number, errorDays: number) =>
    removeOldLogs(
      {
        logDatabase: logs,
        clock: kit.clock,
        log: { info: (message) => void said.push(message), warn: (message) => void said.push(message) },
        days: () => days,
        errorDays: () => errorDays,
        jobs: { run: () => Promise.resolve(undefined) },
      },
      { signal: new AbortController().signal, confirm: () => Promise.resolve() },
    );
  await run(3, 1);
  expect((await contents()).toSorted()).toEqual(["call 1", "call 2", "call 3", "failure 1"]);
  expect(said).toEqual(["a partition of old log rows was dropped"]);
  await run(0, 0);
  expect(await contents()).toHaveLength(4);
});

test("a repair of the ledger sets amounts", async () => {
  await insertLogs(logs, [
    { request_id: "it's", quota: 5 },
    { request_id: "b", quota: 6 },
  ]);
  await logs.raw.run("update logs set quota = ? where request_id = ? and type = ?", [9, "it's", LOG_TYPE.consume]);
  expect(await logs.raw.rows("select request_id, quota from logs order by id", [])).toEqual([
    { request_id: "it's", quota: 9 },
    { request_id: "b", quota: 6 },
  ]);
});

test("a copy has each row of a database once, continues after an interruption and takes later rows", async () => {
  const source = await openStoreKit(await createDatabase("sqlite"));
  const rows = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({
      request_id: `r${from + at}`,
      created_at: START_SECONDS - 3 * DAY + (from + at) * 20,
      quota: from + at,
      content: 'it\'s; {"a":1}\n',
    }));
  await insertLogs(source.database, rows(0, 12_000));
  const main = kit.database.raw;
  let steps = 0;
  const interrupted = copyLogs({
    source: source.database,
    target: logs,
    main,
    onStep() {
      steps += 1;
      throw new Error("killed");
    },
  });
  await expect(interrupted).rejects.toThrow("killed");
  const seen: number[] = [];
  const copy = () =>
    copyLogs({ source: source.database, target: logs, main, onStep: (copied) => void seen.push(copied) });
  expect(await copy()).toEqual({ rows: 12_000, isEqual: true });
  await insertLogs(source.database, rows(12_000, 10));
  expect(await copy()).toEqual({ rows: 12_010, isEqual: true });
  expect(steps).toBe(1);
  expect(seen.at(-1)).toBe(12_010);
  const [first] = await logs.raw.rows("select * from logs where id = ?", [7]);
  expect(first).toEqual((await source.database.raw.rows("select * from logs where id = ?", [7]))[0]);
  await source.database.raw.run("delete from logs where id = ?", [5]);
  expect(await copy()).toEqual({ rows: 12_009, isEqual: false });
  await source.database.close();
}, 300_000);

test("an account that is refused, and a database that is missing, say what to do", async () => {
  const url = new URL(await createClickhouse());
  url.username = "nobody";
  const refused = async (address: string) => {
    const other = await openClickhouse({ url: address, connections: 1 });
    const error: unknown = await other.prepare().catch((reason: unknown) => reason);
    await other.close();
    return explainRefusal(error);
  };
  expect(await refused(url.href)).toContain("user name or password");
  url.username = "default";
  url.pathname = "/none";
  expect(await refused(url.href)).toContain("make the database");
  expect(await refused("clickhouse://127.0.0.1:1/none")).toBeUndefined();
});

test("the newest id is found among the newest rows, and again after their removal", async () => {
  const asked: string[] = [];
  const client: ClickhouseLog["client"] = {
    ...logs.client,
    rows<Row>(sql: string) {
      asked.push(sql);
      return logs.client.rows<Row>(sql);
    },
  };
  const log = { kind: logs.kind, db: new Kysely<Schema>({ dialect: createClickhouseDialect(client) }) };
  const store = (first: number, count: number) =>
    logs.client.command(
      `insert into logs (id, created_at, type) select number + ${first}, ${TODAY} + number % ${DAY}, 2 from numbers(${count})`,
    );
  expect(await newestLogId(log)).toBe(0);
  await store(1, 100_000);
  expect(await newestLogId(log)).toBe(100_000);
  await store(100_001, 10);
  expect(await newestLogId(log)).toBe(100_010);
  const plan = await logs.client.rows<{ explain: string }>(`explain indexes = 1 ${asked.at(-1)}`);
  const read = plan
    .flatMap(({ explain }) => /Granules: (\d+)\/(\d+)/.exec(explain) ?? [])
    .slice(-2)
    .map(Number);
  expect(read[0]).toBeLessThan((read[1] ?? 0) / 3);
  await logs.db.deleteFrom("logs").where("id", ">", 50_000).execute();
  expect(await newestLogId(log)).toBe(50_000);
  await logs.db.deleteFrom("logs").execute();
  expect(await newestLogId(log)).toBe(0);
});
