import { messageText, type StoredAccount, type StoredCache } from "@fairway/wire";
import type { Session } from "@fairway/testkit";
import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { startRelayApp, type RelayApp } from "../../kit/relay-app.ts";
import { createMember, type Member } from "../../kit/tenants.ts";

const MODEL = "gemini-3.5-flash";
const TOKENS = 100_000;

eachDatabase("the management of caches", (open) => {
  let gateway: RelayApp;
  let channelId = 0;
  let mine: Member;
  let theirs: Member;
  let deleted: string[] = [];
  let serial = 0;
  let refuses = 0;

  beforeAll(async () => {
    gateway = await startRelayApp({ FAIRWAY_DATABASE_URL: await open() });
    channelId = await gateway.channel(MODEL, { type: 24, key: "g-owner" });
    await gateway.option("CacheStoragePrices", JSON.stringify({ [MODEL]: 1 }));
    await gateway.option("ModelRatio", JSON.stringify({ [MODEL]: 0.75 }));
    mine = await createMember(gateway);
    theirs = await createMember(gateway);
  }, 60_000);
  afterAll(() => gateway.close());

  beforeEach(() => {
    [deleted, refuses] = [[], 0];
    gateway.upstream.reset();
    gateway.upstream.script("/cachedContents", () => {
      const id = `up${++serial}`;
      gateway.upstream.script(`/cachedContents/${id}`, ({ method }) => {
        if (refuses > 0) return { status: refuses, body: { error: { code: refuses, message: "not now" } } };
        if (method === "DELETE") deleted.push(id);
        return { body: {} };
      });
      return {
        body: {
          name: `cachedContents/${id}`,
          model: `models/${MODEL}`,
          createTime: "2026-11-28T10:00:00Z",
          updateTime: "2026-11-28T10:00:00Z",
          expireTime: "2026-11-28T11:00:00Z",
          usageMetadata: { totalTokenCount: TOKENS },
        },
      };
    });
  });

  /** Creates a cache as if it had been created half an hour ago. */
  async function create({ key }: Member): Promise<string> {
    const answer = await fetch(`${gateway.url}/v1beta/cachedContents`, {
      method: "POST",
      headers: { "x-goog-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ model: `models/${MODEL}`, contents: [{ role: "user", parts: [{ text: "hi" }] }] }),
    });
    expect(answer.status).toBe(200);
    const id = ((await answer.json()) as { name: string }).name.replace("cachedContents/", "");
    const { db } = gateway.database;
    const rows = db.selectFrom("upstream_caches").select(["created_at", "ends_at"]);
    const { created_at, ends_at } = await rows.where("id", "=", id).executeTakeFirstOrThrow();
    const aged = { created_at: created_at - 1_800, ends_at: ends_at - 1_800 };
    await db.updateTable("upstream_caches").set(aged).where("id", "=", id).execute();
    return id;
  }

  const list = (session: Session, path: string) => session.must<StoredCache[]>("GET", path);
  const ids = (rows: readonly StoredCache[]) => rows.map(({ id }) => id);
  const exists = (id: string) =>
    gateway.database.db.selectFrom("upstream_caches").select("id").where("id", "=", id).executeTakeFirst();

  it("shows users their own caches with the cost of their storage, and administrators all", async () => {
    const [own, other] = [await create(mine), await create(theirs)];
    const [shown, ...rest] = await list(mine.session, "/api/cache/self");
    expect(rest).toEqual([]);
    expect(shown).toMatchObject({ id: own, channel_id: 0, model: MODEL, tokens: TOKENS, deposit: 50_000 });
    // Half an hour is 25,000 units; the seconds of the test itself count too.
    expect(shown?.storage).toBeGreaterThanOrEqual(25_000);
    expect(shown?.storage).toBeLessThanOrEqual(50_000);
    expect(JSON.stringify(shown)).not.toMatch(/"up\d|upstream|key_mark/);
    const all = await list(gateway.root, "/api/cache/");
    expect(new Set(ids(all))).toEqual(new Set([own, other]));
    expect(all.map(({ channel_id: channel }) => channel)).toEqual([channelId, channelId]);
    expect(ids(await list(gateway.root, `/api/cache/?user_id=${shown?.user_id}&model=${MODEL}`))).toEqual([own]);
    expect(await list(gateway.root, "/api/cache/?model=other")).toEqual([]);
    expect(await mine.session.must<StoredCache>("GET", `/api/cache/${own}`)).toMatchObject({ id: own, channel_id: 0 });
    expect(await gateway.root.must<StoredCache>("GET", `/api/cache/${own}`)).toMatchObject({ channel_id: channelId });
    const accounts = await gateway.root.must<StoredAccount[]>("GET", `/api/channel/${channelId}/objects`);
    expect(accounts).toMatchObject([{ key_index: 0, caches: 2, files: 0 }]);
    for (const id of [own, other]) await gateway.root.must("DELETE", `/api/cache/${id}`);
  });

  it("deletes an own cache at its provider and charges its storage until now; others' do not exist", async () => {
    const [own, other] = [await create(mine), await create(theirs)];
    for (const [method, id] of [
      ["GET", other],
      ["DELETE", other],
      ["DELETE", "x".repeat(26)],
    ] as const)
      await expect(mine.session.must(method, `/api/cache/${id}`)).rejects.toThrow(
        messageText("stored_cache_not_found"),
      );
    await mine.session.must("DELETE", `/api/cache/${own}`);
    expect(deleted).toHaveLength(1);
    expect(await exists(own)).toBeUndefined();
    await gateway.settled();
    const rows = gateway.database.db.selectFrom("ledger").select(["kind", "quota"]).where("request_id", "like", "%.s");
    const charged = (await rows.where("kind", "=", "consume").orderBy("id", "desc").execute())[0]?.quota ?? 0;
    expect(-charged).toBeGreaterThanOrEqual(25_000);
    expect(-charged).toBeLessThanOrEqual(50_000);
    refuses = 500;
    await expect(gateway.root.must("DELETE", `/api/cache/${other}`)).rejects.toThrow(
      messageText("stored_cache_not_deleted", { reason: "" }),
    );
    expect(await exists(other)).toBeDefined();
    refuses = 0;
    await gateway.root.must("DELETE", `/api/cache/${other}`);
    expect(await exists(other)).toBeUndefined();
  });
});
