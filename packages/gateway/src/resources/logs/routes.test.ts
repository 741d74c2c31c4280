import { createDatabase } from "@fairway/testkit/databases";
import type { LogPage, LogRow, Token } from "@fairway/wire";
import { request } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, readRefusal, signInMembers, type Members } from "../../../test/kit/members.ts";

let app: ManagementApp;
let members: Members;

beforeAll(async () => {
  app = await startManagementApp({
    url: await createDatabase("sqlite"),
    rules: { critical: { name: "CT", limit: 10, windowMs: 1_200_000 } },
  });
  members = await signInMembers(app);
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.database.db.deleteFrom("logs").execute();
});

const insert = (...rows: Parameters<typeof insertLogs>[1]) => insertLogs(app.database, rows);
const now = () => Math.floor(app.clock.now() / 1000);
const adminPage = (query = "") => members.admin.data<LogPage>(members.admin.get(`/api/log/${query}`));
const selfPage = (query = "") => members.user.data<LogPage>(members.user.get(`/api/log/self/${query}`));
const ann = () => ({ user_id: members.user.userId, username: "ann" });
const OTHER = JSON.stringify({ model_ratio: 1.25, upstream_model_name: "secret", admin_info: { use_channel: ["7"] } });

describe("lists", () => {
  test("a pattern that matches rows without a model has each row once", async () => {
    await insert({ content: "a" }, { content: "b" });
    await insert({ content: "named", model_name: "gpt-4o" }, { content: "other", model_name: "o3" });
    const all = await adminPage("?model_name=%25&page_size=100");
    expect([all.total, all.items.length, new Set(all.items.map(({ id }) => id)).size]).toEqual([4, 4, 4]);
  });

  test("mean a user by a name, and a team by its short name, never both", async () => {
    const { root, admin } = members;
    const team = await root.data<{ account_id: number }>(root.post("/api/team/", { name: "ann", slug: "lab" }));
    const ofTeam = { user_id: team.account_id, username: "ann", account_kind: 1 };
    await insert({ ...ann(), content: "own" });
    await insert({ ...ofTeam, content: "of the team" });
    const find = async (name: string) => {
      const page = await adminPage(`?username=${name}`);
      const { quota } = await admin.data<{ quota: number }>(admin.get(`/api/log/stat?username=${name}&type=2`));
      return [page.items.map(({ content }) => content), page.total, quota];
    };
    await insert({ ...ofTeam, content: "paid", quota: 5 });
    expect(await find("ann")).toEqual([["own"], 1, 0]);
    expect(await find("team:lab")).toEqual([["paid", "of the team"], 2, 5]);
    expect(await find("team:nothing")).toEqual([[], 0, 0]);
    expect((await adminPage(`?username=team:lab&user_id=${members.user.userId}`)).items).toEqual([]);
  });

  test("answer an object with the page that was asked for, from 1", async () => {
    await insert(...Array.from({ length: 12 }, (_, index) => ({ content: `c${index}`, created_at: 1_000 + index })));
    const first = await adminPage();
    expect(first).toMatchObject({ total: 12, page: 1, page_size: 10 });
    expect(first.items.map((row) => row.content)).toEqual([
      "c11",
      "c10",
      "c9",
      "c8",
      "c7",
      "c6",
      "c5",
      "c4",
      "c3",
      "c2",
    ]);
    expect(await adminPage("?p=0&page_size=5")).toMatchObject({ page: 1, page_size: 5, total: 12 });
    const second = await adminPage("?p=2&page_size=10");
    expect([second.items.map((row) => row.content), second.next]).toEqual([["c1", "c0"], ""]);
    expect((await adminPage("?p=-3&page_size=500")).items).toHaveLength(12);
    expect(await adminPage("?p=99")).toEqual({ items: [], total: 12, page: 99, page_size: 10, next: "" });
    const cursor = await adminPage(`?page_size=10&before=${first.next}`);
    expect(cursor.items.map((row) => row.content)).toEqual(["c1", "c0"]);
    expect(await readCode(members.admin.get("/api/log/?before=x"))).toBe("G1");
  });

  test("show administrators the channel and who did it", async () => {
    await members.admin.data(members.admin.post("/api/channel/", { name: "Azure EU", key: "k", models: "a" }));
    const { id } = await app.database.db.selectFrom("channels").select("id").executeTakeFirstOrThrow();
    await insert({ ...ann(), channel_id: id, other: OTHER, is_stream: 1, request_id: "req" });
    const [row] = (await adminPage("?username=ann")).items;
    expect(row).toMatchObject({
      channel: id,
      channel_name: "Azure EU",
      other: OTHER,
      is_stream: true,
      username: "ann",
      request_id: "req",
    });
    expect(await members.admin.data(members.admin.get(`/api/log/${row?.id}`))).toEqual(row);
    expect(await readRefusal(members.admin.get("/api/log/999999"))).toEqual([200, "H3", "Log does not exist."]);
  });

  test("hide from owners from where an administrator changed their account, but not where they did themselves", async () => {
    const by = (operator: number) => JSON.stringify({ admin_info: { operator_id: operator, operator_name: "x" } });
    const change = { ...ann(), type: 3, ip: "203.0.113.7" };
    await insert({ ...change, other: by(members.user.userId) }, { ...change, other: by(1) });
    expect((await selfPage()).items.map(({ ip, other }) => [ip, other])).toEqual([
      ["", "{}"],
      ["203.0.113.7", "{}"],
    ]);
    expect((await adminPage()).items.map(({ ip }) => ip)).toEqual(["203.0.113.7", "203.0.113.7"]);
  });

  // @weakness Leaks: Users see channels and true numbers of log rows
  test("hide from owners what is the operator's, and everybody else's rows", async () => {
    await insert(
      { username: "root", user_id: 1 },
      ...Array.from({ length: 12 }, (_, index) => ({
        ...ann(),
        channel_id: 7,
        other: OTHER,
        content: `c${index}`,
        request_id: `r${index}`,
      })),
    );
    const page = await selfPage("?page_size=5&username=root&channel=1&user_id=1");
    expect(page.total).toBe(12);
    expect(page.items.map((row) => row.id)).toEqual([1, 2, 3, 4, 5]);
    expect(page.items[0]).toMatchObject({
      content: "c11",
      channel: 0,
      channel_name: "",
      other: '{"model_ratio":1.25}',
    });
    expect((await selfPage("?page_size=5&p=2")).items.map((row) => row.id)).toEqual([6, 7, 8, 9, 10]);
    expect(page.next).not.toMatch(/^\d+$/);
    const next = await selfPage(`?page_size=5&before=${page.next}`);
    expect(next.items.map((row) => row.content)).toEqual(["c6", "c5", "c4", "c3", "c2"]);
    expect(await readCode(members.user.get("/api/log/self?before=12"))).toBe("G1");
    expect(await members.user.data(members.user.get("/api/log/self/r3"))).toMatchObject({
      content: "c3",
      id: 1,
      channel: 0,
    });
    expect(await readCode(members.user.get("/api/log/self/unknown"))).toBe("H3");
    expect(await readCode(members.user.get("/api/log/"))).toBe("AU7");
  });

  test("never answer what compatible consoles cannot read", async () => {
    await insert({ other: "null" }, { other: "[1]" }, { other: "{broken" }, { other: "" });
    expect((await adminPage()).items.map((row) => row.other)).toEqual(["", "", "", ""]);
  });

  // @weakness Injection and parsing: Signs of a search are taken as a pattern
  test("take hostile filters literally", async () => {
    await insert({ content: "only", model_name: "a%b_c'd", username: "x' or '1'='1" });
    const found = async (query: string) => (await adminPage(query)).items.length;
    expect(await found(`?username=${encodeURIComponent("x' or '1'='1")}`)).toBe(1);
    expect(await found("?username=%25")).toBe(0);
    expect(await found(`?model_name=${encodeURIComponent("a%c'd")}`)).toBe(1);
    expect(await found(`?model_name=${encodeURIComponent("a_b%")}`)).toBe(0);
    expect(await found("?type=abc&channel=1.5&start_timestamp=NaN&end_timestamp=")).toBe(1);
  });
});

