// Parts of lists, and channels that are selected by their fields.
import { channelCreate, channelList, CHANNEL_STATUS, redemptionCreate } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";
import { openTerminal } from "./terminal.ts";

const COUNT = 230;
let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  const key = Array.from({ length: COUNT }, (_one, at) => `sk-${at}`).join("\n");
  await rig.client.call(channelCreate, { body: { type: 1, name: "quay", key, models: "gpt-4o", group: "default" } });
  for (const [name, type, tag] of [
    ["north", 1, "berth"],
    ["south", 14, "berth"],
  ] as const)
    await rig.client.call(channelCreate, { body: { type, name, key: "sk-1", models: "m", group: "vip", tag } });
});
afterAll(() => rig?.stop());

const listChannelIds = async (flags: string) => {
  const done = await rig.fairway(`channel list -o jsonl ${flags}`);
  expect(done.code, done.err).toBe(0);
  return parseRows(done).map(({ id }) => id);
};

test("pages have --limit rows, and together they are the list", async () => {
  const all = await listChannelIds("--limit all");
  expect(all).toHaveLength(COUNT + 2);
  expect(await listChannelIds("--limit 7 --page 2")).toEqual(all.slice(7, 14));
  expect(await listChannelIds("--limit 60 --page 3")).toEqual(all.slice(120, 180));
  expect(await listChannelIds("--limit 150 --page 2")).toEqual(all.slice(150));
  expect(await listChannelIds("--limit 100 --page 9")).toEqual([]);
  const middle = await rig.fairway("channel list --limit 60 --page 3 -o json");
  expect(parseJsonOutput(middle)["page"]).toEqual({ complete: false, total: COUNT + 2 });
  expect(middle.err).toBe("Page 3, 60 of 232 rows; --page 4 lists the next.\n");
  const last = await rig.fairway("channel list --limit 60 --page 4");
  expect(last.err).toBe("Page 4, 52 of 232 rows; the last.\n");
  const endless = await rig.fairway("channel list --limit all --page 2");
  expect(endless).toMatchObject({ code: 2, out: "" });
  expect(endless.err).toContain("--page requires --limit");
  expect((await rig.fairway("channel list --page 0")).code).toBe(2);
});

test("a pipe gets the whole list unless the caller names a limit, and a terminal the first rows", async () => {
  const count = (text: string) => text.split("\n").filter((line) => line !== "").length;
  const all = await rig.fairway("channel list -o name");
  expect(all).toMatchObject({ code: 0, err: "" });
  expect(count(all.out)).toBe(COUNT + 2);
  for (const flags of ["", "-o wide", "-o csv", "-o jsonl", "-o json --sort -id", "-o jsonpath={.items[*].id}"]) {
    const listed = await rig.fairway(`channel list ${flags}`.trim());
    expect(listed, flags).toMatchObject({ code: 0, err: "" });
    expect(listed.out, flags).toMatch(new RegExp(`\\b${COUNT + 2}\\b`));
  }
  expect(parseJsonOutput(await rig.fairway("channel list -o json"))["page"]).toBeUndefined();
  const limited = await rig.fairway("channel list -o name --limit 150");
  expect({ code: limited.code, count: count(limited.out) }).toEqual({ code: 0, count: 150 });
  expect(limited.err).toBe("150 of 232 rows are listed; --limit all lists the others too.\n");
  const page = await rig.fairway("channel list -o name --page 2");
  expect(page).toMatchObject({ code: 2, out: "" });
  expect(page.err).toContain("--page requires --limit");
  const terminal = openTerminal(["channel", "list", "-o", "name"], rig.env, 120);
  await terminal.sees("100 of 232 rows are listed");
  expect(await terminal.exited).toBe(0);
});

test("each list that has parts is whole in a pipe", async () => {
  const MADE = 105;
  for (let at = 0; at < MADE; at += 1)
    await rig.client.call(redemptionCreate, { body: { name: `gift-${at}`, count: 1, quota: 100 + at } });
  const names = (await rig.fairway("redemption list -o name")).out.trim().split("\n");
  expect(new Set(names).size).toBe(MADE);
  for (const list of ["token", "user", "redemption", "task", "drawing", "log"]) {
    const done = await rig.fairway(`${list} list -o name`);
    expect(done, list).toMatchObject({ code: 0, err: "" });
  }
  expect(await rig.fairway("option history -o name")).toMatchObject({ code: 0, err: "" });
});

