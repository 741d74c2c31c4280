// Saved reports in the terminal: saved, changed, scheduled, run as rows and as files, and deleted.
import { afterAll, beforeAll, expect, test } from "vitest";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

test("a report is saved, changed under its name, scheduled and deleted", async () => {
  const saved = await rig.fairway("report save apps --by tag:app,model --days 7 --time-zone Europe/Berlin -o json");
  expect(saved.code, saved.err).toBe(0);
  expect(saved.err).toMatch(/^Saved report \d+: apps, not scheduled\.$/m);
  const question = { by: ["tag:app", "model"], days: 7, time_zone: "Europe/Berlin" };
  expect(parseJsonOutput(saved)).toMatchObject({ name: "apps", question, cadence: "none", next_at: 0 });
  const scheduled = await rig.fairway("report schedule APPS --every month --hour 7 --no-mail -o json");
  expect(parseJsonOutput(scheduled)).toMatchObject({ cadence: "month", hour: 7, mail: false, question });
  const again = await rig.fairway("report save apps --by end_user --tag app=shop env --interval day -o json");
  expect(again.err).toMatch(/^Changed report \d+: apps, each month, next at /m);
  expect(parseJsonOutput(again)).toMatchObject({
    question: { by: ["end_user"], days: 30, tags: "app=shop|env", interval: "day" },
    cadence: "month",
  });
  expect(parseRows(await rig.fairway("report list -o jsonl"))).toHaveLength(1);
  expect((await rig.fairway("report schedule apps --every none")).err).toContain("not scheduled");
  expect(await rig.fairway("report delete apps")).toMatchObject({ code: 2 });
  const deleted = await rig.fairway("report delete apps --yes");
  expect(deleted.out).toMatch(/^ok +report \d+ +deleted$/m);
  expect(await rig.fairway("report run apps")).toMatchObject({ code: 3 });
});

test("a saved report prints its rows, and writes a file", async () => {
  await rig.fairway("report save models --by model --time-zone UTC");
  const rows = await rig.fairway("report run models --since 30d -o jsonl");
  expect(rows.code, rows.err).toBe(0);
  expect(rows.err).toMatch(/^0 calls, 0 failed, \$0\.000000 \(0 quota\) from /m);
  const path = join(rig.home, "models.csv");
  const written = await rig.fairway(`report run models --format csv --output-file ${path}`);
  expect(written.code, written.err).toBe(0);
  expect(await readFile(path, "utf8")).toBe("start,model,calls,errors,input_tokens,output_tokens,quota,cost_usd\r\n");
  for (const flags of ["--since 2026-10-02 --until 2026-10-01", "--since never", "--format xlsx"])
    expect((await rig.fairway(`report run models ${flags}`)).code, flags).toBe(2);
});

test("a saved report shares cost, and its table and file have the columns of it", async () => {
  const flags = "--by tag:app --days 7 --time-zone UTC --share app=platform app=~none --split shop=2|crm=1";
  const saved = await rig.fairway(`report save shared ${flags} -o json`);
  expect(saved.code, saved.err).toBe(0);
  const sharing = { shared: "app=platform|app=~none", split: "shop=2|crm=1" };
  expect(parseJsonOutput(saved)).toMatchObject({ question: { by: ["tag:app"], ...sharing } });
  expect((await rig.fairway("report list -o wide")).out).toContain("app=platform|app=~none");
  expect(parseJsonOutput(await rig.fairway("report schedule shared --every month -o json"))).toMatchObject({
    question: sharing,
  });
  const path = join(rig.home, "shared.csv");
  const written = await rig.fairway(`report run shared --format csv --output-file ${path}`);
  expect(written.code, written.err).toBe(0);
  expect(await readFile(path, "utf8")).toMatch(/^start,tag:app,calls,.*,cost_usd,shared,total,total_usd\r\n/);
  const again = await rig.fairway("report save shared --by tag:app --share app=platform -o json");
  expect(parseJsonOutput(again)).toHaveProperty("question.shared", "app=platform");
  expect(parseJsonOutput(again)).not.toHaveProperty("question.split");
  for (const flags of ["--share app=platform", "--split even", "--share app --split even"]) {
    const by = flags.startsWith("--split") ? "tag:app" : "model";
    const direct = await rig.fairway(`report usage --by ${by} ${flags}`);
    const refused = await rig.fairway(`report save wrong --by ${by} ${flags}`);
    expect([refused.code, refused.err], flags).toEqual([direct.code, direct.err]);
    expect(direct.code, flags).toBe(2);
  }
  await rig.fairway("report delete shared --yes");
});

test("a question that cannot be is refused before anything is saved", async () => {
  for (const flags of ["--by nothing", "--by model --days 0", "--by model --every hour", "--by model --hour noon"])
    expect((await rig.fairway(`report save wrong ${flags}`)).code, flags).toBe(2);
  expect(await rig.fairway("report save wrong --by model --days 500")).toMatchObject({ code: 2 });
  expect(await rig.fairway("report schedule nothing --every day")).toMatchObject({ code: 3 });
  expect(parseRows(await rig.fairway("report list -o jsonl")).map(({ name }) => name)).not.toContain("wrong");
});

test("a report of a team is mailed to its members with a file", async () => {
  const team = await rig.fairway("team create --name Readers --slug readers");
  expect(team.code, team.err).toBe(0);
  const wrong = await rig.fairway("report save costs --team readers --by model --to nobody");
  expect(wrong.code, wrong.err).toBe(2);
  expect(wrong.err).toContain("unlike nobody");
  const saved = await rig.fairway(
    "report save costs --team readers --by model --every month --to root --attach csv -o json",
  );
  expect(saved.code, saved.err).toBe(0);
  expect(parseJsonOutput(saved)).toMatchObject({ receivers: ["root"], attach: "csv", cadence: "month" });
  expect(parseRows(await rig.fairway("report list --team readers -o jsonl")).map(({ name }) => name)).toEqual([
    "costs",
  ]);
  expect(parseRows(await rig.fairway("report list -o jsonl")).map(({ name }) => name)).not.toContain("costs");
  const alone = await rig.fairway("report schedule costs --team readers --to none -o json");
  expect(parseJsonOutput(alone)).toMatchObject({ receivers: [] });
  expect((await rig.fairway("report run costs --team readers")).code).toBe(0);
  expect((await rig.fairway("report delete costs --team readers --yes")).code).toBe(0);
});