describe("sums", () => {
  // @weakness Sessions and permissions: Own figures are found by name, also those of a former owner of the name
  test("follow the filter; owners get their own", async () => {
    await insert(
      { quota: 5, prompt_tokens: 3, completion_tokens: 4, created_at: now() - 5 },
      { ...ann(), quota: 7, created_at: now() - 90 },
    );
    expect(await members.admin.data(members.admin.get("/api/log/stat?type=1"))).toEqual({ quota: 12, rpm: 1, tpm: 7 });
    expect(await members.admin.data(members.admin.get("/api/log/stat?username=ann"))).toEqual({
      quota: 7,
      rpm: 0,
      tpm: 0,
    });
    expect(await members.user.data(members.user.get("/api/log/self/stat?username=root"))).toEqual({
      quota: 7,
      rpm: 0,
      tpm: 0,
    });
    expect(await members.user.data(members.user.get("/api/log/self/stat?model_name=none"))).toEqual({
      quota: 0,
      rpm: 0,
      tpm: 0,
    });
  });

  test("histograms and facets of owners count their own rows only", async () => {
    await insert({ created_at: 1_000 }, { ...ann(), created_at: 2_000, channel_id: 7 });
    expect(await members.admin.data(members.admin.get("/api/log/histogram"))).toMatchObject({
      buckets: [{ count: 1 }, { count: 1 }],
    });
    expect(await members.user.data(members.user.get("/api/log/self/histogram"))).toMatchObject({
      buckets: [{ start: 2_000, count: 1, errors: 0 }],
    });
    expect(await members.admin.data(members.admin.get("/api/log/facets"))).toMatchObject({
      users: [{ value: "ann" }, { value: "root" }],
      channels: [{ value: "7", count: 1, name: "" }],
    });
    expect(await members.user.data(members.user.get("/api/log/self/facets"))).toMatchObject({
      users: [],
      channels: [],
      models: [{ value: "gpt-4o", count: 1 }],
    });
  });

  test("facets name channels, and count the codes and statuses of failed calls", async () => {
    await members.admin.data(members.admin.post("/api/channel/", { name: "Azure US", key: "k", models: "a" }));
    const { id } = await app.database.db
      .selectFrom("channels")
      .select("id")
      .where("name", "=", "Azure US")
      .executeTakeFirstOrThrow();
    const failed = { type: 5, channel_id: id, other: '{"status_code":429,"error_code":"rate_limit_exceeded","ms":1}' };
    await insert({ ...ann(), ...failed }, { ...failed, user_id: 1 });
    expect(await members.admin.data(members.admin.get("/api/log/facets?status=429"))).toMatchObject({
      channels: [{ value: String(id), count: 2, name: "Azure US" }],
      codes: [{ value: "rate_limit_exceeded", count: 2 }],
      statuses: [{ value: "429", count: 2 }],
    });
    const own = await members.user.data(members.user.get("/api/log/self/facets?code=rate_limit_exceeded"));
    expect(own).toMatchObject({ channels: [], codes: [{ value: "rate_limit_exceeded", count: 1 }] });
    expect((await selfPage("?status=429")).total).toBe(1);
    expect((await selfPage("?code=model_not_found")).total).toBe(0);
  });
});

