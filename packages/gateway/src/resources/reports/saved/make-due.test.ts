import { eachDatabase } from "@fairway/testkit/databases";
import { mailBody, startMailServer } from "@fairway/testkit/smtp";
import { DEFAULT_TEAM_SETTINGS, LOG_TYPE, ROLE, USER_STATUS, type ReportQuestion } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { insertLogs } from "../../../../test/kit/log-rows.ts";
import { quietLog } from "../../../../test/kit/support.ts";
import { openWebhookKit, type WebhookKit } from "../../../../test/kit/webhook-kit.ts";
import { accountRow } from "../../../identity/accounts/accounts.ts";
import { insertRow } from "../../../storage/inserts.ts";
import { transact } from "../../../storage/transaction.ts";
import { addMember } from "../../../teams/members.ts";
import { createTeam } from "../../../teams/teams.ts";
import { createReportStore } from "../store.ts";
import { createReportAttachments } from "./attachments.ts";
import { makeDueReports } from "./make-due.ts";
import { createSavedReports, type SavedReports } from "./store.ts";

const DAY = 86_400;
const HOUR_MS = 3_600_000;
const QUESTION: ReportQuestion = { by: ["tag:app"], days: 30, interval: "day" };

eachDatabase("scheduled reports", (open) => {
  let kit: WebhookKit;
  let saved: SavedReports;
  let userId: number;
  let people = 0;

  beforeAll(async () => {
    kit = await openWebhookKit(await open(), 300, (events) => createReportAttachments(buildDeps())(events));
  });
  afterAll(() => kit.close());
  beforeEach(async () => {
    await kit.clear();
    await kit.database.db.deleteFrom("saved_reports").execute();
    await kit.database.db.deleteFrom("logs").execute();
    saved = createSavedReports(kit.deps);
    const name = `mia-${++people}`;
    const account = accountRow({ username: name, passwordHash: "x", email: `${name}@example.com`, createdAt: 1 });
    userId = await insertRow(kit.database.db, "users", account);
  });

  const buildDeps = () => ({
    database: kit.database,
    store: createReportStore({ database: kit.database, logs: kit.database }),
    clock: kit.deps.clock,
    options: () => ({ QuotaPerUnit: 500_000 }),
    channelNames: () => Promise.resolve(new Map()),
    findNamed: () => Promise.resolve({ otherThan: [] }),
    log: quietLog,
  });
  const run = (confirm = () => Promise.resolve()) => makeDueReports(buildDeps(), new AbortController().signal, confirm);
  const save = (more: object = {}) =>
    saved.save(
      { userId, role: ROLE.user },
      {
        name: "daily",
        question: QUESTION,
        cadence: "day",
        hour: 6,
        mail: true,
        receivers: [],
        attach: "none",
        ...more,
      },
    );
  const readEvents = async () => {
    const rows = kit.database.db.selectFrom("events").selectAll().where("type", "=", "report.ready").orderBy("id");
    return (await rows.execute()).map((row) => ({ ...row, data: JSON.parse(row.data) as Record<string, unknown> }));
  };
  const startOfDay = () => Math.floor(kit.now() / 1000 / DAY) * DAY;

  test("are made once for each period, also by two leaders and after days without one", async () => {
    await save();
    expect(await run()).toBe(0);
    const first = startOfDay();
    const call = { type: LOG_TYPE.consume, user_id: userId, tags: "" };
    await insertLogs(kit.database, [
      { ...call, created_at: first, quota: 100, tags: "app=shop" },
      { ...call, created_at: first + DAY - 1, quota: 20, tags: "app=crm" },
      { ...call, created_at: first + DAY, quota: 3 },
      { ...call, created_at: first + 10, quota: 500, user_id: userId + 1 },
    ]);
    kit.move(2 * 24 * HOUR_MS + 7 * HOUR_MS);
    let made = 0;
    for (let round = 0; round < 6; round++) made += (await Promise.all([run(), run()])).reduce((a, b) => a + b);
    const events = await readEvents();
    expect(made).toBe(events.length);
    const of = events.find(({ data }) => data["period_start"] === first);
    expect(of).toMatchObject({
      user_id: userId,
      data: { name: "daily", period_end: first + DAY, calls: 2, quota: 120, rows: 2, cost_usd: "0.000240" },
    });
    const starts = events.map(({ data }) => Number(data["period_start"]));
    expect(starts.map((start, at) => start - (starts[0] ?? 0) - at * DAY)).toEqual(starts.map(() => 0));
    expect(starts.length).toBeGreaterThanOrEqual(2);
    expect(new Set(events.map(({ dedup_key }) => dedup_key)).size).toBe(events.length);
  });

  test("are not made by a process that no longer leads, and then by the one that does", async () => {
    await save();
    kit.move(31 * HOUR_MS);
    await expect(run(() => Promise.reject(new Error("another leads")))).rejects.toThrow("another leads");
    expect(await readEvents()).toEqual([]);
    expect(await run()).toBe(1);
    expect(await run()).toBe(0);
  });

  test("are mailed to their owner, who has chosen no mails before", async () => {
    const smtp = await startMailServer();
    kit.options.values = {
      ...kit.options.values,
      SMTPServer: "127.0.0.1",
      SMTPPort: smtp.port,
      SMTPAccount: "g@e.com",
    };
    await save({ name: "Monthly <b>" });
    kit.move(31 * HOUR_MS);
    expect(await run()).toBe(1);
    await kit.run();
    kit.move(HOUR_MS);
    await kit.run();
    expect(smtp.mails.map(({ to }) => to)).toEqual([[`mia-${people}@example.com`]]);
    const body = mailBody(smtp.mails[0]!);
    expect(body).toContain("Calls: 0");
    expect(body).not.toContain("<b>");
    await smtp.close();
  });

  test("reach their receivers with the rows as a file, until these leave the team", async () => {
    const { db } = kit.database;
    const smtp = await startMailServer();
    kit.options.values = {
      ...kit.options.values,
      SMTPServer: "127.0.0.1",
      SMTPPort: smtp.port,
      SMTPAccount: "g@e.com",
    };
    const addPerson = (name: string) =>
      insertRow(
        db,
        "users",
        accountRow({ username: name, passwordHash: "x", email: `${name}@example.com`, createdAt: 1 }),
      );
    const [bob, eve] = [await addPerson(`bob-${people}`), await addPerson(`eve-${people}`)];
    const slug = `team-${people}`;
    const team = await transact(db, (trx) =>
      createTeam(trx, {
        name: slug,
        slug,
        description: "",
        labels: {},
        settings: DEFAULT_TEAM_SETTINGS,
        group: "default",
        ownerId: bob,
        createdBy: 1,
        source: "manual",
        nowMs: kit.now(),
      }),
    );
    const member = { userId: eve, role: "member", source: "manual", addedBy: 1, nowMs: kit.now() } as const;
    await transact(db, (trx) => addMember(trx, { ...team, name: slug, slug }, member));
    const owner = { userId: team.accountId, role: ROLE.user, teamId: team.id };
    const values = { name: "costs", question: QUESTION, cadence: "day", hour: 6, mail: true } as const;
    await saved.save(owner, { ...values, receivers: [bob, eve], attach: "csv" });
    const call = { type: LOG_TYPE.consume, created_at: startOfDay() + 10, tags: "app=shop" };
    await insertLogs(kit.database, [
      { ...call, user_id: team.accountId, quota: 70 },
      { ...call, user_id: eve, quota: 900 },
    ]);
    const sendAll = async () => {
      await kit.run();
      kit.move(HOUR_MS);
      await kit.run();
    };
    kit.move(31 * HOUR_MS);
    expect(await run()).toBe(1);
    expect((await readEvents()).map((event) => [event.team_id, event.user_id])).toEqual([
      [team.id, 0],
      [0, bob],
      [0, eve],
    ]);
    await sendAll();
    expect(new Set(smtp.mails.map(({ to }) => to[0]))).toEqual(
      new Set([`bob-${people}@example.com`, `eve-${people}@example.com`]),
    );
    expect(smtp.mails).toHaveLength(2);
    for (const mail of smtp.mails) {
      expect(mail.text).toMatch(/filename="?costs-\d{4}-\d\d-\d\d\.csv/);
      const [, file = ""] = /text\/csv[^]*?\r?\n\r?\n([A-Za-z0-9+/=\r\n]+)/.exec(mail.text) ?? [];
      expect(Buffer.from(file, "base64").toString()).toMatch(/shop,1,0,.*,70,0\.000140/);
    }
    await db.deleteFrom("team_members").where("user_id", "=", eve).execute();
    kit.move(24 * HOUR_MS);
    for (let round = 0; round < 3; round++) await run();
    await sendAll();
    expect(smtp.mails.filter(({ to }) => to[0] === `eve-${people}@example.com`)).toHaveLength(1);
    expect(smtp.mails.length).toBeGreaterThan(2);
    await smtp.close();
  });

  test("have the shared cost in their file, whose totals are the charges of the period to the unit", async () => {
    const smtp = await startMailServer();
    kit.options.values = {
      ...kit.options.values,
      SMTPServer: "127.0.0.1",
      SMTPPort: smtp.port,
      SMTPAccount: "g@e.com",
    };
    const question = { ...QUESTION, interval: "none", shared: "app=platform|app=~none", split: "shop=2|crm=1" };
    await save({ name: "shared", question, attach: "csv" });
    const call = { type: LOG_TYPE.consume, user_id: userId, created_at: startOfDay() + 10 };
    await insertLogs(kit.database, [
      { ...call, tags: "app=shop", quota: 700 },
      { ...call, tags: "app=crm", quota: 90 },
      { ...call, tags: "app=platform", quota: 60 },
      { ...call, tags: "", quota: 41 },
    ]);
    kit.move(31 * HOUR_MS);
    expect(await run()).toBe(1);
    expect((await readEvents())[0]?.data).toMatchObject({ calls: 4, quota: 891, cost_usd: "0.001782" });
    await kit.run();
    kit.move(HOUR_MS);
    await kit.run();
    const [, file = ""] = /text\/csv[^]*?\r?\n\r?\n([A-Za-z0-9+/=\r\n]+)/.exec(smtp.mails[0]?.text ?? "") ?? [];
    const [head = "", ...lines] = Buffer.from(file, "base64").toString().trim().split("\r\n");
    expect(head).toMatch(/tag:app,calls,.*,quota,cost_usd,shared,total,total_usd$/);
    const rows = lines.map((line) => line.split(","));
    expect(rows.map((cells) => [cells[1], ...cells.slice(-5)])).toEqual([
      ["shop", "700", "0.001400", "67", "767", "0.001534"],
      ["crm", "90", "0.000180", "34", "124", "0.000248"],
      ["platform", "60", "0.000120", "-60", "0", "0.000000"],
      ["", "41", "0.000082", "-41", "0", "0.000000"],
    ]);
    expect(rows.reduce((sum, cells) => sum + Number(cells.at(-2)), 0)).toBe(891);
    await smtp.close();
  });

  test("of owners who are off, or who may not ask this any more, are passed without an event", async () => {
    const { db } = kit.database;
    await save();
    await save({ name: "by channel", question: { ...QUESTION, by: ["channel"] } });
    await db.updateTable("users").set({ role: ROLE.admin }).where("id", "=", userId).execute();
    kit.move(31 * HOUR_MS);
    expect(await run()).toBe(2);
    await db.updateTable("users").set({ role: ROLE.user }).where("id", "=", userId).execute();
    kit.move(24 * HOUR_MS);
    expect(await run()).toBe(1);
    await db.updateTable("users").set({ status: USER_STATUS.disabled }).where("id", "=", userId).execute();
    kit.move(24 * HOUR_MS);
    expect(await run()).toBe(0);
    const due = db
      .selectFrom("saved_reports")
      .select("id")
      .where("next_at", "<=", kit.now() / 1000 - 120);
    expect(await due.execute()).toEqual([]);
  });

  test("have one name each, which belongs to their owner", async () => {
    const id = await save();
    expect(await save({ name: "DAILY" })).toBe("report_name_taken");
    const stranger = { userId: userId + 1_000, role: ROLE.user };
    const plain = { question: QUESTION, cadence: "none", hour: 0, mail: false, receivers: [], attach: "none" } as const;
    const other = await saved.save(stranger, { ...plain, name: "daily" });
    expect(typeof other).toBe("number");
    expect(await saved.remove(userId + 1_000, Number(id))).toBe(false);
    expect(await saved.save(stranger, { ...plain, name: "x" }, Number(id))).toBe("report_not_found");
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => save({ name: "at once" })));
    expect(outcomes.filter((one) => typeof one === "number")).toHaveLength(1);
    expect(await saved.remove(userId, Number(id))).toBe(true);
  });
});
