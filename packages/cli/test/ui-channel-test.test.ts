// The test of a channel from its detail in `fairway ui`: the model is chosen, and the results are listed.
import { channelCreate, channelList } from "@fairway/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRig, type Rig } from "./rig.ts";
import { openScreen } from "./screen.ts";
import { run } from "./terminal.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  const body = { type: 1, key: "sk-1", group: "default", base_url: rig.upstream.url };
  const models = "status-500,gpt-4o-mini,gpt-4o";
  await rig.client.call(channelCreate, { body: { ...body, name: "harbour", models, test_model: "gpt-4o" } });
  await rig.client.call(channelCreate, { body: { ...body, name: "single", models: "gpt-4o" } });
});
afterAll(() => rig?.stop());

test("the model of a test is chosen, the usual one first, and the detail lists the last tests", async () => {
  const screen = openScreen(["ui"], rig.env, 100);
  await screen.shows("harbour");
  screen.type("/harbour\r");
  await screen.shows(/\? help/);
  screen.type("\r");
  await screen.shows(/TESTS of 7 days[^]*none in the log[^]*base url/);
  screen.type("t");
  await screen.shows(
    /test channel \d+ \(harbour\) with[^]*> gpt-4o {2}\(usual\)[^]*status-500[^]*gpt-4o-mini[^]*1 of 3/,
  );
  screen.type("\r");
  await screen.shows(/channel \d+ answered with gpt-4o in \d+\.\d\d s/);
  await screen.shows(/TESTS[^]*gpt-4o +\d+ ms +ok/);
  screen.type("tj");
  await screen.shows(/> status-500[^]*2 of 3/);
  screen.type("\r");
  await screen.shows(/channel \d+ failed its test of status-500 after \d+\.\d\d s: /);
  await screen.shows(/TESTS[^]*status-500 +\d+ ms +failed: [^]*gpt-4o +\d+ ms +ok/);
  screen.type("t");
  await screen.shows(/1 of 3/);
  screen.type("\u001B");
  await screen.shows(/esc back · ↑↓ scroll/);
  screen.type("q");
  await screen.leave();
  const { data } = await rig.client.call(channelList, { query: { keyword: "harbour" } });
  expect(data[0]?.test_time).toBeGreaterThan(0);
});

test("a channel with one model is tested at once, in lines for screen readers too", async () => {
  const { out } = await run(["ui", "--plain"], rig.env, "/single\n\nt\nq\n");
  expect(out).toMatch(/channel \d+ answered in \d+\.\d\d s/);
  const chosen = await run(["ui", "--plain"], rig.env, "/harbour\n\nt\n\nq\n");
  expect(chosen.out).toMatch(/> gpt-4o {2}\(usual\)[^]*answered with gpt-4o in/);
});
