// Budgets are made, changed and deleted in the terminal.
import { signIn as signInAs } from "@fairway/testkit";
import { tokenCreate } from "@fairway/wire";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, signIn, startRig, type Rig } from "./rig.ts";
import { run } from "./terminal.ts";

const PASSWORD = "analytical-engine-1843";
let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  for (const name of ["ci", "laptop"]) await rig.client.call(tokenCreate, { body: { name, unlimited_quota: true } });
});
afterAll(() => rig?.stop());

const listBudgets = async () => parseRows(await rig.fairway("budget list -o jsonl"));

test("a budget is made for a key by its name, changed and deleted", async () => {
  const made = await rig.fairway("budget create --token ci --limit 50usd --period month");
  expect(made.code, made.err).toBe(0);
  expect(made.err).toMatch(/^Created budget \d+: token ci #\d+, \$50\.00 \(25000000 quota\) a month in UTC\.$/m);
  const [budget] = await listBudgets();
  expect(budget).toMatchObject({ scope: "token", quota_limit: 25_000_000, is_hard: true, soft_percent: 80 });
  const flags = "--limit 80usd --soft --notice 90 --time-zone Europe/Berlin";
  const changed = await rig.fairway(`budget update ci ${flags} -o json`);
  expect(changed.code, changed.err).toBe(0);
  const after = { quota_limit: 40_000_000, is_hard: false, soft_percent: 90, time_zone: "Europe/Berlin" };
  expect(parseJsonOutput(changed)).toMatchObject(after);
  expect((await rig.fairway(`budget update budget/${String(budget?.["id"])} --hard`)).err).not.toContain("notices");
  expect(await listBudgets()).toMatchObject([{ ...after, is_hard: true }]);
  const unasked = await rig.fairway("budget delete ci");
  expect(unasked.code).toBe(2);
  const deleted = await rig.fairway("budget delete ci --yes");
  expect(deleted.out).toMatch(/^ok +budget \d+ +deleted$/m);
  expect(await listBudgets()).toEqual([]);
});

test("each kind of subject has a flag", async () => {
  for (const [flag, scope] of [
    ["--user root", "user"],
    ["--group default", "group"],
    ["--model gpt-4o", "model"],
    ["--token laptop", "token"],
    ["--tag root/app=shop", "tag"],
    ["--end-user root/42", "end_user"],
  ] as const) {
    const made = await rig.fairway(`budget create ${flag} --limit 500000 --period day -o name`);
    expect(made, flag).toMatchObject({ code: 0, out: expect.stringMatching(/^budget\/\d+\n$/) as string });
    expect((await listBudgets()).at(-1)).toMatchObject({ scope, period: "day", quota_limit: 500_000 });
  }
  const names = (await rig.fairway("budget list -o name")).out;
  const piped = await rig.fairway("budget delete - --yes", names);
  expect(piped.out.match(/^ok/gm)).toHaveLength(6);
});

test("windows, first days, models and thresholds have flags, and a budget is set back to 0", async () => {
  const create = (flags: string) => rig.fairway(`budget create --group pro --limit 1usd ${flags} -o json`);
  const hours = await create("--period hours --length 5 --threshold 50,80,95 --forecast --filter-model claude-*");
  expect(hours.code, hours.err).toBe(0);
  const terms = { length: 5, thresholds: [50, 80, 95], forecast: true, filter_model: "claude-*", window_start: 0 };
  expect(parseJsonOutput(hours)).toMatchObject(terms);
  const year = await create("--period year --anchor 04-06 --time-zone Europe/London");
  expect(parseJsonOutput(year)).toMatchObject({ period: "year", anchor: "04-06" });
  const total = await create("--period total --ends-at 2099-12-31T23:00:00Z --threshold none");
  expect(parseJsonOutput(total)).toMatchObject({ ends_at: Date.parse("2099-12-31T23:00:00Z") / 1000, thresholds: [] });
  const made = await rig.fairway("budget create --group pro --limit 1usd --period hours --length 7");
  expect(made.err).toMatch(
    /^Created budget \d+: group pro, \$1\.00 \(500000 quota\) in 7 hours from the first request\.$/m,
  );
  const ids = (await listBudgets()).map(({ id }) => String(id));
  const changed = await rig.fairway(`budget update ${ids[0]} --length 6 --no-forecast -o json`);
  expect(parseJsonOutput(changed)).toMatchObject({ length: 6, forecast: false });
  const reset = await rig.fairway(`budget reset ${ids[2]}`);
  expect(reset.err).toMatch(/^Budget \d+ of group pro counts from 0 again\.$/m);
  expect((await create("--period hours")).err).toContain("needs a length");
  expect((await create("--period hours --length 721")).code).toBe(2);
  expect((await create("--period day --anchor 3")).err).toContain("cannot begin on 3");
  expect((await create("--period day --threshold 0,80")).code).toBe(2);
  expect((await create("--period total --ends-at soon")).code).toBe(2);
  expect((await rig.fairway(`budget delete ${ids.join(" ")} --yes`)).code).toBe(0);
});

test("a budget that cannot be is refused, and nothing is made", async () => {
  const create = (flags: string) => rig.fairway(`budget create --period day ${flags}`);
  expect(await create("--limit 1usd")).toMatchObject({ code: 2, err: expect.stringContaining("--token") as string });
  expect((await create("--limit 1usd --token ci --model gpt-4o")).err).toContain("a budget limits one thing");
  expect((await create("--limit lots --token ci")).err).toContain("--limit lots is no amount");
  expect((await create("--limit 1usd --token nothing")).code).toBe(3);
  expect(await create("--limit 1usd --user 999")).toMatchObject({
    code: 3,
    err: expect.stringContaining("999") as string,
  });
  expect((await create("--limit 1usd --token ci --hard --soft")).code).toBe(2);
  expect((await create("--limit 1usd --token ci --notice 101")).code).toBe(2);
  expect((await create("--limit 1usd --token ci --time-zone Nowhere")).err).toContain("Nowhere");
  expect(await listBudgets()).toEqual([]);
  expect((await create("--limit 1usd --token ci")).code).toBe(0);
  expect((await create("--limit 2usd --token ci")).code).toBe(5);
  const missing = await rig.fairway("budget update 999 --limit 1usd");
  expect(missing).toMatchObject({ code: 3, err: "error: Budget 999 does not exist.\n" });
  expect((await rig.fairway("budget update ci")).err).toContain("nothing to change");
  const dry = await rig.fairway("budget delete ci --yes --dry-run");
  expect(dry.code).toBe(0);
  expect(await listBudgets()).toHaveLength(1);
});

test("a user limits keys, tags and end users of one's own, and nothing else", async () => {
  const root = await signInAs(rig.gateway.url);
  await root.must("POST", "/api/user/", { username: "ann", password: PASSWORD });
  const ann = { FAIRWAY_CONFIG: join(rig.home, "ann.json") };
  await signIn(rig.gateway.url, ann, { username: "ann", password: PASSWORD });
  const asAnn = (args: string) => run(args.split(" "), ann);
  expect((await asAnn("token create --name hers")).code).toBe(0);
  const made = await asAnn("budget create --token hers --limit 5usd --period month -o json");
  expect(made, made.err).toMatchObject({ code: 0 });
  expect(parseJsonOutput(made)).toMatchObject({ scope: "token", subject_name: "hers", managed_by: "self" });
  expect((await asAnn("budget create --tag app=shop --limit 5usd --period day")).code).toBe(0);
  expect((await asAnn("budget create --end-user * --limit 1usd --period day")).code).toBe(0);
  expect(await asAnn("budget create --group pro --limit 5usd --period day")).toMatchObject({ code: 2 });
  expect(parseJsonOutput(await asAnn("budget update hers --limit 7usd -o json"))).toMatchObject({
    quota_limit: 3_500_000,
  });
  const rows = parseRows(await asAnn("budget list -o jsonl"));
  expect(rows.map(({ scope }) => scope)).toEqual(["token", "tag", "end_user"]);
  expect(parseRows(await asAnn(`budget values ${String(rows[2]?.["id"])} -o jsonl`))).toEqual([]);
  for (const { id } of rows) expect((await asAnn(`budget delete ${String(id)} --yes`)).code).toBe(0);
}, 60_000);

test("limits by tag of a key are written as JSON, shown, and removed by {}", async () => {
  const limits = '{"end_user":{"*":{"rpm":20},"42":{"blocked":true}}}';
  expect((await rig.fairway("token create --name tagged")).code).toBe(0);
  expect((await rig.fairway(`token update tagged --tag-limits ${limits}`)).code).toBe(0);
  const read = async () => parseJsonOutput(await rig.fairway("token get tagged -o json"));
  expect(await read()).toMatchObject({ tag_limits: JSON.parse(limits) as object });
  expect(await rig.fairway("token update tagged --tag-limits many")).toMatchObject({ code: 2 });
  expect((await rig.fairway("token update tagged --tag-limits {}")).code).toBe(0);
  expect(await read()).toMatchObject({ tag_limits: {} });
}, 60_000);
