import { createDatabase } from "@fairway/testkit/databases";
import type { Token } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, readRefusal, setOptions, signInMembers, type Members } from "../../../test/kit/members.ts";

const NEW_KEY = { rotated_at: 0, old_keys_until: 0, rotate_days: 0, rotate_grace_seconds: 86_400 };
let app: ManagementApp;
let members: Members;
let user: Members["user"];

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite"), operations: { maxUserTokens: 15 } });
  members = await signInMembers(app);
  user = members.user;
});
afterAll(() => app.close());
beforeEach(async () => {
  await app.database.db.deleteFrom("tokens").execute();
});

const create = (body: unknown = { name: "one" }) => user.data<Token>(user.post("/api/token/", body));
const list = (query = "") => user.data<Token[]>(user.get(`/api/token/${query}`));
const setRow = (id: number, values: Record<string, number>) =>
  app.database.db.updateTable("tokens").set(values).where("id", "=", id).execute();
const now = () => Math.floor(app.clock.now() / 1000);

describe("creating", () => {
  test("answers the token with its key and defaults", async () => {
    const token = await create();
    expect({ ...token, fixed_tags: undefined, tags: undefined }).toEqual({
      id: token.id,
      user_id: user.userId,
      key: expect.stringMatching(/^[0-9A-Za-z]{48}$/) as string,
      status: 1,
      name: "one",
      created_time: now(),
      accessed_time: now(),
      expired_time: -1,
      remain_quota: 0,
      unlimited_quota: false,
      model_limits_enabled: false,
      model_limits: "",
      allow_ips: "",
      used_quota: 0,
      group: "",
      limits: {},
      tag_limits: {},
      fallbacks: "inherit",
      prompt_cache: "inherit",
      disabled_by_admin: false,
      ...NEW_KEY,
      DeletedAt: null,
    });
  });

  test("has limits of its own, which stay when a form does not know them", async () => {
    const token = await create({ name: "limited", limits: { rpm: 60, concurrency: 2 } });
    expect(token.limits).toEqual({ rpm: 60, concurrency: 2 });
    const put = async (body: object) =>
      user.data<Token>(user.put("/api/token/", { id: token.id, ...body })).then(({ limits }) => limits);
    expect(await put({ name: "limited still" })).toEqual({ rpm: 60, concurrency: 2 });
    expect(await put({ limits: { tpm: 5 } })).toEqual({ tpm: 5 });
    expect(await put({ limits: null })).toEqual({ tpm: 5 });
    expect(await put({ limits: {} })).toEqual({});
    const refused = (limits: unknown) => readRefusal(user.post("/api/token/", { limits }));
    const because = (text: string) => [200, "G2", `Invalid input: limits${text}.`];
    expect(await refused({ rpm: 0 })).toEqual(because(".rpm must be at least 1"));
    expect(await refused({ rpm: 1.5 })).toEqual(because(".rpm must be an integer"));
    expect(await refused({ rps: 1 })).toEqual(because(".rps is unknown; limits are rpm, tpm, concurrency"));
    expect(await refused([])).toEqual(because(" must be a JSON object"));
    expect(await refused("60")).toEqual(because(" must be a JSON object"));
  });

  test("tidies lists and takes what a form sends", async () => {
    const token = await create({
      name: "full",
      remain_quota: 500_000,
      unlimited_quota: true,
      expired_time: 0,
      model_limits_enabled: true,
      model_limits: " a ,b,,a",
      allow_ips: " 10.0.0.0/8, \r\n\n2001:db8::1\n",
      group: "vip",
      status: 2,
      used_quota: 9,
      user_id: 1,
      key: "chosen",
    });
    expect(token).toMatchObject({
      remain_quota: 500_000,
      unlimited_quota: true,
      expired_time: -1,
      model_limits_enabled: true,
      model_limits: "a,b",
      allow_ips: "10.0.0.0/8\n2001:db8::1",
      group: "vip",
      status: 1,
      used_quota: 0,
      user_id: user.userId,
    });
    expect(token.key).not.toBe("chosen");
    expect((await create({})).name).toBe("");
  });

  // @weakness Money: Tokens take negative quotas and foreign groups
  test("refuses what a token cannot be", async () => {
    const refused = (body: unknown) => readRefusal(user.post("/api/token/", body));
    expect(await refused({ name: "n".repeat(31) })).toEqual([200, "K1", "The token name is too long."]);
    expect((await create({ name: "😀".repeat(30) })).name).toBe("😀".repeat(30));
    const quota = [200, "U16", "The quota must be an integer not below 0."];
    for (const remain_quota of [-1, 1.5, 2 ** 53]) expect(await refused({ remain_quota })).toEqual(quota);
    expect(await refused({ remain_quota: "5" })).toEqual([
      200,
      "G2",
      "Invalid input: remain_quota must be an integer.",
    ]);
    expect(await refused({ expired_time: -2 })).toEqual([
      200,
      "G2",
      "Invalid input: expired_time must be at least -1.",
    ]);
    expect(await refused({ expired_time: "x" })).toEqual([
      200,
      "G2",
      "Invalid input: expired_time must be an integer.",
    ]);
    expect(await refused({ unlimited_quota: 1 })).toEqual([
      200,
      "G2",
      "Invalid input: unlimited_quota must be a boolean.",
    ]);
    expect(await refused({ group: "svip" })).toEqual([200, "K5", "No permission to use group svip."]);
    expect(await refused({ allow_ips: "10.0.0.1\nhome" })).toEqual([200, "K6", "Invalid IP address or network: home"]);
    expect(await refused({ allow_ips: "10.0.0.0/33" })).toEqual([
      200,
      "K6",
      "Invalid IP address or network: 10.0.0.0/33",
    ]);
  });

  test("stops at the most tokens that a user may have", async () => {
    for (let index = 0; index < 15; index += 1) await create();
    expect(await readRefusal(user.post("/api/token/", {}))).toEqual([
      200,
      "K7",
      "You cannot have more than 15 tokens.",
    ]);
    const [first] = await list();
    await user.data(user.delete(`/api/token/${first?.id}`));
    await create();
  });

  test("takes the user's own group even when it is not offered", async () => {
    await setOptions(members.root, { UserUsableGroups: '{"vip":"VIP"}' });
    expect((await create({ group: "default" })).group).toBe("default");
    await setOptions(members.root, { UserUsableGroups: '{"default":"Default group","vip":"vip group"}' });
  });
});

