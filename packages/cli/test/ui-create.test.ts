// The creation forms of `fairway ui`, in a pseudo-terminal against a real gateway.
import { channelList, optionList, redemptionList, tokenList, userList } from "@fairway/wire";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRig, type Rig } from "./rig.ts";
import { openScreen } from "./screen.ts";
import { run } from "./terminal.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig?.stop());

const TAB = "\t";

test("creates a channel by a form: what is missing or wrong is named in place with its cure", async () => {
  const screen = openScreen(["ui"], rig.env, 80);
  await screen.shows("channels 0");
  screen.type("c");
  await screen.shows("Create a channel");
  await screen.shows("a name or number of `fairway channel types`");
  screen.type("\r");
  await screen.shows("type is empty; write a name or number");
  screen.type(`opnai${TAB}quay${TAB}sk-canary-form${TAB}gpt-4o\r`);
  await screen.shows("Create a channel, quay? [y/N]");
  expect(screen.raw()).not.toContain("sk-canary-form");
  screen.type("y");
  await screen.shows(/there is no channel type opnai; did you mean openai\?/);
  screen.type("\u0015openai");
  await screen.shows("openai_");
  screen.type("\r");
  await screen.shows("Create a channel, quay? [y/N]");
  screen.type("y");
  await screen.shows("Created channel quay; t tests it.");
  await screen.shows(/> +\d+ +quay +openai/);
  expect(await screen.leave()).toBe(0);
  const { data } = await rig.client.call(channelList, { query: {} });
  expect(data).toMatchObject([{ name: "quay", type: 1, models: "gpt-4o", group: "default" }]);
});

test("the editor gets a commented template without the key, and what it says comes back into the form", async () => {
  const editor = join(rig.home, "editor.sh");
  const seen = join(rig.home, "template.yaml");
  await writeFile(
    editor,
    `#!/bin/sh\ncp "$1" ${seen}\nsed -i 's/^name: .*/name: pier/; s/^models: .*/models: [gpt-4o, o3]/; s/^priority: .*/priority: x1/' "$1"\n`,
    { mode: 0o700 },
  );
  const screen = openScreen(["ui"], { ...rig.env, EDITOR: editor }, 80);
  await screen.shows("quay");
  screen.type(`copenai${TAB}${TAB}sk-canary-draft`);
  await screen.shows("**************");
  screen.type("\u0005");
  await screen.shows(/name +pier[^]*models +gpt-4o,o3/);
  screen.type("\r");
  await screen.shows("Create a channel, pier? [y/N]");
  screen.type("y");
  await screen.shows("priority x1 does not fit; write a whole number from -999");
  screen.type("\u001512\r");
  await screen.shows("pier? [y/N]");
  screen.type("y");
  await screen.shows("Created channel pier");
  expect(await screen.leave()).toBe(0);
  const template = await rig.fairway(`channel list --search pier -o jsonl`);
  expect(template.out).toContain('"priority":12');
  const text = await readFile(seen, "utf8");
  expect(text).toContain("# needed: names with commas between, such as gpt-4o,o3");
  expect(text).not.toContain("canary");
});

test("shows the key of a token once and copies it, and changes nothing where the question is not agreed to", async () => {
  const screen = openScreen(["ui", "tokens"], rig.env, 80);
  await screen.shows("tokens 0");
  screen.type(`claptop${TAB}5euro\r`);
  await screen.shows("Create a token, laptop? [y/N]");
  screen.type("n");
  await screen.shows("enter create");
  expect((await rig.client.call(tokenList, { query: {} })).data).toEqual([]);
  screen.type("\ry");
  await screen.shows(/quota 5euro is no amount; write 5usd, 500000 or unlimited/);
  screen.type("\u00155usd\ry");
  await screen.shows("Created token laptop.");
  const { data } = await rig.client.call(tokenList, { query: {} });
  const key = `sk-${data[0]?.key}`;
  await screen.shows(key);
  screen.type("c");
  await screen.shows("Copied sk-");
  expect(screen.raw()).toContain(`\u001B]52;c;${Buffer.from(key).toString("base64")}\u0007`);
  screen.type("\r");
  await screen.shows(/> +\d+ +laptop/);
  expect(await screen.leave()).toBe(0);
  expect(data).toMatchObject([{ name: "laptop", remain_quota: 2_500_000, unlimited_quota: false }]);
});

test("creates codes and users and sets an option, each with its field at fault", async () => {
  const screen = openScreen(["ui", "codes"], rig.env, 80);
  await screen.shows("codes 0");
  screen.type(`cspring${TAB}1usd${TAB}3\r`);
  await screen.shows("Create redemption codes, spring?");
  screen.type("y");
  await screen.shows("Created 3 codes.");
  screen.type("\r");
  await screen.shows(/codes 3/);
  screen.type(":users\r");
  await screen.shows(/> +1 +root/);
  screen.type(`croot${TAB}password-1\r`);
  await screen.shows("Create a user, root?");
  screen.type("y");
  await screen.shows(/> +username[^]*(taken|exists|already)/i);
  screen.type("\u0015ann\ry");
  await screen.shows("Created user ann.");
  screen.type(":options\r");
  await screen.shows("AutoGroups");
  screen.type(`cSystmName${TAB}Quayside\ry`);
  await screen.shows("there is no option SystmName; did you mean SystemName?");
  screen.type("\u0015SystemName\ry");
  await screen.shows("SystemName is set.");
  expect(await screen.leave()).toBe(0);
  expect((await rig.client.call(redemptionList, { query: {} })).data).toHaveLength(3);
  expect((await rig.client.call(userList, { query: {} })).data.map(({ username }) => username)).toContain("ann");
  const { data } = await rig.client.call(optionList, {});
  expect(data.find(({ key }) => key === "SystemName")?.value).toBe("Quayside");
});

test("pasted text goes into a field and sends nothing, and means no keys in a list", async () => {
  const paste = (text: string) => screen.type(`\u001B[200~${text}\u001B[201~`);
  const screen = openScreen(["ui", "tokens"], rig.env, 60);
  await screen.shows("laptop");
  paste("qxy");
  screen.type("c");
  await screen.shows("Create a token");
  paste("pasted\r\n");
  await screen.shows("pasted_");
  expect(screen.lines().join("\n")).not.toContain("[y/N]");
  screen.type("\u001B");
  await screen.shows("Nothing was created.");
  expect(await screen.leave()).toBe(0);
});

test("a form is lines for a screen reader: a line for each field, then the answer", async () => {
  const lines = ["c", "reader", "", "never", "", "", "", "y", "", "q"].join("\n");
  const { code, out, err } = await run(["ui", "tokens", "--plain"], rig.env, `${lines}\n`);
  expect(code, err).toBe(0);
  expect(out).toMatch(/> +expires/);
  expect(out).toContain("Create a token, reader? [y/N]");
  expect(out).toContain("Created token reader.");
  const { data } = await rig.client.call(tokenList, { query: { keyword: "reader" } });
  expect(data).toMatchObject([{ unlimited_quota: true, expired_time: -1 }]);
});

test("a read-only screen creates nothing", async () => {
  const screen = openScreen(["ui", "tokens", "--read-only"], rig.env, 80);
  await screen.shows("laptop");
  screen.type("c");
  await screen.shows("This screen is read-only.");
  expect(await screen.leave()).toBe(0);
});
