// Accounts, redemption codes, and what every user may look up.
import { ROOT_PASSWORD } from "@fairway/testkit";
import { budgetCreate } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { join } from "node:path";
import { parse } from "yaml";
import { parseJsonOutput, parseRows, signIn, startRig, type Rig } from "./rig.ts";
import { openScreen } from "./screen.ts";
import { openTerminal, run } from "./terminal.ts";

const PASSWORD = "ann's-password";

let rig: Rig;
let ann: { FAIRWAY_CONFIG: string };
let annId: number;

beforeAll(async () => {
  rig = await startRig();
  ann = { FAIRWAY_CONFIG: join(rig.home, "ann.json") };
});
afterAll(() => rig?.stop());

test("an account is made with a password that is typed twice and never shown", async () => {
  const careless = openTerminal(["user", "create", "--username", "ann"], rig.env);
  await careless.sees("Password:");
  careless.type(`${PASSWORD}\r`);
  await careless.sees("once more:");
  careless.type("something-else\r");
  await careless.sees("the passwords differ, nothing was changed");
  expect(await careless.exited).toBe(2);
  const created = await run(
    ["user", "create", "--username", "ann", "--password-stdin", "-o", "json"],
    rig.env,
    PASSWORD,
  );
  expect(created.code, created.err).toBe(0);
  expect(created.out + created.err + careless.shown).not.toContain(PASSWORD);
  annId = Number(parseJsonOutput(created)["id"]);
  const twice = await run(["user", "create", "--username", "ann", "--password-stdin"], rig.env, PASSWORD);
  expect(twice.code).toBe(5);
  await signIn(rig.gateway.url, ann, { username: "ann", password: PASSWORD });
  expect((await run(["whoami"], ann)).out).toMatch(/^user +ann \(\d+\)$/m);
});

test("a balance is moved and set", async () => {
  const set = await rig.fairway(`user quota ${annId} --set 1usd -o json`);
  expect(parseJsonOutput(set)).toMatchObject({ username: "ann", quota: 500_000 });
  expect(parseJsonOutput(await rig.fairway(`user quota ${annId} --add 500 -o json`))).toMatchObject({ quota: 500_500 });
  expect((await rig.fairway(`user quota ${annId} --sub 400500`)).err).toBe("ann has $0.20 (100000) now.\n");
  expect((await rig.fairway(`user quota ${annId}`)).code).toBe(2);
  expect((await rig.fairway(`user quota ${annId} --add lots`)).err).toContain("--add lots is no amount");
  expect((await rig.fairway("user quota 999 --add 1")).code).toBe(3);
});