describe("lists", () => {
  test("page from 0 with the size parameter of compatible gateways", async () => {
    for (let index = 0; index < 12; index += 1) await create({ name: `t${index}` });
    expect((await list()).map((token) => token.name)).toEqual([
      "t11",
      "t10",
      "t9",
      "t8",
      "t7",
      "t6",
      "t5",
      "t4",
      "t3",
      "t2",
    ]);
    expect(await list("?p=1&size=10")).toHaveLength(2);
    expect(await list("?p=0&size=999")).toHaveLength(12);
    expect(await list("?p=0&page_size=5")).toHaveLength(5);
    expect(await list("?size=0")).toHaveLength(10);
    expect((await user.get("/api/token/?size=3")).headers["x-total-count"]).toBe("12");
  });

  test("search by name and by part of the key, with or without its prefix", async () => {
    const token = await create({ name: "Bot 100%" });
    await create({ name: "other" });
    const found = async (query: string) =>
      (await user.data<Token[]>(user.get(`/api/token/search?${query}`))).map(({ name }) => name);
    expect(await found("keyword=%20bot&token=")).toEqual(["Bot 100%"]);
    expect(await found(`keyword=&token=sk-${token.key}`)).toEqual(["Bot 100%"]);
    expect(await found(`token=${token.key.slice(5, 25)}`)).toEqual(["Bot 100%"]);
    expect(await found("keyword=%25")).toEqual(["Bot 100%"]);
    expect(await found("keyword=' or '1'='1")).toEqual([]);
    expect(await found("")).toEqual(["other", "Bot 100%"]);
  });

  test("show only the caller's own tokens, also to root", async () => {
    const token = await create();
    expect(await members.root.data(members.root.get("/api/token/"))).toEqual([]);
    const missing = [200, "K2", "Token does not exist."];
    expect(await readRefusal(members.root.get(`/api/token/${token.id}`))).toEqual(missing);
    expect(await readRefusal(members.root.put("/api/token/", { id: token.id, name: "x" }))).toEqual(missing);
    expect(await readRefusal(members.root.delete(`/api/token/${token.id}`))).toEqual(missing);
    expect((await app.anonymous().get("/api/token/")).status).toBe(401);
  });
});

