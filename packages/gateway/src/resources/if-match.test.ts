import { eachDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ApiCaller, ApiReply } from "../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../test/kit/members.ts";

interface Entity {
  /** Creates a resource and returns its id. */
  make(root: ApiCaller): Promise<number>;
  readonly get: (id: number) => string;
  readonly put: string;
  readonly body: (id: number, text: string) => object;
  /** Changes the resource the way the system does, without an edit. */
  move?(app: ManagementApp, id: number): Promise<unknown>;
  /** The expected code, if it is not G8. */
  readonly code?: string;
}

const first = async (root: ApiCaller, path: string): Promise<number> => {
  const [row] = await root.data<{ id: number }[]>(root.get(path));
  return row?.id ?? 0;
};

const ENTITIES: Readonly<Record<string, Entity>> = {
  user: {
    async make(root) {
      await root.data(root.post("/api/user/", { username: "edited", password: "a good password" }));
      return first(root, "/api/user/search?keyword=edited");
    },
    get: (id) => `/api/user/${id}`,
    put: "/api/user/",
    body: (id, display_name) => ({ id, display_name, quota: 5 }),
    move: (app, id) =>
      app.database.db.updateTable("users").set({ used_quota: 9, request_count: 2 }).where("id", "=", id).execute(),
  },
  account: {
    make: () => Promise.resolve(0),
    get: () => "/api/user/self",
    put: "/api/user/self",
    body: (_id, display_name) => ({ display_name }),
    move: (app) => app.database.db.updateTable("users").set({ used_quota: 9 }).where("id", "=", 1).execute(),
  },
  channel: {
    async make(root) {
      await root.data(root.post("/api/channel/", { name: "c", key: "k", models: "m" }));
      return first(root, "/api/channel/");
    },
    get: (id) => `/api/channel/${id}`,
    put: "/api/channel/",
    body: (id, name) => ({ id, name }),
    move: (app, id) =>
      app.database.db.updateTable("channels").set({ used_quota: 9, response_time: 2 }).where("id", "=", id).execute(),
    code: "CH20",
  },
  token: {
    async make(root) {
      await root.data(root.post("/api/token/", { name: "t", remain_quota: 100 }));
      return first(root, "/api/token/");
    },
    get: (id) => `/api/token/${id}`,
    put: "/api/token/",
    body: (id, name) => ({ id, name }),
    move: (app, id) =>
      app.database.db.updateTable("tokens").set({ remain_quota: 50, used_quota: 50 }).where("id", "=", id).execute(),
  },
  redemption: {
    async make(root) {
      await root.data(root.post("/api/redemption/", { name: "r", quota: 5, count: 1 }));
      return first(root, "/api/redemption/");
    },
    get: (id) => `/api/redemption/${id}`,
    put: "/api/redemption/",
    body: (id, name) => ({ id, name, quota: 5 }),
  },
  budget: {
    async make(root) {
      await root.data(root.post("/api/budget/", { scope: "group", subject: "default", period: "day", quota_limit: 5 }));
      return first(root, "/api/budget/");
    },
    get: (id) => `/api/budget/${id}`,
    put: "/api/budget/",
    body: (id, text) => ({ id, quota_limit: text.length * 100 + Number(text.at(-1)) + 1 }),
    move: (app, id) => app.database.db.updateTable("budgets").set({ used: 9 }).where("id", "=", id).execute(),
  },
  option: {
    make: () => Promise.resolve(0),
    get: () => "/api/option/",
    put: "/api/option/",
    body: (_id, value) => ({ key: "Notice", value }),
  },
};

eachDatabase("an edit with If-Match", (open) => {
  let app: ManagementApp;
  let members: Members;
  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
  });
  afterAll(() => app.close());

  describe.each(Object.entries(ENTITIES))("of one %s", (_name, { make, get, put, body, move, code = "G8" }) => {
    let id: number;
    beforeAll(async () => {
      id = await make(members.root);
    });

    const tag = async () => String((await members.root.get(get(id))).headers["etag"]);
    const edit = (text: string, etag?: string): Promise<ApiReply> =>
      members.root.call("PUT", put, { ...(etag && { headers: { "if-match": etag } }), body: body(id, text) });

    test("succeeds while no other client has edited it, and returns the tag for the next edit", async () => {
      const seen = await tag();
      expect(seen).toMatch(/^"[\w-]+"$/);
      await move?.(app, id);
      expect(await tag()).toBe(seen);
      const reply = await edit("one1", `W/${seen}`);
      expect(reply.body).toMatchObject({ success: true });
      expect(reply.headers["etag"]).toBe(await tag());
      expect(await tag()).not.toBe(seen);
      expect((await edit("two2", String(reply.headers["etag"]))).body).toMatchObject({ success: true });
      const stale = await edit("three3", seen);
      expect(stale.status).toBe(200);
      expect(stale.body).toMatchObject({ success: false, code });
      expect(String(stale.body["message"])).toMatch(/has been changed in the meantime, please refresh the page/);
      expect((await edit("strange", '"of another"')).body).toMatchObject({ success: false, code });
      expect((await edit("both", `"of another", ${String(await tag())}`)).body).toMatchObject({ success: true });
      expect((await edit("four4")).body).toMatchObject({ success: true });
      expect((await edit("five5", "*")).body).toMatchObject({ success: true });
    });

    test("lets one of several at the same time through", async () => {
      const seen = await tag();
      const replies = await Promise.all(Array.from({ length: 6 }, (_, n) => edit(`parallel${n}`, seen)));
      const refused = replies.map(({ body: answer }) => answer).filter((answer) => answer["success"] !== true);
      expect(refused.map((answer) => answer["code"])).toEqual(Array.from({ length: 5 }, () => code));
    });
  });
});
