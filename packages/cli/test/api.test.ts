// Calls of the management API by their names.
import { userCreate } from "@fairway/wire";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";
import { run } from "./terminal.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

test("all calls are listed with who may make them", async () => {
  const calls = parseRows(await rig.fairway("api -o jsonl"));
  expect(calls).toContainEqual(
    expect.objectContaining({ name: "channelGet", method: "GET", path: "/api/channel/{id}", access: "admin" }),
  );
  expect((await rig.fairway("api")).out).toMatch(/^channelGet +GET +\/api\/channel\/\{id\} +admin/m);
});

test("--include prints status and headers, also of a refusal, and --if-match takes the tag from there", async () => {
  const create = "channel create --type openai --name tagged --models m --key-stdin -o json";
  const { id } = parseJsonOutput(await rig.fairway(create, "sk-tagged")) as { id: number };
  const read = await rig.fairway(`api GET /api/channel/${id} --include`);
  expect(read.code, read.err).toBe(0);
  const [head = "", body = ""] = read.out.split("\n\n", 2);
  expect(head).toMatch(/^HTTP 200\n/);
  expect(JSON.parse(body)).toMatchObject({ data: { id, name: "tagged" } });
  const tag = /^etag: (.+)$/m.exec(head)?.[1] ?? "";
  const update = (priority: number) =>
    run(["channel", "update", String(id), "--priority", String(priority), "--if-match", tag], rig.env);
  expect(await update(7)).toMatchObject({ code: 0 });
  const late = await update(8);
  expect(late.code, late.err).toBe(5);
  expect((await rig.fairway(`channel get ${id} -o json`)).out).toContain('"priority": 7');
  const missing = await rig.fairway("api GET /api/channel/999999 --include");
  expect({ code: missing.code, out: missing.out }).toEqual({
    code: 3,
    out: expect.stringMatching(/^HTTP \d+\n/) as string,
  });
});

test("the body comes from a file, or member by member", async () => {
  const file = join(rig.home, "input.json");
  await writeFile(file, JSON.stringify({ username: "ben", password: "ben-password" }));
  expect((await rig.fairway(`api userCreate --input ${file}`)).code).toBe(0);
  const piped = JSON.stringify({ username: "cleo", password: "cleo-password" });
  expect((await rig.fairway("api userCreate --input -", piped)).code).toBe(0);
  const { data } = parseJsonOutput(await rig.fairway("api userSearch --query keyword=ben")) as {
    data: { id: number }[];
  };
  const id = data[0]?.id ?? 0;
  const changed = await rig.fairway(
    `api PUT /api/user/ -F id=${id} -f username=ben display_name=Benjamin group=default`,
  );
  expect(changed.code, changed.err).toBe(0);
  expect((await rig.fairway(`api userGet -p id=${id}`)).out).toContain("Benjamin");
  const wrong = await rig.fairway("api userCreate -F id=ben");
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining("--json-field id is not JSON") as string });
  expect((await rig.fairway(`api userCreate --input ${file} --body {}`)).code).toBe(2);
});

test("a call takes its path, query and body, and prints the answer as it is", async () => {
  const body = join(rig.home, "user.json");
  await writeFile(body, JSON.stringify({ username: "ann", password: "ann-password" }));
  expect((await rig.fairway(`api userCreate --body @${body}`)).code).toBe(0);
  const found = await rig.fairway("api userSearch --query keyword=ann group=default");
  const { data } = parseJsonOutput(found) as { data: { id: number; username: string }[] };
  expect(data).toMatchObject([{ username: "ann" }]);
  const id = data[0]?.id ?? 0;
  expect(parseJsonOutput(await rig.fairway(`api userGet -p id=${id} -o jsonl`))).toMatchObject({
    data: { username: "ann" },
  });
  const changed = await run(["api", "userUpdate", "--body", "-"], rig.env, JSON.stringify({ id, group: "default" }));
  expect(changed.code, changed.err).toBe(0);
  const exported = await rig.fairway("api logExport --query format=csv");
  expect(exported.out).toContain("created_at,type,username");
});

test("all pages of a list are joined, whichever way its pages are found", async () => {
  for (let at = 0; at < 7; at++)
    await rig.client.call(userCreate, { body: { username: `p${at}`, password: "password-p" } });
  const names = (rows: unknown) => (rows as { username: string }[]).map(({ username }) => username);
  const all = await rig.fairway("api userList --query page_size=3 --paginate");
  expect(names(JSON.parse(all.out)).filter((name) => name.startsWith("p"))).toHaveLength(7);
  const byPath = await rig.fairway("api GET /api/user/?page_size=3 --paginate -o jsonl");
  expect(parseRows(byPath)).toEqual(JSON.parse(all.out));
  expect((await rig.fairway("api userList --paginate -o yaml")).out).toContain("username: p6");
  expect((await rig.fairway("api userSearch --query keyword=absent --paginate")).out).toBe("[]\n");
  const single = await rig.fairway("api userGet -p id=1 --paginate");
  expect(single).toMatchObject({ code: 2, out: "" });
  expect(single.err).toContain("userGet answers no list");
  expect((await rig.fairway("api userCreate --paginate")).err).toContain("userCreate has no pages");
});

test("pages of a cursor are joined, and wait where the gateway has no time for them", async () => {
  let calls = 0;
  const busy = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://busy");
    const id = Number(searchParams.get("before") ?? 4) - 1;
    const isRefused = ++calls === 2;
    response.writeHead(isRefused ? 429 : 200, { "content-type": "application/json", "retry-after": "1" });
    const data = {
      items: [{ id, size: searchParams.get("page_size") }],
      total: 3,
      page: 1,
      next: id > 1 ? `${id}` : "",
    };
    response.end(isRefused ? "" : JSON.stringify({ success: true, message: "", data }));
  }).listen(0, "127.0.0.1");
  await once(busy, "listening");
  const server = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
  const env = { FAIRWAY_SERVER: server, FAIRWAY_TOKEN: "t", FAIRWAY_USER_ID: "1" };
  const done = await run(["api", "GET", "/api/log/?page_size=1", "--paginate", "-o", "jsonl"], env);
  busy.close();
  expect(done.code, done.err).toBe(0);
  expect(parseRows(done)).toEqual([3, 2, 1].map((id) => ({ id, size: "1" })));
  expect(done.err).toContain("is busy (429); trying again in 1 s");
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
  expect((await run(["api", "userUpdate", "--body", "{id: 3"], rig.env)).err).toContain("--body is not JSON");
});

test("an answer goes through a template", async () => {
  expect((await rig.fairway("api GET /api/status -o jsonpath={.data.system_name}")).out).toBe("Fairway\n");
  const columns = await rig.fairway("api GET /api/status -o custom-columns=NAME:.data.system_name");
  expect(columns.out).toBe("NAME\nFairway\n");
});

test("a call that the gateway does not have is named, and versions may be why", async () => {
  const { code, err } = await rig.fairway("api GET /api/nothing");
  expect(code).toBe(1);
  expect(err).toContain("has no call GET /api/nothing");
  expect(err).toContain("fairway version");
});
