import { isHiddenOption, OPTION_KEYS, type OptionPrice } from "@fairway/wire";
import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";

eachDatabase("options", (open) => {
  let app: ManagementApp;
  let root: ApiCaller;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    root = await app.signIn("root");
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    for (const table of ["options", "option_history", "logs"] as const)
      await app.database.db.deleteFrom(table).execute();
    await app.snapshots.refresh();
  });

  const put = async (key: unknown, value?: unknown) => (await root.put("/api/option/", { key, value })).body;
  const list = async () =>
    Object.fromEntries(
      (await root.data<{ key: string; value: string }[]>(root.get("/api/option/"))).map(({ key, value }) => [
        key,
        value,
      ]),
    );
  const stored = () => app.database.db.selectFrom("options").selectAll().execute();

  // @weakness Leaks: A secret option is shown because its name is spelled otherwise
  test("are listed by key with their defaults, hidden ones left out", async () => {
    const rows = await root.data<{ key: string; value: string }[]>(root.get("/api/option/"));
    expect(rows.map(({ key }) => key)).toEqual(OPTION_KEYS.filter((key) => !isHiddenOption(key)).sort());
    expect(rows.every(({ value }) => typeof value === "string")).toBe(true);
    const values = await list();
    expect(values).toMatchObject({ RetryTimes: "0", SystemName: "Fairway", Price: "7.3", RegisterEnabled: "true" });
    for (const key of ["ModelRatio", "ModelPrice", "CompletionRatio", "GroupRatio", "TopupGroupRatio", "Chats"]) {
      expect(JSON.parse(values[key] ?? "") as unknown).toBeTypeOf("object");
    }
    expect(Object.keys(JSON.parse(values["ModelRatio"] ?? "{}") as object).length).toBeGreaterThan(100);
    expect(values).not.toHaveProperty("SMTPToken");
    expect(values).not.toHaveProperty("TurnstileSiteKey");
    expect(values).not.toHaveProperty("oidc.client_secret");
  });

  test("hold a hundred thousand blocked words, and list them in short", async () => {
    const words = Array.from({ length: 100_000 }, (_, n) => `敏感词语 ${n} blocked phrase`);
    expect(await put("SensitiveWords", words.join("\n"))).toMatchObject({ success: true });
    expect((await list())["SensitiveWords"]?.split("\n")).toEqual(words);
    expect(app.snapshots.current().options.SensitiveWords).toHaveLength(words.length);
    expect(await put("SensitiveWords", `${"x".repeat(4 * 1024 * 1024)}y`)).toMatchObject({
      success: false,
      message: "The value of SensitiveWords must be at most 4 MiB long.",
    });
    expect(await put("Notice", "x".repeat(512 * 1024 + 1))).toMatchObject({
      message: "The value of Notice must be at most 512 KiB long.",
    });
    const [row] = await root.data<{ new_value: string }[]>(root.get("/api/audit?target=option%20SensitiveWords"));
    expect(row?.new_value.length).toBeLessThan(20_000);
  });

  test("are for the super administrator", async () => {
    expect((await app.anonymous().get("/api/option/")).status).toBe(401);
    await app.anonymous().post("/api/user/register", { username: "ann", password: "a good password" });
    await app.database.db.updateTable("users").set({ role: 10 }).where("username", "=", "ann").execute();
    const admin = await app.signIn("ann", "a good password");
    for (const call of [
      admin.get("/api/option/"),
      admin.put("/api/option/", { key: "Notice", value: "x" }),
      admin.get("/api/option/history"),
      admin.get("/api/option/prices"),
    ]) {
      expect((await call).body["code"]).toBe("AU7");
    }
    await app.database.db.deleteFrom("users").where("username", "=", "ann").execute();
  });

  test("say what each model costs now and without them", async () => {
    await put("ModelRatio", '{"gpt-4o":50,"ours":1.5}');
    await put("ModelPrice", '{"drawn":0.04}');
    const prices = await root.data<OptionPrice[]>(root.get("/api/option/prices"));
    const of = (model: string) => prices.find((row) => row.model === model);
    expect(of("gpt-4o")).toMatchObject({
      price: { by: "tokens", model_ratio: 50, completion_ratio: 4, cache_ratio: 0.5, source: "operator" },
      built_in: { model_ratio: 1.25 },
      is_served: false,
    });
    expect(of("gpt-4o")?.built_in?.source).toMatch(/^list price of /);
    expect(of("ours")).toMatchObject({ price: { model_ratio: 1.5 }, built_in: null });
    expect(of("drawn")?.price).toMatchObject({ by: "call", model_price: 0.04, unit: "call", source: "operator" });
  });

  test("hold when the call answers, and leave a log without the value", async () => {
    expect(await put("Notice", "hello")).toEqual({ success: true, message: "" });
    expect((await app.anonymous().get("/api/notice")).body["data"]).toBe("hello");
    expect(await put("RetryTimes", 3)).toMatchObject({ success: true });
    expect(await put("RegisterEnabled", false)).toMatchObject({ success: true });
    expect(await list()).toMatchObject({ Notice: "hello", RetryTimes: "3", RegisterEnabled: "false" });
    const logs = await app.database.db
      .selectFrom("logs")
      .select(["type", "username", "content", "other"])
      .orderBy("id")
      .execute();
    const other = '{"admin_info":{"operator_id":1,"operator_name":"root","ip":"127.0.0.1"}}';
    expect(logs[0]).toEqual({ type: 3, username: "root", content: "Option Notice changed", other });
    expect(JSON.stringify(logs)).not.toContain("hello");
  });

  // @weakness Money: A typing error in a price makes everything free
  test("refuse with the code of the rule, and then change nothing", async () => {
    await put("Price", "2");
    for (const [key, value, code] of [
      ["Nothing", "x", "P6"],
      ["Price", "0", "P9"],
      ["ModelRatio", "{", "P7"],
      ["TopupGroupRatio", "[]", "P8"],
      ["GroupRatio", '{"default":-1}', "P12"],
      ["GitHubOAuthEnabled", "true", "P1"],
      ["LinuxDOOAuthEnabled", "true", "P14"],
      ["oidc.enabled", "true", "P14"],
      ["WeChatAuthEnabled", "true", "P3"],
      ["TurnstileCheckEnabled", "true", "P4"],
      ["TelegramOAuthEnabled", "true", "P5"],
      ["PayAddress", "https://pay.example", "P10"],
    ]) {
      expect(await put(key, value)).toMatchObject({ success: false, code });
    }
    expect(await put("Price", "free")).toMatchObject({ message: "The value of Price must be a number above 0." });
    await put("EmailDomainWhitelist", "");
    expect((await put("EmailDomainRestrictionEnabled", "true"))["code"]).toBe("P2");
    expect(new Map((await stored()).map(({ key, value }) => [key, value]))).toEqual(
      new Map([
        ["EmailDomainWhitelist", ""],
        ["Price", "2"],
      ]),
    );
  });

  // @weakness Injection and parsing: A missing value wipes a secret option
  test("G1 without a key; without a value nothing changes, as forms of compatible consoles send untouched secrets", async () => {
    expect((await root.put("/api/option/", "{")).status).toBe(400);
    expect(await put(undefined, "x")).toMatchObject({ code: "G1" });
    await put("SMTPToken", "secret");
    const before = await stored();
    expect(await put("SMTPToken")).toEqual({ success: true, message: "" });
    expect(await stored()).toEqual(before);
    expect(await put("SMTPToken", {})).toMatchObject({ success: false });
  });

  test("keep secrets sealed, out of answers, history and log", async () => {
    const secret = "canary-5f2c9";
    await put("SMTPToken", secret);
    await put("oidc.client_secret", secret);
    expect(app.snapshots.current().options.SMTPToken).toBe(secret);
    const answers = [
      await root.get("/api/option/"),
      await root.get("/api/option/history"),
      await app.anonymous().get("/api/status"),
    ];
    expect(answers.map(({ text }) => text).join()).not.toContain(secret);
    expect(answers[0]?.body["filled"]).toEqual(expect.arrayContaining(["SMTPToken", "oidc.client_secret"]));
    for (const table of ["options", "option_history", "logs"] as const) {
      expect(JSON.stringify(await app.database.db.selectFrom(table).selectAll().execute())).not.toContain(secret);
    }
    await put("SMTPToken", "");
    expect(app.snapshots.current().options.SMTPToken).toBe("");
    expect((await root.get("/api/option/")).body["filled"]).toEqual(["oidc.client_secret"]);
  });

  test("change together or not at all, each with what it needs", async () => {
    const good = [
      { key: "GitHubOAuthEnabled", value: true },
      { key: "GitHubClientId", value: "id" },
      { key: "GitHubClientSecret", value: "canary-secret" },
    ];
    const bad = await root.put("/api/option/batch", [
      ...good,
      { key: "Price", value: 0 },
      { key: "Nothing", value: "" },
    ]);
    expect(bad.body).toMatchObject({
      success: false,
      code: "P9",
      field: "Price",
      errors: [
        { key: "Price", code: "P9", message: "The value of Price must be a number above 0." },
        { key: "Nothing", code: "P6", message: "Unknown option Nothing." },
      ],
    });
    expect(await stored()).toEqual([]);
    expect((await root.put("/api/option/batch", good)).body).toEqual({ success: true, message: "" });
    expect((await app.anonymous().get("/api/status")).body["data"]).toMatchObject({
      github_oauth: true,
      github_client_id: "id",
    });
    expect((await root.put("/api/option/batch", [])).body["success"]).toBe(true);
    expect((await root.put("/api/option/batch", {})).body["success"]).toBe(false);
  });

  test("remember who changed what", async () => {
    await put("Notice", "one");
    await put("Notice", "two");
    await put("SMTPToken", "secret");
    const history = await root.get("/api/option/history?key=Notice");
    expect(history.headers["x-total-count"]).toBe("2");
    expect(history.body["data"]).toMatchObject([
      { key: "Notice", old_value: "one", new_value: "two", user_id: root.userId, username: "root" },
      { key: "Notice", old_value: null, new_value: "one" },
    ]);
    const all = (await root.get("/api/option/history?page_size=1")).body["data"];
    expect(all).toMatchObject([{ key: "SMTPToken", old_value: null, new_value: null }]);
  });

  test("many at once lose nothing", async () => {
    const keys = ["Notice", "About", "Footer", "Logo", "SystemName", "HomePageContent"];
    await Promise.all(keys.map((key) => put(key, `value of ${key}`)));
    expect(await list()).toMatchObject(Object.fromEntries(keys.map((key) => [key, `value of ${key}`])));
    expect(app.snapshots.current().options.Footer).toBe("value of Footer");
  });

  test("the built-in model ratios come back", async () => {
    const before = (await list())["ModelRatio"];
    await put("ModelRatio", '{"only":1}');
    expect((await list())["ModelRatio"]).toBe('{"only":1}');
    expect((await root.post("/api/option/rest_model_ratio", {})).body).toEqual({
      success: true,
      message: "Model ratios have been reset.",
    });
    expect((await list())["ModelRatio"]).toBe(before);
  });
});
