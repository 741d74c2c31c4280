import { createDatabase } from "@fairway/testkit/databases";
import type { LogFacets, LogHistogram, LogPage, Token } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { insertLogs } from "../../../test/kit/log-rows.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../../test/kit/members.ts";

let app: ManagementApp;
let members: Members;
let renamed: Token;
let other: Token;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
});
afterAll(() => app.close());

beforeEach(async () => {
  await app.database.db.deleteFrom("logs").execute();
  const create = (name: string) => members.user.data<Token>(members.user.post("/api/token/", { name }));
  renamed = await create("app");
  other = await create("app");
  const call = (token: Token, content: string, row: object) => {
    const { user_id } = token;
    return { user_id, username: "ann", token_id: token.id, token_name: "app", quota: 3, content, ...row };
  };
  const at = Math.floor(app.clock.now() / 1000) - 600;
  await insertLogs(app.database, [
    call(renamed, "before", { created_at: at, model_name: "old" }),
    call(other, "of another token", { created_at: at + 1, model_name: "old" }),
    call(renamed, "after", { created_at: at + 2, model_name: "new", token_name: "shop" }),
    call(renamed, "failed", { created_at: at + 3, model_name: "new", token_name: "shop", type: 5 }),
  ]);
  await members.user.data(members.user.put("/api/token/", { ...renamed, name: "shop" }));
});

async function expectItsCalls(): Promise<void> {
  for (const [who, path] of [
    [members.admin, "/api/log"],
    [members.user, "/api/log/self"],
  ] as const) {
    const filter = `token_id=${renamed.id}`;
    const page = await who.data<LogPage>(who.get(`${path}${path.endsWith("log") ? "/" : ""}?${filter}`));
    expect(page.items.map(({ content }) => content)).toEqual(["failed", "after", "before"]);
    expect(page.total).toBe(3);
    expect(await who.data(who.get(`${path}/stat?${filter}`))).toMatchObject({ quota: 6 });
    const { buckets } = await who.data<LogHistogram>(who.get(`${path}/histogram?${filter}`));
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(3);
    const { tokens, models } = await who.data<LogFacets>(who.get(`${path}/facets?${filter}`));
    expect(tokens).toEqual([
      { value: "shop", count: 2 },
      { value: "app", count: 1 },
    ]);
    expect(models).toHaveLength(2);
    const file = await who.get(`${path}/export?${filter}&format=ndjson`);
    expect(file.text.trim().split("\n")).toHaveLength(3);
  }
}

test("the calls of a token are those of before its new name as well, and not those of another of its name", async () => {
  await expectItsCalls();
});

test("the calls of a deleted token are found", async () => {
  await members.user.data(members.user.delete(`/api/token/${renamed.id}`));
  await expectItsCalls();
});

test("no user reads the calls of another user's token", async () => {
  const own = await members.root.data<LogPage>(members.root.get(`/api/log/self?token_id=${renamed.id}`));
  expect(own).toMatchObject({ items: [], total: 0 });
  const theirs = await members.admin.data<LogPage>(
    members.admin.get(`/api/log/?token_id=${renamed.id}&user_id=${members.admin.userId}`),
  );
  expect(theirs).toMatchObject({ items: [], total: 0 });
});