test("administrators see all budgets, other users those of themselves and of their keys", async () => {
  expect((await run(["token", "create", "--name", "of-ann"], ann)).code).toBe(0);
  const [token] = parseRows(await run(["token", "list", "-o", "jsonl"], ann));
  for (const [scope, subject] of [
    ["user", "1"],
    ["user", String(annId)],
    ["token", String(token?.["id"])],
  ] as const)
    await rig.client.call(budgetCreate, { body: { scope, subject, period: "day", quota_limit: 500_000 } });
  const subjects = async (env: Record<string, string>, ...flags: string[]) =>
    parseRows(await run(["budget", "list", ...flags, "-o", "jsonl"], env)).map(({ scope, subject_name: name }) => [
      scope,
      name,
    ]);
  const own = [
    ["user", "ann"],
    ["token", "of-ann"],
  ];
  expect(await subjects(rig.env)).toEqual([["user", "root"], ...own]);
  expect(await subjects(rig.env, "--mine")).toEqual([["user", "root"]]);
  expect(await subjects(ann)).toEqual(own);
  expect(await subjects(ann, "--mine")).toEqual(own);
  expect((await run(["budget", "list"], ann)).out).toMatch(/user +ann #\d+ +day +\$1\.00 +\$0\.00 +yes/);
});

test("`ui budgets` of a user shows the own ones, which it does not delete", async () => {
  const screen = openScreen(["ui"], ann, 120);
  await screen.shows("tokens 1");
  screen.type(":budgets\r");
  await screen.shows(/budgets 2[^]*user +ann #\d+ /);
  expect(screen.lines().join("\n")).not.toContain("root #1");
  screen.type("x");
  await screen.shows(/budget \d+ .* has no delete\./);
  await screen.leave();
});

test("a sheet has money in quota and dollars, and cells quoted where they must be", async () => {
  const name = 'a "quoted", name';
  const changed = await run(["user", "update", `user/${annId}`, "--display-name", name, "-o", "name"], rig.env);
  expect(changed).toMatchObject({ code: 0, out: `user/${annId}\n` });
  const { out } = await rig.fairway("user list --search ann -o csv --columns id,NAME,quota,quota_usd");
  expect(out).toBe(`id,display_name,quota,quota_usd\n${annId},"a ""quoted"", name",100000,0.200000\n`);
  const plain = await rig.fairway("user list --search ann -o tsv --columns name,used_quota --no-headers");
  expect(plain.out).toBe('"a ""quoted"", name"\t0\n');
  await run(["user", "update", String(annId), "--display-name", "=1+1"], rig.env);
  const whole = await rig.fairway(`user get ${annId} -o csv`);
  expect(whole.out).toMatch(/^id,username,role,status,group,quota,quota_usd,used_quota,used_quota_usd,.*\n.*,=1\+1,/);
  expect((await rig.fairway("user list --search nomatch -o csv --columns id")).out).toBe("id\n");
  const unknown = await rig.fairway("user list --columns id,height");
  expect(unknown).toMatchObject({ code: 2, out: "" });
  expect(unknown.err).toContain("choose among id, username, role");
});

test("names of one command are the ids of the next, also from standard input", async () => {
  const { out: name } = await rig.fairway("user list --search ann -o name");
  expect(name).toBe(`user/${annId}\n`);
  expect(await rig.fairway("user disable - -o name", name)).toMatchObject({ code: 0, out: name });
  expect((await rig.fairway(`user enable user/${annId} -`, "user/999\n")).out).toContain("FAIL  user 999");
  expect(parseJsonOutput(await rig.fairway("user get - -o json", name))).toMatchObject({ username: "ann", status: 1 });
  for (const words of ["user get channel/1", "user get -", "user list -o raw", "user list -o json --no-headers"])
    expect(await rig.fairway(words)).toMatchObject({ code: 2, out: "" });
});

test("documents are YAML as well, tables wide or without titles, times in UTC", async () => {
  const json = parseJsonOutput(await rig.fairway(`user get ${annId} -o json`));
  expect(parse((await rig.fairway(`user get ${annId} -o yaml`)).out)).toEqual(json);
  expect(parse((await rig.fairway("user list --search ann -o yaml")).out)).toEqual({ kind: "UserList", items: [json] });
  expect((await rig.fairway("user list -o wide")).out).toMatch(/^ID .* NAME +EMAIL/);
  expect((await rig.fairway("user list --search ann --no-headers --columns username")).out).toBe("ann\n");
  expect((await rig.fairway("whoami --columns role,user")).out).toMatch(/^role {2}super .*\nuser {2}root/);
  const made = await rig.fairway("token create --name dated --expires 2027-01-31T00:00Z -o name");
  const tokyo = { ...rig.env, TZ: "Asia/Tokyo" };
  const expires = async (...more: string[]) =>
    (await run(["token", "get", "-", "--columns", "expires", ...more], tokyo, made.out)).out;
  expect(await expires()).toContain("2027-01-31 09:00:00");
  expect(await expires("--utc")).toContain("2027-01-31 00:00:00");
  expect(await expires("-o", "csv")).toBe("expired_time\n2027-01-31T00:00:00Z\n");
});

test("accounts are found, changed, promoted and locked", async () => {
  expect((await rig.fairway(`user update ${annId} --display-name Ann`)).code).toBe(0);
  expect(parseRows(await rig.fairway("user list --search ann -o jsonl"))).toMatchObject([
    { id: annId, display_name: "Ann", role: 1 },
  ]);
  expect((await rig.fairway(`user promote ${annId}`)).out).toBe(`ok    user ${annId}  promoted\n`);
  expect(parseRows(await rig.fairway("user list --role administrator -o jsonl"))).toMatchObject([{ id: annId }]);
  expect((await rig.fairway(`user promote ${annId}`)).code).toBe(5);
  expect((await rig.fairway(`user demote ${annId}`)).code).toBe(0);
  expect((await rig.fairway(`user disable ${annId}`)).code).toBe(0);
  expect((await run(["whoami"], ann)).code).toBe(4);
  expect((await rig.fairway("user list --status disabled")).out).toContain("ann");
  expect((await rig.fairway(`user enable ${annId}`)).code).toBe(0);
  expect((await rig.fairway(`user get ${annId}`)).out).toMatch(/^balance +\$0\.20 \(100000\)$/m);
  // Locking an account revokes its token.
  expect((await run(["whoami"], ann)).code).toBe(4);
  await signIn(rig.gateway.url, ann, { username: "ann", password: PASSWORD });
  expect((await run(["user", "list"], ann)).code).toBe(6);
});

test("a new password works at once and keeps its blanks", async () => {
  const passwd = (input: string) => run(["user", "passwd", String(annId), "--password-stdin"], rig.env, input);
  expect((await passwd("one line\n")).code).toBe(2);
  expect((await passwd("not my password\nanother password\n")).code).toBe(4);
  const changed = await run(
    ["user", "passwd", String(annId), "--password-stdin"],
    rig.env,
    `${ROOT_PASSWORD}\n new password \n`,
  );
  expect(changed.code, changed.err).toBe(0);
  await signIn(rig.gateway.url, ann, { username: "ann", password: " new password " });
  expect((await run(["whoami"], ann)).code).toBe(0);
});

test("codes are made, hidden in lists, switched and deleted", async () => {
  const made = await rig.fairway("redemption create --name spring --quota 1usd --count 2");
  expect(made.code, made.err).toBe(0);
  const codes = made.out.trim().split("\n");
  expect(codes).toHaveLength(2);
  const listed = await rig.fairway("redemption list --status unused -o jsonl");
  const ids = parseRows(listed).map(({ id }) => Number(id));
  expect(ids).toHaveLength(2);
  for (const code of codes) expect(listed.out).not.toContain(code);
  expect(codes).toContain((await rig.fairway(`redemption code ${ids[0]}`)).out.trim());
  expect((await rig.fairway(`redemption disable ${ids.join(" ")}`)).code).toBe(0);
  expect(parseRows(await rig.fairway("redemption list --status disabled -o jsonl"))).toHaveLength(2);
  expect((await rig.fairway(`redemption enable ${ids[0]}`)).code).toBe(0);
  expect((await rig.fairway(`redemption delete ${ids.join(" ")}`)).code).toBe(2);
  expect((await rig.fairway(`redemption delete ${ids.join(" ")} --yes`)).code).toBe(0);
  expect((await rig.fairway(`redemption code ${ids[0]}`)).code).toBe(3);
  expect((await rig.fairway("redemption create --name x --quota 0")).code).toBe(2);
});

test("lists models, prices, groups and tasks for every caller", async () => {
  const create = `channel create --type 1 --name c --models gpt-4o-mini --base-url ${rig.upstream.url} --key-stdin`;
  expect((await rig.fairway(create, "sk-x")).code).toBe(0);
  expect((await run(["model", "list"], ann)).out).toBe("MODEL\ngpt-4o-mini\n");
  expect((await run(["model", "list", "--all"], ann)).code).toBe(6);
  expect(parseRows(await rig.fairway("model list --all -o jsonl"))).toEqual([{ model: "gpt-4o-mini" }]);
  const prices = parseRows(await run(["pricing", "list", "--model", "4o-mini", "-o", "jsonl"], ann));
  expect(prices).toMatchObject([{ model_name: "gpt-4o-mini", model_ratio: 0.075 }]);
  expect((await rig.fairway("group list --all")).out).toContain("default");
  for (const command of ["task list", "drawing list"]) {
    for (const env of [ann, rig.env]) {
      const listed = await run([...command.split(" "), "-o", "json"], env);
      expect(listed.code, listed.err).toBe(0);
      expect(parseJsonOutput(listed)["items"]).toEqual([]);
    }
  }
});

test("an account is deleted when its number is confirmed", async () => {
  expect((await rig.fairway(`user delete ${annId}`)).err).toContain(`Delete user ${annId} (ann) with all keys`);
  expect((await rig.fairway(`user delete ${annId} --yes`)).code).toBe(0);
  expect((await run(["whoami"], ann)).code).toBe(4);
});
