import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../../test/kit/members.ts";
import { listActions, budgetDocument, channelDocument, documentCalls } from "./documents-kit.ts";

eachDatabase("budgets as documents", (open) => {
  let app: ManagementApp;
  let members: Members;
  let calls: ReturnType<typeof documentCalls>;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
    calls = documentCalls(members.root);
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    for (const table of ["channels", "abilities", "budgets", "managed_resources"] as const)
      await app.database.db.deleteFrom(table).execute();
    await app.snapshots.refresh();
  });

  const rows = () => app.database.db.selectFrom("budgets").selectAll().orderBy("id").execute();
  const readReason = async (documents: unknown[]) => (await calls.tryApply(documents)).body["message"];

  test("creates, changes and deletes a budget, and fills in the defaults of the console", async () => {
    expect(listActions(await calls.apply([budgetDocument("ann")]))).toEqual(["ann: create"]);
    const [row] = await rows();
    expect(row).toMatchObject({
      scope: "user",
      period: "month",
      quota_limit: 1000,
      time_zone: "UTC",
      soft_percent: 80,
    });
    expect(Number(row?.is_hard)).toBe(1);
    expect(listActions(await calls.plan([budgetDocument("ann")]))).toEqual(["ann: unchanged"]);
    const [change] = await calls.apply([budgetDocument("ann", { limit: 2000, hard: false })]);
    expect(change?.fields.map(({ field }) => field).toSorted()).toEqual(["hard", "limit"]);
    expect((await rows())[0]).toMatchObject({ quota_limit: 2000 });
    expect(listActions(await calls.apply([], { prune: true }))).toEqual(["ann: delete"]);
    expect(await rows()).toEqual([]);
  });

  test("limits a channel that the same documents create, whatever their order", async () => {
    const budget = budgetDocument("cap", { scope: "channel", subject: "main" });
    await calls.apply([budget, channelDocument("main")]);
    const [channel] = await app.database.db.selectFrom("channels").select("id").execute();
    expect((await rows())[0]?.subject).toBe(String(channel?.id));
    expect(listActions(await calls.plan([budget, channelDocument("main")]))).toEqual([
      "cap: unchanged",
      "main: unchanged",
    ]);
  });

  test.each([
    [{ subject: "no-such-user" }, "there is no user no-such-user"],
    [{ scope: "channel", subject: "99999" }, "there is no channel 99999"],
    [{ timeZone: "Mars/Base" }, "there is no time zone Mars/Base"],
    [{ limit: 0 }, "spec.limit"],
  ])("refuses %j with a reason and writes nothing", async (spec, reason) => {
    expect(await readReason([budgetDocument("bad", spec)])).toContain(reason);
    expect(await rows()).toEqual([]);
  });

  test("keeps scope, subject and period of an owned budget", async () => {
    await calls.apply([budgetDocument("ann")]);
    const [change] = await calls.apply([budgetDocument("ann", { period: "day" })]);
    expect(change).toMatchObject({ action: "conflict", message: expect.stringContaining("do not change") as string });
  });

  test("locks the fields of the document for the console", async () => {
    await calls.apply([budgetDocument("ann")]);
    const id = (await rows())[0]?.id ?? 0;
    expect((await members.root.put("/api/budget/", { id, quota_limit: 5 })).body).toMatchObject({
      reason: "managed_conflict",
    });
    expect((await members.root.put("/api/budget/", { id, quota_limit: 1000, soft_percent: 50 })).body["success"]).toBe(
      true,
    );
    expect((await members.root.delete(`/api/budget/${id}`)).body["success"]).toBe(false);
  });

  test("exports budgets that apply without a change", async () => {
    await calls.apply([budgetDocument("ann")]);
    const exported = await members.root.data<unknown[]>(members.root.get("/api/declarative/export?kind=Budget"));
    await app.database.db.deleteFrom("managed_resources").execute();
    expect((await calls.plan(exported)).map(({ action }) => action)).toEqual(["unchanged"]);
  });
});