test("--sort sorts all rows before --limit cuts them, and says how many are listed", async () => {
  const newest = COUNT + 2;
  expect(await listChannelIds("--sort -id --limit 3")).toEqual([newest, newest - 1, newest - 2]);
  expect(await listChannelIds("--sort id --limit 2 --page 2")).toEqual([3, 4]);
  const names = await rig.fairway("channel list --sort name --limit 2 --columns name --no-headers");
  expect(names.out).toBe("north\nquay\n");
  expect(names.err).toContain(`2 of ${newest} rows are listed`);
  const log = await rig.fairway("log list --sort COST --limit 5");
  expect(log).toMatchObject({ code: 2, out: "" });
  expect(log.err).toContain("the gateway sorts it by -time alone; add --limit all for other columns");
  expect((await rig.fairway("log list --sort -time --limit 5")).code).toBe(0);
  expect((await rig.fairway("log list --sort COST")).code).toBe(0);
  const unknown = await rig.fairway("channel list --sort colour");
  expect(unknown).toMatchObject({ code: 2, out: "" });
  expect(unknown.err).toMatch(/choose among id, name, type, .*base_url/);
});

test("what cannot be sorted refuses --sort", async () => {
  for (const line of ["log follow --sort cost", "log list -f --sort cost", "api channelList --sort name"])
    expect(await rig.fairway(line), line).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining("leave out --sort") as string,
    });
});

test("top shows every channel, not the first page of them", async () => {
  const { out, code, err } = await rig.fairway("top --once -o json");
  expect(code, err).toBe(0);
  const [sample] = [JSON.parse(out) as { channels: unknown[] }];
  expect(sample.channels).toHaveLength(COUNT + 2);
});

test("the log and the sums of calls have pages too", async () => {
  for (let at = 0; at < 3; at += 1) expect((await rig.fairway("user quota 1 --add 1usd")).code).toBe(0);
  const listed = async () => parseRows(await rig.fairway("log list --limit 6 -o jsonl")).map(({ id }) => id);
  await expect.poll(async () => (await listed()).length).toBeGreaterThan(2);
  const all = await listed();
  const second = parseRows(await rig.fairway("log list --limit 1 --page 2 -o jsonl")).map(({ id }) => id);
  expect(second).toEqual(all.slice(1, 2));
  expect((await rig.fairway("log list -f --page 2")).code).toBe(2);
  expect((await rig.fairway("log stats --by model --limit 1 --page 2")).err).toContain("No calls match.");
});

test("a selector switches the channels that have all of its values, and no others", async () => {
  const disabled = async () => {
    const query = { status: String(CHANNEL_STATUS.disabledByHand) };
    return (await rig.client.call(channelList, { query })).data.map(({ name }) => name);
  };
  const done = await rig.fairway("channel disable --selector tag=berth,type=anthropic --yes");
  expect(done.code, done.err).toBe(0);
  expect(await disabled()).toEqual(["south"]);
  expect((await rig.fairway("channel disable --selector tag=berth,status=enabled --yes")).code).toBe(0);
  expect(new Set(await disabled())).toEqual(new Set(["north", "south"]));
  expect((await rig.fairway("channel enable --selector group=vip,model=m --yes")).code).toBe(0);
  expect(await disabled()).toEqual([]);
  expect((await rig.fairway("channel disable --selector tag=berth")).code).toBe(2);
  expect((await rig.fairway("channel disable --selector tag=none --yes")).code).toBe(3);
  for (const wrong of ["berth", "name=north", "status=gone", "type=nothing"])
    expect(await rig.fairway(`channel disable --selector ${wrong} --yes`), wrong).toMatchObject({ code: 2, out: "" });
  expect(parseRows(await rig.fairway("channel list --status auto -o jsonl"))).toEqual([]);
});

test("a disable for a time is shown with its end and its reason", async () => {
  expect((await rig.fairway("channel disable north --for 2h --reason dredging")).code).toBe(0);
  const time = "\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d";
  const shown = (await rig.fairway("channel get north")).out;
  expect(shown).toMatch(new RegExp(`^status +disabled since ${time}, until ${time}: dredging$`, "m"));
  expect((await rig.fairway("channel disable north")).code).toBe(0);
  expect((await rig.fairway("channel get north")).out).toMatch(new RegExp(`^status +disabled since ${time}$`, "m"));
});

test("names of the design lead to the same", async () => {
  expect((await rig.fairway("code list")).code).toBe(0);
  expect((await rig.fairway("opt get RetryTimes -o raw")).code).toBe(0);
  expect((await rig.fairway("export options --format fairway")).code).toBe(0);
  expect((await rig.fairway("channel models north --fetch --set-from-fetch")).err).not.toContain("unknown option");
  expect((await rig.fairway("top --once --interval 5s -o json")).code).toBe(0);
});
