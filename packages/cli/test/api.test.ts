// Calls of the management API by their names.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonOf, rowsOf, startRig, type Rig } from "./rig.ts";
import { run } from "./terminal.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

test("all calls are listed with who may make them", async () => {
  const calls = rowsOf(await rig.fairway("api -o jsonl"));
  expect(calls).toContainEqual(
    expect.objectContaining({ name: "channelGet", method: "GET", path: "/api/channel/{id}", access: "admin" }),
  );
  expect((await rig.fairway("api")).out).toMatch(/^channelGet +GET +\/api\/channel\/\{id\} +admin/m);
});

test("a call takes its path, query and body, and prints the answer as it is", async () => {
  const body = join(rig.home, "user.json");
  await writeFile(body, JSON.stringify({ username: "ann", password: "ann-password" }));
  expect((await rig.fairway(`api userCreate --body @${body}`)).code).toBe(0);
  const found = await rig.fairway("api userSearch --query keyword=ann group=default");
  const { data } = jsonOf(found) as { data: { id: number; username: string }[] };
  expect(data).toMatchObject([{ username: "ann" }]);
  const id = data[0]?.id ?? 0;
  expect(jsonOf(await rig.fairway(`api userGet -p id=${id} -o jsonl`))).toMatchObject({ data: { username: "ann" } });
  const changed = await run(["api", "userUpdate", "--body", "-"], rig.env, JSON.stringify({ id, group: "default" }));
  expect(changed.code, changed.err).toBe(0);
  const exported = await rig.fairway("api logExport --query format=csv");
  expect(exported.out).toContain("created_at,type,username");
});

test("what deletes is asked for, what is wrong is named", async () => {
  const refused = await rig.fairway("api userDelete --param id=2");
  expect(refused.code).toBe(2);
  expect(refused.err).toContain('userDelete {"id":"2"}');
  expect((await rig.fairway("api userDelete --param id=2 --yes")).code).toBe(0);
  expect((await rig.fairway("api userGet --param id=2")).code).toBe(3);
  expect((await rig.fairway("api userGet")).err).toContain("userGet needs --param id=…");
  expect((await rig.fairway("api userGot")).err).toContain("there is no call userGot");
  expect((await rig.fairway("api userGet --param 3")).code).toBe(2);
  expect((await run(["api", "userUpdate", "--body", "{id: 3"], rig.env)).err).toContain("--body is no JSON");
});
