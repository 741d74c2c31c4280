import { createDatabase } from "@fairway/testkit/databases";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { hasTable } from "../schema/introspect.ts";
import { createLogWriter } from "../log-rows.ts";
import { createTable } from "../schema/columns.ts";
import { CURRENT_LOG_TABLE } from "../schema/log-partitions.ts";
import { convertLogs, type Conversion } from "./conversion.ts";
import { readPartitions } from "./partitions.ts";

const DAY = 86_400;
const NOW = Date.parse("2026-11-25T12:00:00Z") / 1_000;
const write = createLogWriter(false);

describe.each(["mariadb", "postgres"] as const)("a log of one table on %s", (kind) => {
  let kit: StoreKit;
  beforeEach(async () => {
    kit = await openStoreKit(await createDatabase(kind));
    const { raw } = kit.database;
    // Creates the table as versions before partitions did.
    await raw.run("drop table logs", []);
    for (const sql of createTable(kit.database.kind, "logs", CURRENT_LOG_TABLE)) await raw.run(sql, []);
    const rows = Array.from({ length: 12_000 }, (_, at) => ({
      created_at: NOW - 5 * DAY + at * 30,
      request_id: `old-${at}`,
      quota: at,
    }));
    await insertLogs(kit.database, rows);
  });
  afterEach(() => kit.database.close());

  const convert = (onStep: Conversion["onStep"] = () => {}) =>
    convertLogs({ database: kit.database, now: NOW, onStep });
  const sums = async () => {
    const text = "select count(*) as n, count(distinct request_id) as requests, count(distinct id) as ids from logs";
    const [row] = await kit.database.raw.rows<{ n: number; requests: number; ids: number }>(text, []);
    return [Number(row?.n), Number(row?.requests), Number(row?.ids)];
  };

  test("gets partitions while calls write to it, and has each row once", async () => {
    const stop = new AbortController();
    let written = 0;
    const writer = async (name: string) => {
      for (let at = 0; !stop.signal.aborted; at += 1) {
        await kit.database.raw.transaction(async (tx) => {
          const row = { user_id: 1, username: "ann", created_at: NOW, type: 2, content: "", quota: 7 };
          await write(tx, { ...row, request_id: `${name}-${at}` });
          // Other transactions with higher ids commit first.
          await pause(at % 7);
        });
        written += 1;
      }
    };
    const writers = ["a", "b", "c", "d"].map(writer);
    const converted = await convert();
    stop.abort();
    await Promise.all(writers);
    expect(written).toBeGreaterThan(20);
    expect(converted?.isEqual).toBe(true);
    expect(await sums()).toEqual([12_000 + written, 12_000 + written, 12_000 + written]);
    const names = (await readPartitions(kit.database)).map(({ name }) => name);
    expect(names.slice(0, 2)).toEqual(["p20261120", "p20261121"]);
    expect(names.slice(-2)).toEqual(["p20261128", "rest"]);
    for (const table of ["logs_before", "logs_parts"])
      expect(await hasTable(kit.database.db, kit.database.kind, table)).toBe(false);
    expect(await convert()).toBeUndefined();
  }, 60_000);

  test("continues where a run was cut off, before and after the swap", async () => {
    const cutAt = (step: number) => {
      let steps = 0;
      return () => {
        if ((steps += 1) === step) throw new Error("cut off");
      };
    };
    await expect(convert(cutAt(2))).rejects.toThrow("cut off");
    expect(await sums()).toEqual([12_000, 12_000, 12_000]);
    await insertLogs(kit.database, [{ created_at: NOW, request_id: "between" }]);
    // The second run copies three steps again, then swaps.
    await expect(convert(cutAt(4))).rejects.toThrow("cut off");
    expect(await hasTable(kit.database.db, kit.database.kind, "logs_before")).toBe(true);
    await insertLogs(kit.database, [{ created_at: NOW, request_id: "after the swap" }]);
    expect((await convert())?.isEqual).toBe(true);
    expect(await sums()).toEqual([12_002, 12_002, 12_002]);
  }, 60_000);

  test("a charge that is corrected after the swap keeps its last row alone", async () => {
    let steps = 0;
    const cut = () => {
      if ((steps += 1) === 4) throw new Error("cut off");
    };
    await expect(convert(cut)).rejects.toThrow("cut off");
    await kit.database.raw.run("delete from logs where request_id = 'old-5'", []);
    await insertLogs(kit.database, [{ created_at: NOW, request_id: "old-5", quota: 500 }]);
    const converted = await convert();
    const rows = await kit.database.raw.rows<{ quota: number }>(
      "select quota from logs where request_id = 'old-5'",
      [],
    );
    expect(rows).toEqual([{ quota: 500 }]);
    // The old row differs from the current log row, so an operator decides about the old table.
    expect(converted?.isEqual).toBe(false);
    expect(await hasTable(kit.database.db, kit.database.kind, "logs_before")).toBe(true);
  }, 60_000);
});
