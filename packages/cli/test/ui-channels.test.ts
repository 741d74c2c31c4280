// Channels in `fairway ui`: numbers changed in the list, and chosen columns, in a pseudo-terminal.
import { channelCreate, channelList } from "@fairway/wire";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRig, type Rig } from "./rig.ts";
import { openScreen } from "./screen.ts";

let rig: Rig;
let env: Rig["env"];

beforeAll(async () => {
  rig = await startRig();
  env = { ...rig.env, XDG_CONFIG_HOME: join(rig.home, "config") };
  const body = { type: 1, key: "sk-1", models: "gpt-4o", group: "default", base_url: rig.upstream.url };
  await rig.client.call(channelCreate, { body: { ...body, name: "harbour", priority: 50, tag: "sea" } });
  await rig.client.call(channelCreate, { body: { ...body, name: "jetty", priority: 40, models: "o3" } });
});
afterAll(() => rig?.stop());

async function channel(name: string) {
  const { data } = await rig.client.call(channelList, { query: { keyword: name } });
  return data[0];
}

test("P and W change priority and weight in the list, u takes the change back, and again", async () => {
  const screen = openScreen(["ui"], env);
  await screen.shows(/> +\d+ +harbour/);
  screen.type("P");
  await screen.shows(/priority of channel \d+ \(harbour\), now 50:/);
  screen.type("-1000\r");
  await screen.shows("priority: -1000 does not fit; write a whole number from -999");
  screen.type("\u007F\u007F\u007F\u007F\u007F12\r");
  await screen.shows(/channel \d+: priority 50 → 12; u takes that back/);
  expect((await channel("harbour"))?.priority).toBe(12);
  screen.type("W7\r");
  await screen.shows(/weight 0 → 7; u takes that back/);
  screen.type("u");
  await screen.shows(/undo channel \d+ \(harbour\): weight 7 → 0\? \[y\/N\]/);
  screen.type("y");
  await screen.shows(/channel \d+: weight 7 → 0/);
  await expect.poll(async () => (await channel("harbour"))?.weight).toBe(0);
  screen.type("u");
  await screen.shows(/: weight 0 → 7\? \[y\/N\]/);
  screen.type("n");
  await screen.shows("Nothing was changed.");
  // Changes both rows at once, and then undoes a switch.
  screen.type("g  P33\r");
  await screen.shows("priority done for 2 of 2");
  expect([(await channel("harbour"))?.priority, (await channel("jetty"))?.priority]).toEqual([33, 33]);
  screen.type("/jetty\rd");
  await screen.shows(/disable channel \d+ \(jetty\)\? \[y\/N\]/);
  screen.type("y");
  await screen.shows("disable done");
  screen.type("u");
  await screen.shows(/status disabled → enabled\? \[y\/N\]/);
  screen.type("y");
  await expect.poll(async () => (await channel("jetty"))?.status, { timeout: 20_000 }).toBe(1);
  expect(await screen.leave()).toBe(0);
});

test("b reads the balance where the provider tells one, and says why where it does not", async () => {
  const provider = createServer((_request, response) => {
    const answer = { is_available: true, balance_infos: [{ currency: "USD", total_balance: "12.50" }] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  const base_url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const body = { type: 43, key: "sk-1", models: "m", group: "default", base_url, name: "telling", priority: 90 };
  await rig.client.call(channelCreate, { body });
  const screen = openScreen(["ui"], env, 60);
  try {
    await screen.shows(/> +\d+ +telling/);
    screen.type("b");
    await screen.shows(/channel \d+ has \$12\.50 left/);
    screen.type("jb");
    await screen.shows(/^! .+/m);
    screen.type("gxy");
    await expect.poll(() => channel("telling"), { timeout: 20_000 }).toBeUndefined();
  } finally {
    provider.close();
  }
  expect(await screen.leave()).toBe(0);
});

test("D disables for a time and with a reason, and so does d where documents manage a channel", async () => {
  const screen = openScreen(["ui"], env);
  await screen.shows("harbour");
  screen.type("/harbour\r");
  await screen.shows(/\? help/);
  screen.type("D");
  await screen.shows("Disable channels for a time");
  screen.type("soon\tthe pier is closed\r");
  await screen.shows("for soon is not a duration; write 15m, 1h or 7d");
  expect((await channel("harbour"))?.status).toBe(1);
  screen.type("\u00151h\r");
  await screen.shows(/channel \d+ \(harbour\): disable done/);
  const disabled = await channel("harbour");
  expect(disabled?.status).toBe(2);
  expect(disabled?.other_info).toContain("the pier is closed");
  expect(disabled?.other_info).toContain("status_until");
  screen.type("ey");
  await expect.poll(async () => (await channel("harbour"))?.status, { timeout: 20_000 }).toBe(1);

  const file = join(rig.home, "managed.yaml");
  const spec = "{ type: openai, models: [gpt-4o], key: sk-managed }";
  const head = "apiVersion: fairway.dev/v1alpha1\nkind: Channel\nmetadata: { name: managed }";
  await writeFile(file, `${head}\nspec: ${spec}\n`);
  expect((await rig.fairway(`apply -f ${file} --yes`)).code).toBe(0);
  screen.type("\u001B");
  await screen.shows("jetty");
  screen.type("r");
  await screen.shows("managed");
  screen.type("/managed\r");
  await screen.shows(/\? help/);
  await screen.shows(/> +\d+ +managed/);
  screen.type("d");
  await screen.shows("15m, 1h or 7d; empty = until it is enabled");
  screen.type("2h\r");
  await screen.shows(/channel \d+ \(managed\): disable done/);
  expect((await channel("managed"))?.status).toBe(2);
  expect(await screen.leave()).toBe(0);
  expect((await rig.fairway(`delete -f ${file} --yes`)).code).toBe(0);
});

test("chosen columns stay for the session and for the next one, and so does the sort while they change", async () => {
  const screen = openScreen(["ui"], env);
  await screen.shows(/NAME +TYPE +STATUS/);
  screen.type("sv");
  await screen.shows("Columns of channels");
  await screen.shows(/> \[x\] ID/);
  // Hides TYPE, LATENCY and the column after it, and shows TAG.
  screen.type("jj jjjj j j j ");
  await screen.shows(/> \[x\] TAG/);
  screen.type("\r");
  await screen.shows(/by ID↑[^]*ID +NAME +STATUS +PRI +W +TAG/);
  await screen.shows(/harbour +enabled +33 +\d +sea/);
  screen.type(":tokens\r");
  await screen.shows("tokens 0");
  screen.type(":channels\r");
  await screen.shows(/ID +NAME +STATUS +PRI +W +TAG/);
  expect(await screen.leave()).toBe(0);
  expect(JSON.parse(await readFile(join(rig.home, "config/fairway/columns.json"), "utf8"))).toEqual({
    channels: ["ID", "NAME", "STATUS", "PRI", "W", "TAG"],
  });
  const next = openScreen(["ui"], env);
  await next.shows(/ID +NAME +STATUS +PRI +W +TAG/);
  next.type("v\u007F\r");
  await next.shows(/NAME +TYPE +STATUS/);
  expect(await next.leave()).toBe(0);
});
