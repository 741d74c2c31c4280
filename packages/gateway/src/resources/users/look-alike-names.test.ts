import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startManagementApp, type ManagementApp } from "../../../test/kit/management-app.ts";
import { signInMembers, type Members } from "../../../test/kit/members.ts";

let app: ManagementApp;
let members: Members;
beforeAll(async () => {
  app = await startManagementApp({ url: await createDatabase("sqlite") });
  members = await signInMembers(app);
});
afterAll(() => app.close());

const LOOK_ALIKES = ["ｒｏｏｔ", "ＲＯＯＴ", "𝓻𝓸𝓸𝓽", "ⓡⓞⓞⓣ", "Ｒoot"];
const password = "a good password 1";

// @weakness Sessions and permissions: Someone registers a name that looks like the super administrator's
test.each(LOOK_ALIKES)("no user gets the name %s", async (username) => {
  const register = await app.anonymous().post("/api/user/register", { username, password });
  const create = await members.root.post("/api/user/", { username, password });
  const rename = await members.root.put("/api/user/", { id: members.admin.userId, username });
  const own = await members.admin.put("/api/user/self", { username });
  const codes = [register, create, rename, own].map(({ body }) => body["code"]);
  expect(codes).toEqual(["R7", "R7", "R7", "R7"]);
});

test("names of hidden letters, or of letters that stand for forbidden ones, are none", async () => {
  for (const username of ["ro\u00ADot", "\u3164", "ann\u034F", "a\uFF20b", "a\uFF0Fb"])
    expect((await app.anonymous().post("/api/user/register", { username, password })).body["success"]).toBe(false);
});
