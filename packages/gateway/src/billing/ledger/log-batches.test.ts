import { setTimeout as pause } from "node:timers/promises";
import { createClickhouse, createDatabase, DATABASE_KINDS } from "@fairway/testkit/databases";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LOG_TYPE } from "@fairway/wire";
import { openStoreKit, START_SECONDS, type StoreKit } from "../../../test/kit/store-kit.ts";
import { openClickhouse, type ClickhouseLog } from "../../storage/clickhouse/open.ts";
import { queueLogRows, type LogRowInput } from "../../storage/log-rows.ts";
import { createBatchMover, LOG_IDS } from "./log-batches.ts";

const DAY = 86_400;
/** The last second of a day: rows of the next second are in another partition. */
const MIDNIGHT = START_SECONDS - (START_SECONDS % DAY) + DAY - 1;

function row(requestId: string, more: Partial<LogRowInput> & { replaces?: true } = {}): LogRowInput {
  return {
    user_id: 1,
    created_at: START_SECONDS,
    type: LOG_TYPE.consume,
    content: "",
    username: "ann",
    token_name: "",
    model_name: "m",
    quota: 5,
    prompt_tokens: 0,
    completion_tokens: 0,
    use_time: 0,
    is_stream: 0,
    channel_id: 0,
    token_id: 0,
    group: "",
    ip: "",
    request_id: requestId,
    other: "",
    ...more,
  };
}

/** The same log through a network on which inserts fail before or after they took effect, by a fixed pattern. */
function unreliable(logs: ClickhouseLog, seed: number): ClickhouseLog {
  let state = seed;
  const draw = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  return {
    ...logs,
    client: {
      ...logs.client,
      async insert(rows, token) {
        const fate = draw();
        if (fate < 0.3) throw new Error("the connection was refused");
        await logs.client.insert(rows, token);
        if (fate > 0.7) throw new Error("the answer was lost");
      },
    },
  };
}

describe.each(DATABASE_KINDS)("log rows on their way from %s to ClickHouse", (kind) => {
  let kit: StoreKit;
  let logs: ClickhouseLog;
  beforeEach(async () => {
    kit = await openStoreKit(await createDatabase(kind));
    logs = await openClickhouse({ url: await createClickhouse(), connections: 4 });
  });
  afterEach(async () => {
    await logs.close();
    await kit.database.close();
  });

  const queue = (...rows: readonly LogRowInput[]) => queueLogRows(kit.database.raw, rows);
  const waiting = () => kit.database.raw.rows<{ id: number }>("select id from log_outbox", []);
  const stored = () =>
    logs.raw.rows<{ id: number; request_id: string; quota: number }>(
      "select id, request_id, quota from logs order by id",
      [],
    );
  const move = () => createBatchMover({ database: kit.database.raw, logs })();

  test("arrive once and with ids in their order, whatever fails and however many replicas move them", async () => {
    const movers = [1, 2, 3].map((seed) =>
      createBatchMover({ database: kit.database.raw, logs: unreliable(logs, seed) }),
    );
    const expected: string[] = [];
    const write = async () => {
      for (let at = 0; at < 12; at++) {
        const rows = Array.from({ length: 20 }, (_, index) =>
          row(index % 7 === 0 ? "" : `r${at}-${index}`, {
            created_at: MIDNIGHT + (index % 2),
            content: `${at}-${index}`,
          }),
        );
        expected.push(...rows.map(({ content }) => content));
        await queue(...rows);
        await pause(20);
      }
    };
    let isWritten = false;
    const run = async (mover: () => Promise<number>) => {
      while (!isWritten || (await waiting()).length > 0) {
        await mover().catch(() => undefined);
        await pause(5);
      }
    };
    // SQLite has one process.
    const running = (kind === "sqlite" ? movers.slice(0, 1) : movers).map(run);
    await write();
    isWritten = true;
    await Promise.all(running);
    const found = await logs.raw.rows<{ id: number; content: string }>("select id, content from logs order by id", []);
    expect(found.map(({ content }) => content).toSorted()).toEqual(expected.toSorted());
    const ids = found.map(({ id }) => id);
    expect(ids).toEqual(ids.map((_, at) => (ids[0] ?? 0) + at));
  }, 60_000);

  test("are stored once when the process dies before it has removed them from the outbox", async () => {
    await queue(row("a"), row("", { content: "without a request" }));
    const { raw } = kit.database;
    const refuse = (sql: string) => {
      if (sql.startsWith("delete from log_outbox")) throw new Error("killed");
    };
    const dying = {
      ...raw,
      run: (sql: string, values: Parameters<typeof raw.run>[1]) => (refuse(sql), raw.run(sql, values)),
      transaction: <T>(work: Parameters<typeof raw.transaction<T>>[0]) =>
        raw.transaction<T>((tx) => work({ ...tx, run: (sql, values) => (refuse(sql), tx.run(sql, values)) })),
    };
    await expect(createBatchMover({ database: dying, logs })()).rejects.toThrow("killed");
    const before = await stored();
    expect(before).toHaveLength(2);
    await queue(row("b"));
    expect(await move()).toBe(2);
    expect(await move()).toBe(1);
    expect((await stored()).map(({ request_id }) => request_id)).toEqual(["a", "", "b"]);
    expect((await stored()).slice(0, 2)).toEqual(before);
  });

  test("take the place of the row that they correct", async () => {
    await queue(row("a"), row("b"));
    await move();
    await queue(row("a", { quota: 9, created_at: START_SECONDS + 3 * DAY, replaces: true }));
    await move();
    expect((await stored()).map(({ request_id, quota }) => [request_id, quota])).toEqual([
      ["b", 5],
      ["a", 9],
    ]);
  });

  test("get ids above every id that the log had", async () => {
    await kit.database.db
      .insertInto("logs")
      .values({ ...row("old"), id: 70_000 })
      .execute();
    await kit.database.raw.run("insert into revisions (topic, revision) values (?, ?)", ["usage-statistics", 80_000]);
    await queue(row("a"));
    await move();
    expect((await stored()).map(({ id }) => id)).toEqual([80_001]);
  });

  test("get new ids, and stay once, after the database went back", async () => {
    await queue(row("a"));
    await move();
    const [before] = await kit.database.raw.rows<{ revision: number }>(
      "select revision from revisions where topic = ?",
      [LOG_IDS],
    );
    await queue(row("b"), row("c"));
    await move();
    await kit.database.raw.run("update revisions set revision = ? where topic = ?", [
      Number(before?.revision),
      LOG_IDS,
    ]);
    // The charge of b is booked again, and that of d is new.
    await queue(row("b"), row("d", { created_at: START_SECONDS + 100 }));
    const mover = createBatchMover({ database: kit.database.raw, logs });
    while ((await waiting()).length > 0) await mover();
    const found = await stored();
    expect(found.map(({ request_id }) => request_id)).toEqual(["a", "b", "c", "d"]);
    expect(new Set(found.map(({ id }) => id)).size).toBe(4);
  });
});
