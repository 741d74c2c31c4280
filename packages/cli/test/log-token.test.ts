// The calls of one token, whatever its name was, against a real gateway.
import { signIn as signInAs } from "@fairway/testkit";
import type { Token } from "@fairway/wire";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { parseRows, signIn, startRig, type Rig } from "./rig.ts";
import { run } from "./terminal.ts";

const PASSWORD = "analytical-engine-1843";
let rig: Rig;
let ada: Awaited<ReturnType<typeof signInAs>>;
let bot: Token;
let env: { FAIRWAY_CONFIG: string };

/** No channel serves the model, so the call is a log row without a price. */
async function callAs({ key }: Token, model: string): Promise<void> {
  const answer = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer sk-${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] }),
  });
  await answer.arrayBuffer();
}

const create = (name: string) => ada.must<Token>("POST", "/api/token/", { name, unlimited_quota: true });
const modelsAs = async (words: string, who: { FAIRWAY_CONFIG: string }) => {
  const found = await run(["log", "list", "-o", "jsonl", "--type", "error", ...words.split(" ")], who);
  expect(found.code, found.err).toBe(0);
  return parseRows(found).map((row) => row["model_name"]);
};

beforeAll(async () => {
  rig = await startRig();
  const root = await signInAs(rig.gateway.url);
  await root.must("POST", "/api/user/", { username: "ada", password: PASSWORD });
  ada = await signInAs(rig.gateway.url, "ada", PASSWORD);
  env = { FAIRWAY_CONFIG: join(rig.home, "ada.json") };
  await signIn(rig.gateway.url, env, { username: "ada", password: PASSWORD });
  bot = await create("app");
  await callAs(bot, "as-app");
  await ada.must("PUT", "/api/token/", { ...bot, name: "shop" });
  await callAs(bot, "as-shop");
  await callAs(await create("other"), "of-another");
  // The log is written a moment after the answer.
  await vi.waitFor(async () => expect(await modelsAs("--limit 10", env)).toHaveLength(3), { timeout: 15_000 });
});
afterAll(() => rig?.stop());

test("the name of a token stands for all its calls, an earlier one for those of its time", async () => {
  expect(await modelsAs("--token shop", env)).toEqual(["as-shop", "as-app"]);
  expect(await modelsAs("--token app", env)).toEqual(["as-app"]);
  expect(await modelsAs(`--token ${bot.id}`, env)).toEqual(["as-shop", "as-app"]);
});

test("an administrator names the token of a user by its id, or by its name and the user", async () => {
  expect(await modelsAs(`--token ${bot.id}`, rig.env)).toEqual(["as-shop", "as-app"]);
  expect(await modelsAs("--token shop --user ada", rig.env)).toEqual(["as-shop", "as-app"]);
  expect(await modelsAs("--token shop", rig.env)).toEqual(["as-shop"]);
});

test("of two tokens of one name each is found by its id", async () => {
  const twin = await create("shop");
  await callAs(twin, "of-twin");
  await expect.poll(() => modelsAs(`--token ${twin.id}`, env), { timeout: 15_000 }).toEqual(["of-twin"]);
  expect(await modelsAs("--token shop", env)).toEqual(["of-twin", "as-shop"]);
});

test("the calls of a deleted token are found by its id", async () => {
  await ada.must("DELETE", `/api/token/${bot.id}`);
  expect(await modelsAs(`--token ${bot.id}`, env)).toEqual(["as-shop", "as-app"]);
});
