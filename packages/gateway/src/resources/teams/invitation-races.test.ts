import { eachDatabase } from "@fairway/testkit/databases";
import type { TeamView } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { ACCOUNT_PASSWORD, UserAccounts } from "../../../test/kit/user-accounts.ts";

const PEOPLE = 8;
const USES = 3;

eachDatabase("an invitation that many people use at once", (open) => {
  let app: ManagementApp;
  const people: ApiCaller[] = [];

  beforeAll(async () => {
    app = await startManagementApp({ url: await open() });
    const accounts = new UserAccounts(app);
    for (let at = 0; at < PEOPLE; at += 1) {
      await accounts.add(`person${at}`);
      people.push(await app.signIn(`person${at}`, ACCOUNT_PASSWORD));
    }
  }, 60_000);
  afterAll(() => app.close());

  test("lets in as many as it is for, and each person once", async () => {
    const root = await app.signIn("root");
    const team = await root.data<TeamView>(root.post("/api/team/", { name: "Open house" }));
    const body = { role: "member", max_uses: USES };
    const { code } = await root.data<{ code: string }>(root.post(`/api/team/${team.id}/invitations`, body));
    const joins = people.flatMap((who) => [0, 1].map(() => who.post("/api/team/join", { code })));
    const replies = await Promise.all(joins);
    const joined = replies.filter((reply) => reply.body["success"] === true).length;
    const sql = "select user_id, role from team_members where team_id = ? and user_id <> 1";
    const members = await app.database.raw.rows<{ user_id: number; role: string }>(sql, [team.id]);
    expect(members).toHaveLength(USES);
    expect(new Set(members.map(({ role }) => role))).toEqual(new Set(["member"]));
    expect(joined).toBeGreaterThanOrEqual(USES);
    expect(joined).toBeLessThanOrEqual(2 * USES);
    const used = "select uses from team_invitations where team_id = ?";
    expect(await app.database.raw.rows(used, [team.id])).toEqual([{ uses: USES }]);
  });
});
