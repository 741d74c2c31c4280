import { eachDatabase } from "@fairway/testkit/databases";
import { ROOT_PASSWORD, startGateway } from "@fairway/testkit/gateway";
import { endpoint, type AuditRow } from "@fairway/wire";
import { sql } from "kysely";
import * as z from "zod/mini";
import { expect, test } from "vitest";
import { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp } from "../../../test/kit/management-app.ts";
import { quietLog } from "../../../test/kit/support.ts";
import { implement } from "../../http/endpoint.ts";
import { openDatabase, type Database } from "../../storage/database.ts";

const CALLERS = 4;

const failing = endpoint({
  rights: { effect: "write", areas: ["settings"], stepUp: undefined },
  name: "failing",
  method: "POST",
  path: "/api/probe/failing",
  access: "root",
  summary: "Changes something and fails.",
  body: z.object({ note: z.string() }),
});

eachDatabase("an audit row of a write that is interrupted", (open) => {
  test("is there for every write of a process that was killed in the middle of them", async () => {
    const url = await open();
    const gateway = await startGateway({ database: url });
    const callers = await Promise.all(Array.from({ length: CALLERS }, () => signedIn(gateway.url)));
    const writing = callers.map(async (caller, index) => {
      for (let n = 0; ; n += 1) await caller.post("/api/redemption/", { name: `c${index}-${n}`, quota: 5, count: 1 });
    });
    // Each call ends when the kill breaks its connection.
    const broken = Promise.allSettled(writing);
    await expect.poll(() => count(url, "redemptions"), { timeout: 15_000 }).toBeGreaterThan(2 * CALLERS);
    await gateway.kill();
    await broken;
    const database = openDatabase({ url, log: quietLog });
    try {
      const codes = await database.db.selectFrom("redemptions").select("name").execute();
      const rows = await database.db
        .selectFrom("audit_log")
        .select("new_value")
        .where("action", "=", "redemptionCreate")
        .execute();
      const audited = rows.map(({ new_value }) => nameIn(new_value ?? ""));
      expect(codes.map(({ name }) => name).filter((name) => !audited.includes(name))).toEqual([]);
      // Each user has at most one call in progress.
      expect(rows.length - codes.length).toBeLessThanOrEqual(CALLERS);
    } finally {
      await database.close();
    }
  });

  test("says what was asked for when the outcome is unknown, and goes when it was refused", async () => {
    const change = implement(failing, () => Promise.reject(new Error("the disk does not answer")));
    const app = await startManagementApp({ url: await open(), routes: [change] });
    try {
      const root = await app.signIn("root");
      expect((await root.post(failing.path, { note: "n" })).status).toBe(500);
      await root.put("/api/option/", { key: "NoSuchOption", value: "1" });
      const [row, ...others] = await root.data<AuditRow[]>(root.get("/api/audit"));
      expect(others).toEqual([]);
      expect(row).toMatchObject({ action: "failing", new_value: '{"unfinished":{"note":"n"}}' });
    } finally {
      await app.close();
    }
  });

  test("cannot be missing: without it nothing is written", async () => {
    const app = await startManagementApp({ url: await open() });
    try {
      const root = await app.signIn("root");
      await renameLog(app.database, "audit_log", "audit_away");
      const reply = await root.post("/api/redemption/", { name: "a", quota: 5, count: 1 });
      expect(reply.body).toMatchObject({ success: false, code: "G4" });
      await renameLog(app.database, "audit_away", "audit_log");
      expect(await root.data(root.get("/api/redemption/"))).toEqual([]);
    } finally {
      await app.close();
    }
  });
});

async function signedIn(url: string): Promise<ApiCaller> {
  const caller = new ApiCaller(url);
  await caller.signIn("root", ROOT_PASSWORD);
  return caller;
}

async function count(url: string, table: "redemptions"): Promise<number> {
  const database = openDatabase({ url, log: quietLog });
  const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(database.db);
  await database.close();
  return Number(rows[0]?.n);
}

async function renameLog({ db }: Database, from: string, to: string): Promise<void> {
  await db.schema.alterTable(from).renameTo(to).execute();
}

function nameIn(text: string): unknown {
  const value = JSON.parse(text) as { name?: unknown; unfinished?: { name?: unknown } };
  return value.name ?? value.unfinished?.name;
}
