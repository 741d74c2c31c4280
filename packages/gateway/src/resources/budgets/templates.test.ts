import { createDatabase } from "@fairway/testkit/databases";
import type { Budget } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";
import { insertRow } from "../../storage/inserts.ts";
import { pruneBudgetValues } from "./values.ts";

describe("budget templates over HTTP", () => {
  let app: ManagementApp;
  let members: Members;
  let template: Budget;

  beforeAll(async () => {
    app = await startManagementApp({ url: await createDatabase("sqlite") });
    members = await signInMembers(app);
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    await app.database.db.deleteFrom("budgets").execute();
    template = await create({ scope: "end_user", subject: "ann/*", period: "month", quota_limit: 1_000 });
  });

  const create = (body: object) => members.root.data<Budget>(members.root.post("/api/budget/", body));
  const read = (path: string) => members.root.data<Budget[]>(members.root.get(path));
  const valuesOf = (keyword = "") => read(`/api/budget/${template.id}/values?keyword=${keyword}`);
  /** The budget that the first call of an end user makes. */
  const addValue = (name: string, more: object = {}) =>
    insertRow(app.database.db, "budgets", {
      scope: "end_user",
      subject: `${members.user.userId}/${name}`,
      period: "month",
      time_zone: "UTC",
      quota_limit: 1_000,
      thresholds: "80,100",
      soft_percent: 80,
      is_hard: 1,
      template_id: template.id,
      window_start: template.window_start,
      ...more,
    });

  test("is listed with the number of its values, which have a list of their own", async () => {
    expect(template).toMatchObject({ subject: `${members.user.userId}/*`, subject_name: "* of ann", values: 0 });
    await addValue("42", { used: 5 });
    await addValue("43", { used: 900 });
    await addValue("100%", { used: 7, window_start: template.window_start - 1 });
    expect(await read("/api/budget/")).toMatchObject([{ id: template.id, values: 3 }]);
    expect(await members.user.data(members.user.get("/api/budget/self"))).toMatchObject([
      { id: template.id, values: 3 },
    ]);
    const listed = await valuesOf();
    expect(listed.map(({ subject_name: name, used }) => [name, used])).toEqual([
      ["43 of ann", 900],
      ["42 of ann", 5],
      ["100% of ann", 0],
    ]);
    expect(listed[0]).toMatchObject({ template_id: template.id });
    expect((await valuesOf("%25")).map(({ subject_name: name }) => name)).toEqual(["100% of ann"]);
    expect(await readCode(members.user.get(`/api/budget/${template.id}/values`))).toBe("AU7");
    expect(await readCode(members.root.get("/api/budget/999999/values"))).toBe("BU1");
  });

  test("hands its changes to its values, with what is used and with the windows", async () => {
    await addValue("42", { used: 600 });
    const change = { id: template.id, quota_limit: 50, is_hard: false, thresholds: [90], anchor: "15" };
    await members.root.data(members.root.put("/api/budget/", change));
    const [value] = await valuesOf();
    expect(value).toMatchObject({ quota_limit: 50, is_hard: false, thresholds: [90], anchor: "15", used: 600 });
    await members.root.data(members.root.post(`/api/budget/${template.id}/reset`, {}));
    expect(await valuesOf()).toMatchObject([{ used: 0 }]);
  });

  test("a value that is changed or made by itself keeps what it used, and follows its template no longer", async () => {
    const id = await addValue("42", { used: 600 });
    await addValue("43", { used: 70 });
    await members.root.data(members.root.put("/api/budget/", { id, quota_limit: 5_000 }));
    const own = { scope: "end_user", subject: "ann/43", period: "month", quota_limit: 80 };
    expect(await create(own)).toMatchObject({ used: 70, quota_limit: 80 });
    expect(await readCode(members.root.post("/api/budget/", own))).toBe("BU2");
    await members.root.data(members.root.put("/api/budget/", { id: template.id, quota_limit: 1 }));
    expect(await valuesOf()).toEqual([]);
    expect((await read("/api/budget/")).map(({ quota_limit: limit, used }) => [limit, used])).toEqual([
      [1, 0],
      [5_000, 600],
      [80, 70],
    ]);
  });

  test("is deleted with its values and with what calls hold in them", async () => {
    const { db } = app.database;
    const id = await addValue("42");
    const hold = { request_id: "a", budget_id: id, amount: 1, lease_until: 1 };
    await db.insertInto("budget_holds").values(hold).execute();
    await members.root.data(members.root.delete(`/api/budget/${template.id}`));
    expect(await db.selectFrom("budgets").selectAll().execute()).toEqual([]);
    expect(await db.selectFrom("budget_holds").selectAll().execute()).toEqual([]);
  });

  test("can be of a tag and of the members of a team, and not of a part of a name", async () => {
    expect(await create({ scope: "tag", subject: "ann/app=*", period: "day", quota_limit: 5 })).toMatchObject({
      subject_name: "app=* of ann",
      values: 0,
    });
    const team = await members.root.data<{ id: number }>(members.root.post("/api/team/", { name: "Research" }));
    const made = await create({ scope: "member", subject: "research:*", period: "day", quota_limit: 5 });
    expect(made).toMatchObject({ subject: `${team.id}:*`, subject_name: "* of team Research", values: 0 });
    const part = await create({ scope: "tag", subject: "ann/app=sh*", period: "day", quota_limit: 5 });
    expect(part).not.toHaveProperty("values");
  });

  test("loses values that were unused in two windows, and keeps those that a call holds or has used", async () => {
    const { database, clock } = app;
    const long = template.window_start - 70 * 86_400;
    const held = await addValue("held", { window_start: long });
    await addValue("old", { window_start: long, used: 5 });
    await addValue("last", { window_start: template.window_start - 86_400 * 20, used: 5 });
    await addValue("booking", { window_start: long, held: 3 });
    await addValue("now");
    const budgets = { heldElsewhere: () => Promise.resolve(new Map([[held, 5]])) };
    const prune = () => pruneBudgetValues({ database, budgets, clock }, () => Promise.resolve());
    expect(await prune()).toBe(1);
    expect(await prune()).toBe(0);
    const left = (await valuesOf()).map(({ subject_name: name }) => name.replace(" of ann", ""));
    expect(left.toSorted()).toEqual(["booking", "held", "last", "now"]);
  });
});
