import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiCaller, ApiReply } from "../kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../kit/management-app.ts";

/** Requests that the consoles of 2024-09 and 2024-11 send in a tour, in order, and the members that they read. */

type Row = Readonly<Record<string, unknown>>;

let app: ManagementApp;
let root: ApiCaller;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  root = app.anonymous();
});
afterAll(() => app.close());

const readRows = async (reply: Promise<ApiReply>): Promise<Row[]> => {
  const { status, body } = await reply;
  expect([status, body["success"], Array.isArray(body["data"])]).toEqual([200, true, true]);
  return body["data"] as Row[];
};
const readData = async (reply: Promise<ApiReply>): Promise<Row> => root.data<Row>(reply);

describe("before and at the sign-in", () => {
  test("the first load reads status, notice and home page", async () => {
    const status = await readData(root.get("/api/status", { "New-API-User": "-1" }));
    expect(Array.isArray(status["chats"])).toBe(true);
    for (const name of [
      "enable_drawing",
      "enable_task",
      "enable_data_export",
      "display_in_currency",
      "mj_notify_enabled",
      "default_collapse_sidebar",
      "turnstile_check",
      "email_verification",
      "github_oauth",
      "wechat_login",
      "telegram_oauth",
      "linuxdo_oauth",
      "enable_online_topup",
    ])
      expect(typeof status[name], name).toBe("boolean");
    for (const name of [
      "system_name",
      "logo",
      "footer_html",
      "version",
      "server_address",
      "top_up_link",
      "chat_link",
      "data_export_default_time",
    ])
      expect(typeof status[name], name).toBe("string");
    for (const path of ["/api/notice", "/api/about", "/api/home_page_content"])
      expect(typeof (await root.get(path)).body["data"]).toBe("string");
    const pricing = (await root.get("/api/pricing")).body;
    expect(Array.isArray(pricing["data"])).toBe(true);
    expect(pricing["group_ratio"]).toMatchObject({ default: 1 });
  });

  test("a call without a session sends the console to its login page", async () => {
    const reply = await root.get("/api/user/self", { "New-API-User": "-1" });
    expect([reply.status, reply.body["success"]]).toEqual([401, false]);
  });

  test("the form signs in with an empty Turnstile token and unknown members", async () => {
    const reply = await root.post("/api/user/login?turnstile=", {
      username: "root",
      password: "root password",
      remember: 1,
    });
    expect(reply.body).toMatchObject({ success: true, message: "" });
    const user = reply.body["data"] as { id: number };
    expect(Object.keys(user).sort()).toEqual(["display_name", "group", "id", "role", "status", "username"]);
    root.userId = user.id;
  });
});

