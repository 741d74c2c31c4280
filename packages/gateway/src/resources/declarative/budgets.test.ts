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
    [{ timeZone: "Mars/Base" }, "The time zone Mars/Base does not exist"],
    [{ limit: 0 }, "spec.limit"],
    [{ period: "hours" }, "needs a length"],
    [{ period: "day", anchor: "3" }, "cannot begin on 3"],
    [{ endsAt: "2031-01-01T00:00:00Z" }, "Only a budget of the period total has an end"],
    [{ period: "total", endsAt: "soon" }, "endsAt is no time"],
    [{ filterModel: "a*b" }, "spec.filterModel"],
    [{ thresholds: [50, 90], softPercent: 80 }, "softPercent is not the lowest"],
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

  test("describes windows, models and thresholds, and changes them", async () => {
    const spec = { period: "hours", length: 5, filterModel: "claude-*", thresholds: [95, 50], forecast: true };
    const year = { period: "year", anchor: "04-06", timeZone: "Europe/London" };
    const total = { period: "total", endsAt: "2099-01-01T00:00:00Z" };
    const documents = [budgetDocument("five", spec), budgetDocument("year", year), budgetDocument("all", total)];
    await calls.apply(documents);
    expect(listActions(await calls.plan(documents))).toEqual(["five: unchanged", "year: unchanged", "all: unchanged"]);
    const [hours] = await rows();
    expect(hours).toMatchObject({
      length: 5,
      filter_model: "claude-*",
      thresholds: "50,95",
      soft_percent: 50,
      forecast: 1,
    });
    const changed = { ...spec, length: 6, thresholds: [], forecast: false };
    const [change] = await calls.apply([budgetDocument("five", changed), ...documents.slice(1)]);
    expect(change?.fields.map(({ field }) => field).toSorted()).toEqual(["forecast", "length", "thresholds"]);
    const [other] = await calls.plan([budgetDocument("five", { ...changed, filterModel: "gpt-*" })]);
    expect(other).toMatchObject({ action: "conflict" });
    await calls.apply([budgetDocument("all", { ...total, endsAt: null })]);
    expect((await rows()).at(-1)).toMatchObject({ period: "total", ends_at: 0 });
    const put = (body: object) => members.root.put("/api/budget/", { id: hours?.id, ...body });
    expect((await put({ thresholds: [50] })).body).toMatchObject({ reason: "managed_conflict" });
    expect((await put({ soft_percent: 40 })).body).toMatchObject({ reason: "managed_conflict" });
    expect((await put({ thresholds: [], time_zone: "Asia/Shanghai" })).body["success"]).toBe(true);
  });

  test("exports budgets that apply without a change", async () => {
    const total = { period: "total", endsAt: "2099-01-01T00:00:00Z", filterModel: "gpt-4o" };
    const others = [budgetDocument("five", { period: "hours", length: 5 }), budgetDocument("all", total)];
    await calls.apply([budgetDocument("ann"), ...others]);
    const exported = await members.root.data<unknown[]>(members.root.get("/api/declarative/export?kind=Budget"));
    await app.database.db.deleteFrom("managed_resources").execute();
    expect((await calls.plan(exported)).map(({ action }) => action)).toEqual(Array(3).fill("unchanged"));
  });
});
