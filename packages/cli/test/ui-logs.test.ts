// The log in `fairway ui`: the filter form, and rows in a file, in a pseudo-terminal against a real gateway.
import { channelCreate, LOG_TYPE, logList, tokenCreate } from "@fairway/wire";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startRig, type Rig } from "./rig.ts";
import { openScreen } from "./screen.ts";
import { run } from "./terminal.ts";

const CALLS = 104;
const TAB = "\t";
let rig: Rig;
let folder: string;

beforeAll(async () => {
  rig = await startRig();
  folder = join(rig.home, "files");
  await mkdir(folder);
  const body = { type: 1, key: "sk-1", group: "default", base_url: rig.upstream.url };
  await rig.client.call(channelCreate, { body: { ...body, name: "harbour", models: "gpt-4o" } });
  await rig.client.call(channelCreate, {
    body: { ...body, name: "jetty", models: "o3", base_url: "http://127.0.0.1:9" },
  });
  const { data } = await rig.client.call(tokenCreate, { body: { name: "ci", unlimited_quota: true } });
  const call = (model: string, stream = false) =>
    fetch(`${rig.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer sk-${data.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "hi" }] }),
    });
  expect((await call("o3")).status).toBe(502);
  for (let at = 1; at < CALLS; at++) expect((await call("gpt-4o")).status).toBe(200);
  expect(await (await call("gpt-4o", true)).text()).toContain("[DONE]");
  const recorded = async () => {
    const { data } = await rig.client.call(logList, { query: { type: LOG_TYPE.consume } });
    expect(data.total).toBe(CALLS);
  };
  await vi.waitFor(recorded, { timeout: 60_000, interval: 200 });
}, 120_000);
afterAll(() => rig?.stop());

test("the form filters by channel, type, time and status, and names the field that cannot be used", async () => {
  const screen = openScreen(["ui", "logs"], rig.env, 80);
  await screen.shows(/logs 100 \(m reads more\)/);
  await screen.shows(/TIME +TYPE +MODEL +COST/);
  screen.type("f");
  await screen.shows("Show only these logs");
  screen.type(`${TAB}nowhere\r`);
  await screen.shows("there is no channel nowhere");
  screen.type(`\u0015jetty${TAB}${TAB}${TAB}eror\r`);
  await screen.shows(/there is no type eror; write topup, consume/);
  screen.type(`\u0015error${TAB}1h${TAB}${TAB}502\r`);
  await screen.shows(/logs 1 · channel=jetty · type=error · since=1h · status=502/);
  expect(screen.lines().filter((line) => line.includes(" 502 "))).toHaveLength(1);
  screen.type("f");
  await screen.shows(/channel +jetty/);
  screen.type(`${TAB}${TAB}${TAB}${TAB}${TAB}yesterday\r`);
  await screen.shows("since 1hyesterday is not a duration; write 15m, 1h, 7d");
  screen.type("\u001B");
  await screen.shows(/\? help/);
  screen.type("\u001B");
  await screen.shows(/logs 100 \(m reads more\)/);
  expect(await screen.leave()).toBe(0);
});

test("another column shows when the first token of a stream came", async () => {
  const env = { ...rig.env, XDG_CONFIG_HOME: join(rig.home, "config") };
  const screen = openScreen(["ui", "logs"], env, 200);
  await screen.shows(/logs 100 /);
  screen.type("v");
  await screen.shows("Columns of logs");
  screen.type(`${"j".repeat(11)} \r`);
  await screen.shows(/CONTENT +1ST TOKEN/);
  await screen.shows(/ gpt-4o .* \d+$/m);
  expect(await screen.leave()).toBe(0);
});

test("w writes what is shown, and all that match, as JSON lines or CSV", async () => {
  const [shown, all] = [join(folder, "shown.csv"), join(folder, "all.jsonl")];
  const screen = openScreen(["ui", "logs"], rig.env, 120);
  await screen.shows(/logs 100 /);
  screen.type(`w${shown}\r`);
  await screen.shows("Wrote 100 rows to");
  screen.type(`w${all}${TAB}all\r`);
  await screen.shows(/Wrote \d+ rows to .*all\.jsonl/);
  const csv = (await readFile(shown, "utf8")).trimEnd().split("\n");
  expect(csv[0]).toMatch(/^created_at,type,username,.*quota,quota_usd/);
  expect(csv).toHaveLength(101);
  const called = /^\d{4}-\d\d-\d\dT[\d:]+Z,consume,root,ci,gpt-4o,harbour,/;
  expect(csv.filter((line) => called.test(line)).length).toBeGreaterThan(90);
  const rows = (await readFile(all, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: number });
  expect(rows.filter(({ type }) => type === LOG_TYPE.consume)).toHaveLength(CALLS);

  // The list's filter also applies to the export of all matching rows.
  screen.type(`/jetty\rw${join(folder, "one.jsonl")}${TAB}all\r`);
  await screen.shows("Wrote 1 rows to");
  expect(await screen.leave()).toBe(0);
});

test("w asks before it replaces a file, and says in one sentence what it cannot write", async () => {
  const file = join(folder, "before.jsonl");
  await writeFile(file, "mine\n");
  const screen = openScreen(["ui", "logs"], rig.env, 120);
  await screen.shows(/logs 100 /);
  screen.type(`w${file}\r`);
  await screen.shows("before.jsonl exists: replace it? [y/N]");
  screen.type("n");
  await screen.shows("enter write");
  expect(await readFile(file, "utf8")).toBe("mine\n");
  screen.type("\r");
  await screen.shows("replace it?");
  screen.type("y");
  await screen.shows("Wrote 100 rows to");
  expect((await readFile(file, "utf8")).trimEnd().split("\n")).toHaveLength(100);
  screen.type(`w/proc/none/x.csv\r`);
  await screen.shows("/proc/none/x.csv cannot be written (ENOENT); name another file");
  screen.type("\u0015rows.txt\r");
  await screen.shows("rows.txt names no format; let it end in .jsonl or .csv");
  screen.type("\u001B");
  await screen.shows("Nothing was written.");
  expect(await screen.leave()).toBe(0);
  expect((await readdir(folder)).filter((name) => /\d+$/.test(name))).toEqual([]);
});

test("a screen reader filters and writes with lines", async () => {
  const file = join(folder, "plain.csv");
  const filter = ["f", "", "", "", "", "error", "", "", "", ""];
  const { code, out, err } = await run(
    ["ui", "logs", "--plain"],
    rig.env,
    [...filter, "w", file, "", "q", ""].join("\n"),
  );
  expect(code, err).toBe(0);
  expect(out).toMatch(/logs 1 · type=error/);
  expect(out).toContain(`Wrote 1 rows to ${file}.`);
});