test("keyword searches answer at most 100 rows", async () => {
  await insert(...Array.from({ length: 105 }, () => ({ ...ann(), type: 1, channel_id: 7 })), {
    type: 3,
    content: "Option X changed",
  });
  expect(await members.admin.data(members.admin.get("/api/log/search?keyword=1"))).toHaveLength(100);
  expect(await members.admin.data(members.admin.get("/api/log/search?keyword=option"))).toHaveLength(1);
  const own = await members.user.data<LogRow[]>(members.user.get("/api/log/self/search?keyword=1"));
  expect([own.length, own[0]?.id, own[0]?.channel]).toEqual([100, 1, 0]);
});

describe("clearing", () => {
  // @weakness Sessions and permissions: Administrators erase the history
  test("is for the super administrator, and leaves a row about it", async () => {
    await insert({ created_at: 100 }, { created_at: 200 }, { created_at: now() });
    expect(await readCode(members.admin.delete("/api/log/?target_timestamp=150"))).toBe("AU7");
    const root = members.root;
    expect(await readRefusal(root.delete("/api/log/"))).toEqual([200, "H1", "Please select the log recording time."]);
    expect(await root.data(root.delete("/api/log/?target_timestamp=201"))).toBe(2);
    const [cleared] = (await adminPage("?type=3")).items;
    expect(cleared).toMatchObject({ username: "root", content: "Cleared 2 logs before 201" });
    expect(JSON.parse(cleared?.other ?? "")).toMatchObject({
      admin_info: { operator_id: 1, operator_name: "root", ip: "127.0.0.1" },
    });
  });
});

describe("the log of a relay key", () => {
  test("is read with the key alone, from any origin", async () => {
    const token = await members.user.data<Token>(members.user.post("/api/token/", { name: "bot" }));
    await insert(
      { ...ann(), token_id: token.id, content: "mine", channel_id: 7, other: OTHER },
      { ...ann(), token_id: token.id + 1 },
    );
    const bearer = await app.anonymous().get("/api/log/token", { authorization: `Bearer sk-${token.key}` });
    expect(bearer.headers["access-control-allow-origin"]).toBe("*");
    expect(bearer.body["data"]).toMatchObject([{ content: "mine", id: 1, channel: 0, other: '{"model_ratio":1.25}' }]);
    const query = await app.anonymous().get(`/api/log/token?key=${token.key}`);
    expect(query.body["data"]).toHaveLength(1);
    expect((await app.anonymous().get("/api/log/token?key=sk-unknown")).body).toEqual({
      success: true,
      message: "",
      data: [],
    });
    expect((await app.anonymous().get("/api/log/token")).body["data"]).toEqual([]);
    await members.user.data(members.user.delete(`/api/token/${token.id}`));
    expect((await app.anonymous().get(`/api/log/token?key=${token.key}`)).body["data"]).toEqual([]);
  });

  // @weakness Leaks: Logs of a key are read without a limit
  test("counts as worth guessing at", async () => {
    let status = 200;
    for (let call = 0; call < 12 && status === 200; call += 1)
      status = (await app.anonymous().get("/api/log/token?key=x")).status;
    expect(status).toBe(429);
  });
});