describe("changing", () => {
  test("replaces all fields and keeps key, status and counters", async () => {
    const token = await create({ name: "one", remain_quota: 100, model_limits: "a", allow_ips: "::1" });
    await setRow(token.id, { used_quota: 40 });
    const changed = await user.data<Token>(
      user.put("/api/token/", { ...token, name: "two", status: 2, used_quota: 1, model_limits: undefined }),
    );
    expect(changed).toMatchObject({
      name: "two",
      key: token.key,
      status: 1,
      used_quota: 40,
      remain_quota: 100,
      model_limits: "",
      allow_ips: "::1",
    });
    expect(await user.data(user.put("/api/token/", { id: token.id }))).toMatchObject({
      name: "",
      remain_quota: 0,
      allow_ips: "",
    });
    expect(await user.data(user.get(`/api/token/${token.id}/`))).toMatchObject({ name: "" });
  });

  test("moves the quota by a difference when the form says what it began with", async () => {
    const token = await create({ name: "one", remain_quota: 100 });
    await setRow(token.id, { remain_quota: 60, used_quota: 40 });
    const put = (body: Record<string, unknown>) => user.put("/api/token/", { ...token, ...body });
    const left = async (body: Record<string, unknown>) => (await user.data<Token>(put(body))).remain_quota;
    expect(await left({ name: "two", original_remain_quota: 100 })).toBe(60);
    expect(await left({ remain_quota: 130, original_remain_quota: 100 })).toBe(90);
    expect(await left({ remain_quota: 20, original_remain_quota: 100 })).toBe(10);
    expect(await readCode(put({ remain_quota: 80, original_remain_quota: 100 }))).toBe("U16");
    expect(await readCode(put({ remain_quota: 100, original_remain_quota: 0.5 }))).toBe("U16");
    expect(await user.data(user.get(`/api/token/${token.id}`))).toMatchObject({ remain_quota: 10, used_quota: 40 });
    await Promise.all(Array.from({ length: 8 }, () => put({ remain_quota: 101, original_remain_quota: 100 })));
    expect(await user.data(user.get(`/api/token/${token.id}`))).toMatchObject({ remain_quota: 18 });
    expect(await left({ remain_quota: 7 })).toBe(7);
    await setRow(token.id, { remain_quota: -3 });
    expect(await left({ name: "owes", remain_quota: -3 })).toBe(-3);
    expect(await left({ name: "owes", remain_quota: 5, original_remain_quota: 5 })).toBe(-3);
    expect(await readCode(put({ remain_quota: -4 }))).toBe("U16");
    expect(await readCode(put({ remain_quota: 0.5, original_remain_quota: 0 }))).toBe("U16");
  });

  test("refuses unknown tokens and bad fields", async () => {
    const token = await create();
    const refused = (body: unknown) => readCode(user.put("/api/token/", body));
    expect(await refused({})).toBe("K2");
    expect(await refused({ id: token.id + 1 })).toBe("K2");
    expect(await refused({ id: token.id, name: "n".repeat(31) })).toBe("K1");
    expect(await refused({ id: token.id, remain_quota: -5 })).toBe("U16");
    expect(await refused({ id: token.id, group: "nobody" })).toBe("K5");
    expect(await refused({ id: token.id, allow_ips: "x" })).toBe("K6");
  });

  test("does not pretend to revive an expired or used-up token", async () => {
    const token = await create({ expired_time: now() + 10 });
    await setRow(token.id, { status: 3 });
    app.clock.move(20);
    const put = (body: Record<string, unknown>) => user.put("/api/token/", { id: token.id, status: 1, ...body });
    expect(await readCode(put({ expired_time: token.expired_time }))).toBe("K3");
    expect((await put({ expired_time: -1 })).body["data"]).toMatchObject({ status: 3, expired_time: -1 });
    await setRow(token.id, { status: 4 });
    expect(await readCode(put({ remain_quota: 0 }))).toBe("K4");
    expect((await put({ remain_quota: 5 })).body["data"]).toMatchObject({ status: 4, remain_quota: 5 });
  });
});

