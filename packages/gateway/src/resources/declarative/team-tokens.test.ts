import { eachDatabase } from "@fairway/testkit/databases";
import type { TeamToken, TeamView } from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { readCode, signInMembers, type Members } from "../../../test/kit/members.ts";
import { documentCalls, listActions, tokenDocument } from "./documents-kit.ts";

eachDatabase("keys of teams as documents", (open) => {
  let app: ManagementApp;
  let members: Members;
  let calls: ReturnType<typeof documentCalls>;
  let team: TeamView;

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    members = await signInMembers(app);
    calls = documentCalls(members.root);
    const { root, user } = members;
    const body = { name: "Research", slug: "research", owner_id: user.userId };
    team = await root.data<TeamView>(root.post("/api/team/", body));
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    for (const table of ["tokens", "managed_resources"] as const) await app.database.db.deleteFrom(table).execute();
  });

  const keyOf = (name: string, spec: object = {}) => tokenDocument(name, { owner: { team: "research" }, ...spec });
  const readReason = async (documents: unknown[]) => (await calls.tryApply(documents)).body["message"];
  const readRows = () =>
    app.database.db
      .selectFrom("tokens")
      .select(["id", "name", "user_id", "member_id", "remain_quota", "status"])
      .execute();

  test("are made for the wallet without a member, found in sync, changed, and exported", async () => {
    expect(listActions(await calls.apply([keyOf("lab", { quota: { amount: 700 } })]))).toEqual(["lab: create"]);
    const [row] = await readRows();
    expect(row).toMatchObject({ name: "lab", user_id: team.account_id, member_id: 0, remain_quota: 700 });
    expect(listActions(await calls.plan([keyOf("lab", { quota: { amount: 700 } })]))).toEqual(["lab: unchanged"]);
    await calls.apply([keyOf("lab", { disabled: true })]);
    expect(await readRows()).toMatchObject([{ id: row?.id, status: 2 }]);
    const { root, user } = members;
    const all = await root.data<{ kind: string; spec: object }[]>(root.get("/api/declarative/export"));
    const tokens = all.filter(({ kind }) => kind === "Token");
    expect(tokens).toMatchObject([{ spec: { owner: { team: "research" }, disabled: true } }]);
    expect(listActions(await calls.plan(tokens))).toEqual(["lab: unchanged"]);
    const seen = await user.data<TeamToken[]>(user.get(`/api/team/${team.id}/token/`));
    expect(seen.map(({ id }) => id)).toEqual([row?.id]);
    expect(listActions(await calls.apply([], { prune: true }))).toEqual(["lab: delete"]);
  });

  test("leave keys of members and of the user of that name alone", async () => {
    const { user, root } = members;
    await user.data(user.post("/api/token/", { name: "lab" }));
    await calls.apply([keyOf("lab")]);
    expect((await readRows()).map(({ user_id: owner }) => owner)).toEqual([user.userId, team.account_id]);
    await user.data(user.post(`/api/team/${team.id}/token/`, { name: "of a member" }));
    const all = await root.data<{ kind: string; metadata: { name: string } }[]>(root.get("/api/declarative/export"));
    const names = all.filter(({ kind }) => kind === "Token").map(({ metadata }) => metadata.name);
    expect(names).toEqual(["lab", expect.stringMatching(/^lab-\d+$/)]);
    const [change] = await calls.plan([tokenDocument("lab")]);
    expect(change).toMatchObject({ message: expect.stringContaining("a token keeps its owner") as string });
  });

  test("are switched by admins of the team, and changed and deleted by the document alone", async () => {
    await calls.apply([keyOf("lab", { group: "" })]);
    const [{ id } = { id: 0 }] = await readRows();
    const { user } = members;
    const path = `/api/team/${team.id}/token/${id}`;
    expect(await readCode(user.delete(path))).toBe("M1");
    await user.data(user.put(`${path}/status`, { status: 2 }));
    expect(listActions(await calls.plan([keyOf("lab", { group: "" })]))).toEqual(["lab: unchanged"]);
  });

  test("name a team that is there, by its short name alone, within its life of keys", async () => {
    const { root } = members;
    expect(await readReason([keyOf("x", { owner: { team: "nobody" } })])).toContain("there is no team nobody");
    expect(await readReason([keyOf("x", { owner: { username: "team:research" } })])).toContain("there is no user");
    for (const owner of [{}, { team: "research", username: "ann" }])
      expect(await readReason([keyOf("x", { owner })])).toContain("one of username and team");
    await root.data(root.put(`/api/team/${team.id}`, { settings: { max_key_days: 30 } }));
    expect(await readCode(calls.tryApply([keyOf("x")]))).not.toBe("");
    expect(await readRows()).toEqual([]);
    const tomorrow = new Date(app.clock.now() + 86_400_000).toISOString();
    await calls.apply([keyOf("x", { expiresAt: tomorrow })]);
    await root.data(root.put(`/api/team/${team.id}`, { settings: { max_key_days: 0 } }));
    await root.data(root.delete(`/api/team/${team.id}?confirm=research`));
    expect(await readReason([keyOf("y")])).toContain("there is no team research");
    await root.data(root.post(`/api/team/${team.id}/restore`, {}));
  });
});
