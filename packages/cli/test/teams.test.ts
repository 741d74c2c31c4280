// Teams in the terminal: people join by a link, keys belong to the team, and a context can be about a team.
import { signIn as signInAs } from "@fairway/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { join } from "node:path";
import { parseJsonOutput, parseRows, signIn, startRig, type Rig } from "./rig.ts";
import { run } from "./terminal.ts";

const PASSWORD = "analytical-engine-1843";
let rig: Rig;
let ann: { FAIRWAY_CONFIG: string };

beforeAll(async () => {
  rig = await startRig();
  const root = await signInAs(rig.gateway.url);
  await root.must("POST", "/api/user/", { username: "ann", password: PASSWORD });
  ann = { FAIRWAY_CONFIG: join(rig.home, "ann.json") };
  await signIn(rig.gateway.url, ann, { username: "ann", password: PASSWORD });
  expect((await rig.fairway("team create --name Research")).code).toBe(0);
});
afterAll(() => rig?.stop());

const asAnn = (args: string) => run(args.split(" "), ann);

test("a stranger finds no team, joins by a link, makes a key of the team and leaves", async () => {
  expect((await asAnn("team get research")).code).toBe(3);
  expect((await asAnn("team join https://ai.example.com/team/join")).code).toBe(2);
  const { out: link } = await rig.fairway("team invite research");
  const opened = await asAnn(`team join ${link.trim()}`);
  expect(opened.out).toMatch(new RegExp(`^${rig.gateway.url}/team/join\\?code=[\\w-]{43}\n$`));
  const code = URL.parse(opened.out.trim())?.searchParams.get("code");
  const browser = await signInAs(rig.gateway.url, "ann", PASSWORD);
  await browser.must("POST", "/api/team/join", { code });
  const made = await asAnn("token create --name ann-bot --team research");
  expect(made, made.err).toMatchObject({ code: 0, out: expect.stringMatching(/^sk-\w{48}\n$/) as string });
  expect((await asAnn("token key ann-bot --team research")).out).toBe(made.out);
  const refused = await rig.fairway("token key ann-bot --team research");
  expect(refused).toMatchObject({ code: 6, out: "" });
  expect(parseRows(await asAnn("token list -o jsonl"))).toEqual([]);
  const left = await asAnn("team leave research --yes");
  expect(left.err).toContain("You are no member of research any longer.");
  expect((await asAnn("token list --team research")).code).toBe(3);
  expect(parseRows(await rig.fairway("token list --team research -o jsonl"))).toMatchObject([
    { name: "ann-bot", status: 2, member_name: "ann" },
  ]);
}, 60_000);

test("a context that was switched to a team uses it where no flag says otherwise", async () => {
  expect((await rig.fairway("token create --name own")).code).toBe(0);
  expect((await rig.fairway("team switch rese")).err).toContain("are about research (Research) now");
  const ofTeam = await rig.fairway("token list -o jsonl");
  expect(parseRows(ofTeam)).toMatchObject([{ name: "ann-bot" }]);
  expect(ofTeam.err).toContain("Of the team research");
  expect(parseRows(await rig.fairway("token list --team none -o jsonl"))).toMatchObject([{ name: "own" }]);
  expect((await rig.fairway("log list --user ann")).code).toBe(2);
  expect((await rig.fairway("team switch none")).code).toBe(0);
  expect(parseRows(await rig.fairway("token list -o jsonl"))).toMatchObject([{ name: "own" }]);
});

test("settings that no flag names stay, and a limit of 0 is none", async () => {
  expect((await rig.fairway("team update research --rpm 60 --tpm 1000 --models gpt-4o")).code).toBe(0);
  expect((await rig.fairway("team update research --rpm 0 --max-keys 3")).code).toBe(0);
  expect(parseJsonOutput(await rig.fairway("team get research -o json"))).toMatchObject({
    settings: { limits: { tpm: 1000 }, models: ["gpt-4o"], max_keys_per_member: 3 },
  });
});

test("money moves once under one key, and the sentence says how much", async () => {
  const transfer = () => rig.fairway("team transfer research 5usd --idempotency-key october");
  expect((await transfer()).err).toContain("Moved $5.00 (2500000 quota) to research");
  expect((await transfer()).code).toBe(0);
  expect(parseJsonOutput(await rig.fairway("team get research -o json"))).toMatchObject({ quota: 2_500_000 });
  const taken = await rig.fairway("team adjust research -o json -- -1usd");
  expect(parseJsonOutput(taken)).toMatchObject({ changed: -500_000, quota: 2_000_000 });
});