describe("switching", () => {
  const put = (body: unknown, query = "status_only=true") => user.put(`/api/token/?${query}`, body);

  test("changes the status alone", async () => {
    const token = await create({ name: "one", remain_quota: 5 });
    expect((await put({ id: token.id, status: 2, name: "x" })).body["data"]).toMatchObject({
      status: 2,
      name: "one",
      remain_quota: 5,
    });
    expect((await put({ id: token.id, status: 1 }, "status_only=1")).body["data"]).toMatchObject({ status: 1 });
    expect((await put({ id: token.id, status: 2 }, "status_only=false")).body["data"]).toMatchObject({
      status: 1,
      name: "",
    });
  });

  test("refuses states that only the relay sets, and to enable what is over", async () => {
    const token = await create({ expired_time: now() + 10 });
    expect(await readRefusal(put({ id: token.id, status: 3 }))).toEqual([
      200,
      "CH17",
      "The status can only be set to 1 or 2.",
    ]);
    expect(await readCode(put({ id: token.id }))).toBe("CH17");
    expect(await readCode(put({ id: token.id + 1, status: 1 }))).toBe("K2");
    await setRow(token.id, { status: 3 });
    expect((await put({ id: token.id, status: 1 })).body["data"]).toMatchObject({ status: 1 });
    await setRow(token.id, { status: 3 });
    app.clock.move(20);
    expect(await readRefusal(put({ id: token.id, status: 1 }))).toEqual([
      200,
      "K3",
      "The token has expired and cannot be enabled, please change its expiration time or set it to never expire first.",
    ]);
    expect((await put({ id: token.id, status: 2 })).body["data"]).toMatchObject({ status: 2 });
    await setRow(token.id, { status: 4, expired_time: -1 });
    expect(await readRefusal(put({ id: token.id, status: 1 }))).toEqual([
      200,
      "K4",
      "The token quota is used up and the token cannot be enabled, please change its remaining quota or set it to unlimited first.",
    ]);
    await setRow(token.id, { unlimited_quota: 1 });
    expect((await put({ id: token.id, status: 1 })).body["data"]).toMatchObject({ status: 1 });
  });
});

test("a deleted token does not exist for its owner", async () => {
  const token = await create();
  expect((await user.delete(`/api/token/${token.id}/`)).body).toEqual({ success: true, message: "" });
  expect(await readRefusal(user.delete(`/api/token/${token.id}`))).toEqual([200, "K2", "Token does not exist."]);
  expect(await readRefusal(user.get(`/api/token/0`))).toEqual([200, "G1", "Invalid parameter."]);
  expect(await list()).toEqual([]);
});

describe("many at once", () => {
  test("are deleted and shown by their ids, but never those of others", async () => {
    const [one, two, three] = [await create(), await create({ name: "two" }), await create({ name: "three" })];
    const foreign = await members.root.data<Token>(members.root.post("/api/token/", { name: "theirs" }));
    const ids = [one.id, two.id, two.id, foreign.id, 0, -1, 999_999];
    expect(await user.data(user.post("/api/token/batch/keys", { ids }))).toEqual({
      keys: { [one.id]: one.key, [two.id]: two.key },
    });
    expect(await user.data(user.post(`/api/token/${three.id}/key`, undefined))).toEqual({ key: three.key });
    expect(await readCode(user.post(`/api/token/${foreign.id}/key`, undefined))).toBe("K2");
    const replies = await Promise.all([1, 2, 3].map(() => user.data<number>(user.post("/api/token/batch", { ids }))));
    expect(replies.toSorted((a, b) => a - b)).toEqual([0, 0, 2]);
    expect((await list()).map(({ id }) => id)).toEqual([three.id]);
    expect(await members.root.data(members.root.get("/api/token/"))).toMatchObject([{ id: foreign.id }]);
  });

  test("need ids, and not too many", async () => {
    for (const path of ["/api/token/batch", "/api/token/batch/keys"]) {
      expect(await readCode(user.post(path, {}))).toBe("G1");
      expect(await readCode(user.post(path, { ids: [] }))).toBe("G1");
      expect(await readCode(user.post(path, { ids: ["1"] }))).toBe("G2");
      expect(await readCode(user.post(path, { ids: Array.from({ length: 101 }, (_, i) => i) }))).toBe("G2");
    }
  });
});
