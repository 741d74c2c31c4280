import { createDatabase } from "@fairway/testkit/databases";
import * as wire from "@fairway/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ApiCaller } from "../../../test/kit/api-caller.ts";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { ACTORS, CALLS, CASES, type Actor, type Case } from "../../../test/kit/team-calls.ts";
import { TeamSubjects } from "../../../test/kit/team-subjects.ts";

/** Every call about a team by every role: in the team, in the installation, of a former member and of a stranger. */

let app: ManagementApp;
let subjects: TeamSubjects;

beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  subjects = await TeamSubjects.open(app);
}, 60_000);
afterAll(() => app.close());
beforeEach(() => subjects.clear());

const caller = (actor: Actor): ApiCaller => subjects.caller(actor);
const makeSubject = () => subjects.make();

test("every call about a team is in the matrix", () => {
  expect(CALLS.map(({ name }) => name).toSorted()).toEqual(Object.keys(CASES).toSorted());
});

describe.each(Object.keys(CASES))("%s", (name) => {
  const { may, send } = CASES[name] as Case;

  test("is for those who may", async () => {
    for (const actor of ACTORS) {
      const { body } = await send(caller(actor), await makeSubject());
      expect([actor, body["success"]]).toEqual([actor, may.includes(actor)]);
    }
  });

  test("answers people from outside as for a team that does not exist", async () => {
    const subject = await makeSubject();
    const missing = await send(caller("stranger"), { ...subject, id: 987_654 });
    expect(missing.body["code"]).toBe("TM1");
    for (const actor of ["former", "stranger"] as const) {
      const { root } = { root: caller("root") };
      const userId = subjects.idOf("former");
      if (actor === "former") {
        await root.data(root.post(`/api/team/${subject.id}/members`, { user_id: userId, role: "admin" }));
        await root.data(root.delete(`/api/team/${subject.id}/members/${userId}`));
      }
      const { text, status } = await send(caller(actor), subject);
      expect([actor, text, status]).toEqual([actor, missing.text, missing.status]);
    }
  });

  test("needs a scope for teams from an access token", async () => {
    const owner = caller("owner");
    const subject = await makeSubject();
    const scopes = String(wire.CALL_RIGHTS[name]?.areas).includes("billing") ? ["teams", "billing"] : ["teams"];
    const isRead = wire.CALL_RIGHTS[name]?.effect === "read";
    for (const level of ["read", "write"] as const) {
      const given = scopes.map((area) => `${area}:${level}`);
      const made = owner.post("/api/user/self/access_tokens", { name: `${name} ${level}`, scopes: given });
      const withToken = new ApiCaller(app.baseUrl);
      withToken.accessToken = await owner.data<string>(made);
      withToken.userId = owner.userId;
      const { body } = await send(withToken, subject);
      const isLet = isRead || level === "write";
      expect([level, body["code"] === "AU11"]).toEqual([level, !isLet]);
      await owner.data(owner.delete(`/api/user/self/access_tokens?name=${encodeURIComponent(`${name} ${level}`)}`));
    }
  });
});