describe("a tour of the signed-in console", () => {
  test("personal page: profile, models, token, invitation", async () => {
    const self = await readData(root.get("/api/user/self"));
    for (const name of [
      "email",
      "github_id",
      "wechat_id",
      "telegram_id",
      "linux_do_id",
      "aff_quota",
      "aff_history_quota",
      "aff_count",
      "request_count",
    ])
      expect(self, name).toHaveProperty(name);
    await readRows(root.get("/api/user/models"));
    expect(typeof (await root.get("/api/user/token")).body["data"]).toBe("string");
    expect(typeof (await root.get("/api/user/aff")).body["data"]).toBe("string");
    expect((await root.post("/api/user/aff_transfer", { quota: 1 })).body["message"]).toBe(
      "The minimum amount for transfer is $1.000000",
    );
    const groups = await readData(root.get("/api/user/self/groups"));
    expect(Object.keys(groups)[0]).toBe("default");
    expect(await readData(root.get("/api/user/groups"))).toEqual(groups);
  });

  test("channels: create with a form of all members, list, copy with the row's id as key, short updates, delete", async () => {
    const form = {
      name: "up",
      type: 1,
      key: "sk-up",
      openai_organization: "",
      base_url: "",
      other: "",
      model_mapping: "",
      status_code_mapping: "",
      models: "gpt-4o,gpt-4",
      group: "default",
      groups: ["default"],
      auto_ban: 1,
      test_model: "",
      priority: 0,
      weight: 0,
      tag: "",
    };
    await root.data(root.post("/api/channel/", form));
    const [row = {}] = await readRows(root.get("/api/channel/?p=0&page_size=10&id_sort=false"));
    expect(row).toMatchObject({ key: "", models: "gpt-4o,gpt-4", other_info: "", tag: null, balance: 0 });
    expect(typeof row["response_time"]).toBe("number");
    const id = Number(row["id"]);
    await root.data(
      root.post("/api/channel/", {
        ...row,
        key: String(id),
        name: "up_copy",
        created_time: null,
        test_models: [],
        balance: 0,
        used_quota: 0,
      }),
    );
    expect(await readRows(root.get("/api/channel/search?keyword=up&group=null&model=&id_sort=true"))).toHaveLength(2);
    expect(await readRows(root.get("/api/channel/search?keyword=up&group=&model="))).toHaveLength(2);
    for (const part of [{ status: 2 }, { priority: 5 }, { weight: 7 }, { status: 1 }])
      expect((await readData(root.put("/api/channel/", { id, ...part })))["status"]).toBe(part.status ?? 2);
    const one = await readData(root.get(`/api/channel/${id}`));
    expect([one["model_mapping"], one["models"], one["group"]]).toEqual(["", "gpt-4o,gpt-4", "default"]);
    await root.data(root.put("/api/channel/", { ...one, key: "" }));
    await root.data(root.post("/api/channel/tag/enabled", { tag: "t" }));
    expect(await root.data(root.post("/api/channel/fix", {}))).toBe(2);
    expect((await readRows(root.get("/api/channel/models")))[0]).toHaveProperty("id");
    expect(typeof (await root.get("/api/models")).body["data"]).toBe("object");
    expect((await root.delete(`/api/channel/${id}/`)).body["success"]).toBe(true);
    expect(await root.data(root.delete("/api/channel/disabled"))).toBe(0);
    const rest = await readRows(root.get("/api/channel/?p=0&page_size=10&id_sort=true"));
    expect(await root.data(root.post("/api/channel/batch", { ids: rest.map((it) => it["id"]) }))).toBe(1);
  });

  test("tokens: a whole stale row is sent back, and its counters are ignored", async () => {
    const form = {
      name: "key",
      remain_quota: 500,
      expired_time: -1,
      unlimited_quota: false,
      model_limits_enabled: false,
      model_limits: "",
      allow_ips: "",
      group: "",
    };
    await root.data(root.post("/api/token/", form));
    for (const path of ["/api/token/?p=0&size=10", "/api/token/?p=0&size=999", "/api/token?p=0&size=100"])
      expect(await readRows(root.get(path))).toHaveLength(1);
    const [row = {}] = await readRows(root.get("/api/token/?p=0&size=10"));
    expect(row).toMatchObject({ group: "", model_limits: "", used_quota: 0 });
    expect(String(row["key"])).toMatch(/^[0-9A-Za-z]{48}$/);
    expect(await readRows(root.get(`/api/token/search?keyword=&token=sk-${String(row["key"])}`))).toHaveLength(1);
    const put = { ...row, name: "renamed", used_quota: 9e9, user_id: 99, key: "stolen", accessed_time: 0 };
    await root.data(root.put("/api/token/", put));
    expect((await readData(root.put("/api/token/?status_only=true", { id: row["id"], status: 2 })))["status"]).toBe(2);
    const after = await readData(root.get(`/api/token/${String(row["id"])}`));
    expect(after).toMatchObject({ name: "renamed", used_quota: 0, user_id: 1, key: row["key"], status: 2 });
    expect((await root.delete(`/api/token/${String(row["id"])}/`)).body["success"]).toBe(true);
  });

  test("users: exactly ten a page, rows with DeletedAt, a group of the text undefined, the whole row sent back", async () => {
    for (let at = 0; at < 12; at += 1)
      await root.data(
        root.post("/api/user/", { username: `user${at}`, display_name: "", password: "a good password" }),
      );
    const first = await readRows(root.get("/api/user/?p=0"));
    expect(first).toHaveLength(10);
    expect(await readRows(root.get("/api/user/?p=1"))).toHaveLength(3);
    for (const row of first) expect(row).toHaveProperty("DeletedAt", null);
    await readRows(root.get("/api/user/search?keyword=user1 &group="));
    expect(await readRows(root.get("/api/user/search?keyword=user1&group=undefined"))).toHaveLength(3);
    const id = Number(first[0]?.["id"]);
    const one = await readData(root.get(`/api/user/${id}`));
    await root.data(
      root.put("/api/user/", {
        ...one,
        password: "",
        group: "vip",
        quota: 900,
        used_quota: 5,
        aff_quota: 5,
        request_count: 7,
      }),
    );
    expect(await readData(root.get(`/api/user/${id}`))).toMatchObject({
      group: "vip",
      quota: 900,
      used_quota: 0,
      aff_quota: 0,
      request_count: 0,
    });
    for (const [action, part] of [
      ["disable", { status: 2 }],
      ["enable", { status: 1 }],
      ["promote", { role: 10 }],
      ["demote", { role: 1 }],
    ] as const)
      expect(await readData(root.post("/api/user/manage", { id, action }))).toMatchObject(part);
    expect(await root.data(root.get("/api/group/"))).toEqual(["default", "svip", "vip"]);
  });

  test("codes: created in bulk, switched, redeemed", async () => {
    const codes = await root.data<string[]>(root.post("/api/redemption/", { name: "gift", quota: 100, count: 2 }));
    expect(codes).toHaveLength(2);
    const [row = {}] = await readRows(root.get("/api/redemption/?p=0"));
    expect(row).toMatchObject({ used_user_id: 0, status: 1 });
    expect(await readData(root.put("/api/redemption/?status_only=true", { id: row["id"], status: 2 }))).toMatchObject({
      status: 2,
    });
    await root.data(root.put("/api/redemption/", { ...row, name: "present", quota: 200 }));
    expect(await readRows(root.get("/api/redemption/search?keyword=present"))).toHaveLength(1);
    expect(await root.data(root.post("/api/user/topup", { key: codes[0] }))).toBe(100);
    expect((await root.post("/api/user/amount", { amount: 10, top_up_code: "" })).body).toMatchObject({
      message: "success",
      data: "73.00",
    });
    expect(
      (await root.post("/api/user/pay", { amount: 10, top_up_code: "", payment_method: "zfb" })).body,
    ).toMatchObject({ message: "error" });
  });

  test("logs, sums, drawings and tasks take empty and unreadable filters", async () => {
    const query = "type=0&username=&token_name=&model_name=&start_timestamp=0&end_timestamp=NaN&channel=";
    for (const path of [`/api/log/?p=0&page_size=10&${query}`, `/api/log/self/?p=1&page_size=10&${query}`]) {
      const data = await readData(root.get(path));
      expect(data).toMatchObject({ page: 1, page_size: 10 });
      for (const item of data["items"] as Row[]) {
        for (const name of ["username", "model_name", "token_name", "other"])
          expect(typeof item[name], name).toBe("string");
      }
    }
    expect(await readData(root.get(`/api/log/stat?${query}`))).toEqual({ quota: 0, rpm: 0, tpm: 0 });
    expect(await readData(root.get(`/api/log/self/stat?${query}`))).toEqual({ quota: 0, rpm: 0, tpm: 0 });
    await readRows(root.get("/api/data/?username=&start_timestamp=1&end_timestamp=2&default_time=hour"));
    await readRows(root.get("/api/data/self/?start_timestamp=1&end_timestamp=2&default_time=day"));
    await readRows(root.get("/api/mj/?p=0&channel_id=&mj_id=&start_timestamp=1&end_timestamp=2"));
    await readRows(root.get("/api/mj/self/?p=0&mj_id=&start_timestamp=1&end_timestamp=2"));
    await readRows(root.get("/api/task/?p=0&channel_id=&task_id=&start_timestamp=1&end_timestamp=NaN"));
    await readRows(root.get("/api/task/self?p=0&task_id=&start_timestamp=1&end_timestamp=NaN"));
    expect((await root.delete("/api/log/?target_timestamp=1")).body).toMatchObject({ success: true, data: 0 });
  });

  test("settings: every value is a string, several are saved at once, an unchanged secret stays", async () => {
    const options = await readRows(root.get("/api/option/"));
    for (const { key, value } of options) {
      expect(typeof value, String(key)).toBe("string");
      expect(/(Token|Secret|Key)$/.test(String(key)), String(key)).toBe(false);
    }
    const texts = new Map(options.map(({ key, value }) => [key, String(value)]));
    expect(texts.get("EmailDomainWhitelist")).toContain("gmail.com");
    for (const key of [
      "TopupGroupRatio",
      "ModelRatio",
      "CompletionRatio",
      "ModelPrice",
      "GroupRatio",
      "UserUsableGroups",
      "Chats",
    ])
      expect(() => JSON.parse(texts.get(key) ?? "") as unknown, key).not.toThrow();
    const saves = [
      ["Price", 8],
      ["MinTopUp", "2"],
      ["DrawingEnabled", false],
      ["SystemName", "Ours"],
      ["WorkerValidKey", "secret"],
    ] as const;
    const replies = await Promise.all(saves.map(([key, value]) => root.put("/api/option/", { key, value })));
    for (const { body } of replies) expect(body["success"]).toBe(true);
    expect((await root.put("/api/option/", { key: "WorkerValidKey" })).body["success"]).toBe(true);
    expect(app.snapshots.current().options).toMatchObject({
      Price: 8,
      MinTopUp: 2,
      DrawingEnabled: false,
      SystemName: "Ours",
      WorkerValidKey: "secret",
    });
    expect((await root.post("/api/option/rest_model_ratio", {})).body["message"]).toBe("Model ratios have been reset.");
  });

  test("no call is redirected, with or without its last slash, and the tour ends signed out", async () => {
    for (const path of [
      "/api/user/self",
      "/api/log/self",
      "/api/token",
      "/api/channel",
      "/api/option",
      "/api/group",
      "/api/data",
    ]) {
      const [bare, slashed] = [await root.get(path), await root.get(`${path}/`)];
      expect([bare.status, slashed.status], path).toEqual([200, 200]);
    }
    expect((await root.get("/api/user/logout")).body["success"]).toBe(true);
    expect((await root.get("/api/user/self")).status).toBe(401);
  });
});
