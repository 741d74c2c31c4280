import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";
import { Secret } from "../../lib/secret.ts";
import { bump } from "../../storage/revisions.ts";
import { rawOn } from "../../storage/transaction.ts";
import { listActions, channelDocument, documentCalls, optionDocument, tokenDocument } from "./documents-kit.ts";

const WAITING = {
  mysql: "select trx_id from information_schema.innodb_trx where trx_state = 'LOCK WAIT'",
  postgres: "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
};

/** MariaDB updates its table of transactions only after a tenth of a second without a read. */
const WAITING_POLL = { interval: 130 };

eachDatabase("applying documents", (open) => {
  let app: ManagementApp;
  let members: Members;
  let calls: ReturnType<typeof documentCalls>;
  let secretsDir: string;

  beforeAll(async () => {
    secretsDir = await mkdtemp(join(tmpdir(), "fairway-secrets-"));
    const documentSecrets = { OPENAI: new Secret("sk-from-variable") };
    app = await startManagementApp({ url: await open(), secrets: { secretsDir, documentSecrets } });
    members = await signInMembers(app);
    calls = documentCalls(members.root);
  });
  afterAll(async () => {
    await app.close();
    await rm(secretsDir, { recursive: true });
  });
  beforeEach(async () => {
    for (const table of ["channels", "abilities", "tokens", "options", "managed_resources"] as const)
      await app.database.db.deleteFrom(table).execute();
    await app.snapshots.refresh();
  });

  const all = (table: "channels" | "tokens" | "options" | "managed_resources" | "revisions") =>
    app.database.db.selectFrom(table).selectAll().execute();
  const values = () => app.snapshots.current().options;

  test("writes a token's fallbacks, finds nothing to change the second time, and leaves them to the operator again", async () => {
    const stored = async () => (await all("tokens"))[0]?.fallbacks;
    const listed = tokenDocument("ci", {
      fallbacks: { models: [{ model: "a" }, { model: "b", on: ["limit", "error"], stickySeconds: 60 }] },
    });
    await calls.apply([listed]);
    expect(await stored()).toBe('["a",{"model":"b","on":["error","limit"],"sticky_seconds":60}]');
    expect(listActions(await calls.apply([listed]))).toEqual(["ci: unchanged"]);
    await calls.apply([tokenDocument("ci", { fallbacks: { off: true } })]);
    expect(await stored()).toBe("off");
    await calls.apply([tokenDocument("ci", { fallbacks: {} })]);
    expect(await stored()).toBeNull();
    const twice = tokenDocument("ci", { fallbacks: { models: [{ model: "a" }, { model: "a" }] } });
    expect(await readCode(calls.tryApply([twice]))).toBe("M2");
  });

  test("writes everything or nothing", async () => {
    const { db } = app.database;
    await calls.apply([channelDocument("old")]);
    const tables = ["channels", "tokens", "options", "managed_resources", "revisions"] as const;
    const before = await Promise.all(tables.map(all));
    const documents = [
      channelDocument("new"),
      channelDocument("old", { weight: 5 }),
      tokenDocument("ci"),
      optionDocument("site", { SystemName: "Ours" }),
    ];
    await db.schema.alterTable("option_history").renameTo("history_away").execute();
    expect(await readCode(calls.tryApply(documents, { prune: true }))).toBe("G4");
    await db.schema.alterTable("history_away").renameTo("option_history").execute();
    expect(await Promise.all(tables.map(all))).toEqual(before);
    expect(values().SystemName).toBe("Fairway");
    expect(listActions(await calls.apply(documents))).toEqual([
      "new: create",
      "old: update",
      "ci: create",
      "site: update",
    ]);
    expect(listActions(await calls.plan(documents))).toEqual(
      documents.map(({ metadata }) => `${metadata.name}: unchanged`),
    );
    expect(values().SystemName).toBe("Ours");
  });

  test("many documents at the same time from several callers leave one of each", async () => {
    const documents = [channelDocument("a"), channelDocument("b"), optionDocument("site", { SystemName: "Ours" })];
    const replies = await Promise.all([1, 2, 3].map(() => calls.tryApply(documents)));
    const done = replies.filter(({ body }) => body["success"] === true);
    expect(done.length).toBeGreaterThan(0);
    expect((await all("channels")).map(({ name }) => name)).toEqual(["a", "b"]);
    expect(await all("managed_resources")).toHaveLength(3);
  });

  test("those who wait for their turn leave the connections of the pool to all others", async () => {
    const { db, kind } = app.database;
    if (kind === "sqlite") return;
    const started = async () =>
      (await db.selectFrom("audit_log").select("id").where("action", "=", "declarativeApply").execute()).length;
    const before = await started();
    const callers = 24;
    const waiting = await db.transaction().execute(async (trx) => {
      const turn = { topic: "documents", revision: 1 };
      await trx.deleteFrom("revisions").where("topic", "=", turn.topic).execute();
      await trx.insertInto("revisions").values(turn).execute();
      const replies = Array.from({ length: callers }, () => calls.tryApply([channelDocument("a")]));
      await expect.poll(started).toBe(before + callers);
      expect((await members.root.get("/api/channel/")).status).toBe(200);
      return replies;
    });
    const done = (await Promise.all(waiting)).map(({ body }) => body["success"]);
    expect(new Set(done)).toEqual(new Set([true]));
  });

  test("tokens are locked before the first write, so that no transaction waits for one while it holds a revision", async () => {
    const { db, kind, raw } = app.database;
    const names = ["t1", "t2"];
    await calls.apply(names.map((name) => tokenDocument(name)));
    if (kind === "sqlite") return;
    const applied = await db.transaction().execute(async (trx) => {
      await trx.updateTable("tokens").set({ name: "t2" }).where("name", "=", "t2").execute();
      const work = calls.tryApply(names.map((name) => tokenDocument(name, { allowIps: ["10.0.0.1"] })));
      const waiting = async () => (await raw.rows(WAITING[kind], [])).length;
      await expect.poll(waiting, WAITING_POLL).toBeGreaterThan(0);
      await bump(rawOn(trx, kind), kind, "tokens");
      return { work };
    });
    expect((await applied.work).body["success"]).toBe(true);
    expect((await all("tokens")).map((token) => token.allow_ips)).toEqual(["10.0.0.1", "10.0.0.1"]);
  });

  describe("option sets", () => {
    const weak = (more: object = {}) => optionDocument("base", { SystemName: "Base", Notice: "n" }, more);
    const strong = (more: object = {}) => optionDocument("site", { SystemName: "Site" }, { priority: 5, ...more });

    test("the stronger of two has an option, in whatever order and call they come", async () => {
      const [base, site] = await calls.apply([weak(), strong()]);
      expect(base).toMatchObject({ action: "conflict", message: "SystemName is set by site of file:test" });
      expect(site).toMatchObject({ action: "update" });
      expect(values()).toMatchObject({ SystemName: "Site", Notice: "" });
    });

    test("a stronger one takes an option from the set that had it, which keeps the others", async () => {
      await calls.apply([weak()]);
      await calls.apply([strong()]);
      expect(values()).toMatchObject({ SystemName: "Site", Notice: "n" });
      const managed = await members.root.data<{ name: string; fields: string[] }[]>(
        members.root.get("/api/declarative/managed"),
      );
      expect(managed.map(({ name, fields }) => [name, fields])).toEqual([
        ["base", ["Notice"]],
        ["site", ["SystemName"]],
      ]);
      const [again] = await calls.plan([weak()]);
      expect(again).toMatchObject({ action: "conflict", message: "SystemName is set by site of file:test" });
      expect(listActions(await calls.plan([weak({ priority: 9 })]))).toEqual(["base: update"]);
    });

    test("what a set no longer names stays, or goes back to its default when it prunes", async () => {
      const set = (names: object, prune: boolean) => optionDocument("site", names, { prune });
      await calls.apply([set({ SystemName: "Ours", Notice: "n", About: "a" }, false)]);
      expect(listActions(await calls.apply([set({ SystemName: "Ours", Notice: "n" }, false)]))).toEqual([
        "site: unchanged",
      ]);
      expect(values()).toMatchObject({ Notice: "n", About: "a" });
      const [change] = await calls.apply([set({ SystemName: "Ours" }, true)]);
      expect(change).toMatchObject({ action: "update", fields: [{ field: "Notice" }] });
      expect(values()).toMatchObject({ SystemName: "Ours", Notice: "", About: "a" });
      await calls.apply([], { prune: true });
      expect(values()).toMatchObject({ SystemName: "Fairway", About: "a" });
    });
  });

  test("a standing grant is filled up again, never taken away, and what was used stays counted", async () => {
    const { db } = app.database;
    const grant = (quota: object) => tokenDocument("ci", { quota: { mode: "Maintain", ...quota } });
    const token = () => db.selectFrom("tokens").selectAll().executeTakeFirstOrThrow();
    await calls.apply([grant({ amount: 700 })]);
    await db.updateTable("tokens").set({ remain_quota: 0, used_quota: 700, status: 4 }).execute();
    const [change] = await calls.plan([grant({ amount: 700 })]);
    expect(change?.fields).toEqual([
      { field: "quota", old: { unlimited: false, amount: 0 }, new: { unlimited: false, amount: 700 } },
    ]);
    await calls.apply([grant({ amount: 700 })]);
    expect(await token()).toMatchObject({ remain_quota: 700, used_quota: 700, status: 1 });
    await db.updateTable("tokens").set({ remain_quota: 900 }).execute();
    expect(listActions(await calls.apply([grant({ amount: 700 })]))).toEqual(["ci: unchanged"]);
    await calls.apply([tokenDocument("ci", { quota: { amount: 5 }, group: "vip" })]);
    expect(await token()).toMatchObject({ remain_quota: 900, group: "vip" });
    await calls.apply([grant({ unlimited: true })]);
    expect(await token()).toMatchObject({ unlimited_quota: 1 });
  });

  test("a channel that was switched by hand stays so for an hour, unless it is forced", async () => {
    const document = channelDocument("main", { enabled: true });
    await calls.apply([document]);
    const [{ id } = { id: 0 }] = await all("channels");
    const switchTo = (status: number) => members.admin.data(members.admin.put("/api/channel/", { id, status }));
    const isOn = async () => (await all("channels"))[0]?.status === 1;
    await switchTo(2);
    const until = new Date(app.clock.now() + 3_600_000).toISOString().replace(/\.\d+Z/, "Z");
    expect(await calls.apply([document])).toMatchObject([
      {
        action: "unchanged",
        message: `switched by hand, until ${until}`,
        override_until: Date.parse(until) / 1_000,
      },
    ]);
    const overrides = async () =>
      (await members.root.data<{ override_until: number }[]>(members.root.get("/api/declarative/managed"))).map(
        ({ override_until }) => override_until,
      );
    expect(await overrides()).toEqual([Date.parse(until) / 1_000]);
    expect(await isOn()).toBe(false);
    expect(listActions(await calls.apply([channelDocument("main", { enabled: true, weight: 3 })]))).toEqual([
      "main: update",
    ]);
    expect(await isOn()).toBe(false);
    app.clock.move(3_601);
    expect(await overrides()).toEqual([0]);
    expect(listActions(await calls.apply([document]))).toEqual(["main: update"]);
    expect(await isOn()).toBe(true);
    await members.admin.data(members.admin.put("/api/channel/", { id, status: 2, disable_seconds: 7_200 }));
    expect(await overrides()).toEqual([Math.floor(app.clock.now() / 1_000) + 7_200]);
    await members.admin.data(members.admin.put("/api/channel/", { id, status: 1 }));
    await members.admin.data(members.admin.post("/api/channel/bulk", { ids: [id], action: "disable" }));
    expect(await isOn()).toBe(false);
    expect(listActions(await calls.apply([document]))).toEqual(["main: unchanged"]);
    expect(listActions(await calls.apply([document], { force: true }))).toEqual(["main: update"]);
    expect(await isOn()).toBe(true);
  });

  test("an undeclared channel is adopted by its number; a declared one is not", async () => {
    const made = { type: 1, name: "By hand", key: "k", models: "m", group: "default" };
    await members.root.data(members.root.post("/api/channel/", made));
    const [{ id } = { id: 0 }] = await all("channels");
    const document = channelDocument("main", { displayName: "Ours", adopt: { channelId: id } });
    expect(listActions(await calls.apply([document]))).toEqual(["main: update"]);
    expect(await all("channels")).toMatchObject([{ id, name: "Ours", models: "gpt-4o" }]);
    expect(listActions(await calls.plan([document]))).toEqual(["main: unchanged"]);
    const thief = channelDocument("other", { adopt: { channelId: id } });
    expect(await calls.plan([thief])).toMatchObject([
      { action: "conflict", message: "it is managed as main by file:test" },
    ]);
    expect(listActions(await calls.apply([thief], { force: true }))).toEqual(["other: unchanged"]);
    expect(await all("managed_resources")).toMatchObject([{ name: "other", resource_id: id }]);
    expect(await readCode(calls.tryApply([channelDocument("x", { adopt: { channelId: 999_999 } })]))).toBe("M2");
  });

  test("a channel that another document takes over does not go with the document that named it before", async () => {
    await calls.apply([channelDocument("main")]);
    const [{ id } = { id: 0 }] = await all("channels");
    const renamed = channelDocument("renamed", { adopt: { channelId: id } });
    const more = { force: true, prune: true };
    expect(listActions(await calls.apply([renamed], more))).toEqual(["renamed: unchanged"]);
    expect(await all("channels")).toMatchObject([{ id }]);
    expect(await all("managed_resources")).toMatchObject([{ name: "renamed", resource_id: id }]);
    expect(listActions(await calls.plan([renamed], more))).toEqual(["renamed: unchanged"]);
  });

  test("two documents cannot have one channel", async () => {
    const made = { type: 1, name: "By hand", key: "k", models: "m", group: "default" };
    await members.root.data(members.root.post("/api/channel/", made));
    const [{ id } = { id: 0 }] = await all("channels");
    const adopting = channelDocument("one", { adopt: { channelId: id } });
    const naming = channelDocument("two", { displayName: "By hand" });
    expect(await calls.apply([adopting, naming], { force: true })).toMatchObject([
      { name: "one", action: "update" },
      { name: "two", action: "conflict", message: "it is managed as one by file:test" },
    ]);
    expect(await all("managed_resources")).toMatchObject([{ name: "one", resource_id: id }]);
    expect(await all("channels")).toMatchObject([{ id, name: "By hand", models: "gpt-4o" }]);
  });

  test("no two channels are exported with the same variable for their keys", async () => {
    for (const name of ["gpt-4.1", "gpt-4-1", "gpt 4 1"]) {
      const made = { type: 1, name, key: `key of ${name}`, models: "m", group: "default" };
      await members.root.data(members.root.post("/api/channel/", made));
    }
    type Exported = { metadata: { name: string }; spec: { credentialsFrom: { env: string } } };
    const documents = await members.root.data<Exported[]>(members.root.get("/api/declarative/export?kind=Channel"));
    expect(new Set(documents.map(({ spec }) => spec.credentialsFrom.env)).size).toBe(3);
    expect(documents[0]?.spec.credentialsFrom.env).toBe("CHANNEL_GPT_4_1");
    for (const { spec } of documents) expect(spec.credentialsFrom.env).toMatch(/^[A-Z0-9_]{1,128}$/);
  });

  describe("secrets by reference", () => {
    const from = (credentialsFrom: object) => channelDocument("main", { key: undefined, credentialsFrom });
    const readChannelKey = async () => {
      const [{ id } = { id: 0 }] = await all("channels");
      return app.operations.channels.store.findKey(id);
    };

    test("come from mounted Secrets, files and variables, follow their change, and are never shown", async () => {
      await mkdir(join(secretsDir, "openai"), { recursive: true });
      await writeFile(join(secretsDir, "openai", "api-key"), "sk-canary-1\n");
      const mounted = from({ secretKeyRef: { name: "openai", key: "api-key" } });
      const reply = await calls.tryApply([mounted]);
      expect(reply.text).not.toContain("canary");
      expect(await readChannelKey()).toBe("sk-canary-1");
      expect(listActions(await calls.plan([mounted]))).toEqual(["main: unchanged"]);
      await writeFile(join(secretsDir, "openai", "api-key"), "sk-canary-2");
      expect(await calls.apply([mounted])).toMatchObject([{ fields: [{ field: "key", new: "(changed)" }] }]);
      expect(await readChannelKey()).toBe("sk-canary-2");
      await calls.apply([from({ env: "OPENAI" })]);
      expect(await readChannelKey()).toBe("sk-from-variable");
      await writeFile(join(secretsDir, "keys"), "k1\nk2\n");
      expect((await calls.tryApply([from({ file: "keys" })])).body["message"]).toContain("has several lines");
      await calls.apply([from({ file: "keys", keys: "Split" })]);
      expect(await readChannelKey()).toBe("k1\nk2");
      await calls.apply([optionDocument("mail", {}, { valuesFrom: [{ option: "SMTPToken", env: "OPENAI" }] })]);
      expect(values().SMTPToken).toBe("sk-from-variable");
    });

    // @weakness Leaks: A document puts a secret of the deployment into an option that everybody reads
    test("go into no option that is shown", async () => {
      for (const option of ["Notice", "SMTPAccount", "TurnstileSiteKey"]) {
        const { body } = await calls.tryApply([
          optionDocument("site", {}, { valuesFrom: [{ option, env: "OPENAI" }] }),
        ]);
        expect(body["message"]).toContain(`${option} is shown, so it takes no secret`);
      }
    });

    test("that were replaced are not put back by a replica that still reads the old Secret", async () => {
      const file = join(secretsDir, "rotated", "api-key");
      await mkdir(join(secretsDir, "rotated"), { recursive: true });
      const mounted = from({ secretKeyRef: { name: "rotated", key: "api-key" } });
      for (const key of ["sk-old", "sk-new"]) {
        await writeFile(file, key);
        await calls.apply([mounted]);
      }
      await writeFile(file, "sk-old");
      expect(await calls.apply([mounted])).toMatchObject([
        { action: "unchanged", fields: [], message: expect.stringContaining("was replaced before") as unknown },
      ]);
      expect(await readChannelKey()).toBe("sk-new");
      await writeFile(file, "sk-newest");
      expect(await calls.apply([mounted])).toMatchObject([{ action: "update", message: "" }]);
      await writeFile(file, "sk-old");
      await calls.apply([mounted], { force: true });
      expect(await readChannelKey()).toBe("sk-old");
      expect(await calls.plan([mounted])).toMatchObject([{ action: "unchanged", message: "" }]);
    });

    test("that are missing leave an existing channel alone, and a new one off", async () => {
      const missing = from({ secretKeyRef: { name: "nowhere", key: "api-key" } });
      expect(await calls.apply([missing])).toMatchObject([
        { action: "create", message: "not found: Secret nowhere, key api-key" },
      ]);
      expect(await all("channels")).toMatchObject([{ status: 2 }]);
      await calls.apply([from({ env: "OPENAI" })]);
      expect(await calls.apply([missing])).toMatchObject([{ action: "unchanged" }]);
      expect(await readChannelKey()).toBe("sk-from-variable");
    });

    test("take the place of secrets in an export, which another gateway applies with the variables set", async () => {
      await calls.apply([
        channelDocument("main", { key: "sk-canary-1" }),
        optionDocument("mail", { SMTPServer: "mail.example", SMTPToken: "canary-2" }),
      ]);
      const reply = await members.root.get("/api/declarative/export");
      expect(reply.text).not.toContain("canary");
      const documents = reply.body["data"] as { kind: string; metadata: { name: string }; spec: object }[];
      const specs = documents.filter(({ kind }) => kind !== "User").map(({ spec }) => spec);
      expect(specs).toMatchObject([
        { credentialsFrom: { env: "CHANNEL_MAIN" } },
        { values: { SMTPServer: "mail.example" }, valuesFrom: [{ option: "SMTPToken", env: "OPTION_SMTPTOKEN" }] },
      ]);
      const here = documents.filter(({ kind }) => kind === "Channel");
      expect(await calls.plan(here)).toMatchObject([
        { action: "unchanged", message: "not found: variable FAIRWAY_SECRET_CHANNEL_MAIN" },
      ]);
    });

    test("reach nothing outside of their folder and their prefix", async () => {
      for (const source of [
        { file: "../etc/passwd" },
        { file: "/etc/passwd" },
        { secretKeyRef: { name: "..", key: "passwd" } },
        { env: "path" },
        { env: "OPENAI", file: "keys" },
        {},
      ]) {
        expect(await readCode(calls.tryApply([from(source)])), JSON.stringify(source)).toBe("M2");
      }
      expect(await calls.plan([from({ env: "PATH" })])).toMatchObject([
        { message: "not found: variable FAIRWAY_SECRET_PATH" },
      ]);
    });
  });
});