describe("export", () => {
  // @weakness Injection and parsing: Formulas in an export run in a spreadsheet
  test("streams everything that matches as CSV, safe for spreadsheets", async () => {
    await insert(
      ...Array.from({ length: 2_100 }, (_, index) => ({
        content: ['=1+1, "x"\ny', "＝1+1", "\n=1+1"][index] ?? "plain",
        created_at: 1_000 + index,
      })),
    );
    const reply = await members.admin.get("/api/log/export");
    expect(reply.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(reply.headers["content-disposition"]).toBe('attachment; filename="logs.csv"');
    expect(reply.text.startsWith("\uFEFFcreated_at,type,username,")).toBe(true);
    expect(reply.text.split("\r\n")).toHaveLength(2_102);
    expect(reply.text).toContain('"\'=1+1, ""x""\ny"');
    expect(reply.text).toContain(",'＝1+1,");
    expect(reply.text).toContain('"\'\n=1+1"');
    expect(reply.text).toContain("1970-01-01T00:16:40.000Z");
  });

  test("streams NDJSON; owners get their own rows, blanked and numbered through", async () => {
    await insert({ user_id: 1 }, ...Array.from({ length: 1_500 }, () => ({ ...ann(), channel_id: 7, other: OTHER })));
    const reply = await members.user.get("/api/log/self/export?format=ndjson");
    const rows = reply.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as LogRow);
    expect([rows.length, rows[0]?.id, rows.at(-1)?.id, rows[0]?.channel]).toEqual([1_500, 1, 1_500, 0]);
    expect(reply.text).not.toContain("admin_info");
    expect(await readCode(members.user.get("/api/log/self/export?format=xml"))).toBe("G1");
  });
});

describe("tail", () => {
  /** Opens an event stream and collects its events until `enough` says so. */
  function follow(path: string, cookie: string, userId: number, enough: (text: string) => boolean): Promise<string> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        app.baseUrl + path,
        { headers: { cookie, "new-api-user": String(userId) }, agent: false },
        (incoming) => {
          let text = "";
          incoming.on("data", (chunk: Buffer) => {
            text += chunk.toString();
            if (!enough(text)) return;
            outgoing.destroy();
            resolve(text);
          });
          incoming.on("error", () => resolve(text));
        },
      );
      outgoing.on("error", reject);
      outgoing.end();
    });
  }

  test("shows new rows of the filter and counts those that are too many", async () => {
    await insert({ content: "old" });
    const { admin, user } = members;
    const adminText = follow("/api/log/tail?type=2", admin.cookie, admin.userId, (text) =>
      text.includes("event: dropped"),
    );
    const userText = follow("/api/log/self/tail", user.cookie, user.userId, (text) => text.includes("event: row"));
    await new Promise((resolve) => setTimeout(resolve, 300));
    await insert(
      { type: 1, content: "another type" },
      ...Array.from({ length: 30 }, (_, index) => ({ content: `new${index}` })),
      { ...ann(), content: "mine", channel_id: 7 },
    );
    const seen = await adminText;
    expect(seen).not.toContain("old");
    expect(seen).not.toContain("another type");
    expect(seen.match(/event: row/g)).toHaveLength(20);
    expect(seen).toContain('data: {"count":11}');
    const own = await userText;
    expect(own).toContain('"content":"mine"');
    expect(own).toContain('"channel":0');
    expect(own).not.toContain("new1");
  });

  test("reads the log once for many followers, each with a filter of its own", async () => {
    const { admin } = members;
    const paths = Array.from(
      { length: 40 },
      (_, index) => `/api/log/tail?model_name=${index % 2 === 0 ? "gpt%25" : "o3"}`,
    );
    const texts = paths.map((path) => follow(path, admin.cookie, admin.userId, (text) => text.includes("event: row")));
    const seen = Promise.all(texts);
    let isSeen = false;
    void seen.finally(() => (isSeen = true));
    while (!isSeen) {
      await insert({ content: "a", model_name: "gpt-4o" }, { content: "b", model_name: "o3" });
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    for (const [index, text] of (await seen).entries())
      expect(/"content":"(.)"/.exec(text)?.[1]).toBe(index % 2 === 0 ? "a" : "b");
  });

  test("ends when the server stops", async () => {
    const other = await startManagementApp({ url: await createDatabase("sqlite") });
    const root = await other.signIn("root");
    const ended = root.get("/api/log/tail");
    await new Promise((resolve) => setTimeout(resolve, 200));
    await other.close();
    expect((await ended).text).toContain(": open");
  });
});
