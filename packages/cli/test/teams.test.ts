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

test("admins limit what is in their team, by flags and by the chosen team", async () => {
  const root = await signInAs(rig.gateway.url);
  const teams = await root.must<{ id: number }[]>("GET", "/api/team/?keyword=research");
  await root.must("POST", `/api/team/${teams[0]?.id}/members`, { username: "ann", role: "admin" });
  const create = (flags: string) => asAnn(`budget create --limit 5usd --period day ${flags}`);
  expect((await create("--team research")).err).toMatch(/^Created budget \d+: team Research #\d+, \$5\.00 /m);
  expect((await create("--team research --member ann")).err).toContain("member ann of team Research");
  expect((await create("--team research --token ann-bot")).code).toBe(0);
  expect((await create("--team research --tag app=shop")).err).toContain("app=shop of Research");
  expect((await create("--team research --end-user 42")).err).toContain("42 of Research");
  expect((await create("--team research --end-user 42 --tag app=shop")).err).toContain("a budget limits one thing");
  expect((await create("--team research --member ann --token ann-bot")).err).toContain("a budget limits one thing");
  expect((await create("--team research --user ann")).code).toBe(2);
  expect((await create("--service-account ci")).err).toContain("name the team with --team");
  expect(await create("--group default")).toMatchObject({
    code: 2,
    err: expect.stringContaining("for a team --team") as string,
  });
  expect((await asAnn("team switch research")).code).toBe(0);
  const rows = parseRows(await asAnn("budget list -o jsonl"));
  expect(rows.map(({ scope, managed_by: maker }) => [scope, maker])).toEqual([
    ["team", "team"],
    ["member", "team"],
    ["token", "team"],
    ["tag", "team"],
    ["end_user", "team"],
  ]);
  // Without --team, a tag is one of one's own calls; administrators alone name another account.
  expect(await create("--tag root/app=shop")).toMatchObject({
    code: 3,
    err: "error: There is no tag root/app=shop.\n",
  });
  const changed = await asAnn("budget update ann-bot --limit 4usd -o json");
  expect(parseJsonOutput(changed)).toMatchObject({ quota_limit: 2_000_000 });
  expect((await asAnn("budget reset ann-bot")).err).toContain("counts from 0 again");
  expect((await asAnn("budget delete ann-bot --yes")).out).toMatch(/^ok +budget \d+ +deleted$/m);
  expect((await asAnn("team switch none")).code).toBe(0);
}, 60_000);

test("a service account holds keys and access tokens, and ends with both", async () => {
  expect((await asAnn("service-account list")).err).toContain("service accounts belong to a team");
  const inTeam = (args: string, input?: string) =>
    run(`service-account ${args} --team research`.split(" "), ann, input);
  expect((await inTeam("create --name CI --description builds")).err).toContain("Created service account");
  const key = await asAnn("token create --name nightly --team research --service-account ci");
  expect(key).toMatchObject({ code: 0, out: expect.stringMatching(/^sk-\w{48}\n$/) as string });
  const made = await inTeam("token create ci --name deploy --scopes teams:read --password-stdin", PASSWORD);
  expect(made, made.err).toMatchObject({ code: 0, out: expect.stringMatching(/^fwsa_[\w-]{43}\n$/) as string });
  const team = { headers: { authorization: `Bearer ${made.out.trim()}` } };
  const [row] = parseRows(await inTeam("list -o jsonl"));
  expect(row).toMatchObject({ name: "CI", status: 1, keys: 1, access_tokens: 1 });
  expect(parseRows(await inTeam("token list CI -o jsonl"))).toMatchObject([{ name: "deploy", scopes: ["teams:read"] }]);
  const isAdmitted = async () => {
    const answer = await fetch(`${rig.gateway.url}/api/team/${await readTeamId()}`, team);
    return (await answer.text()).includes('"success":true');
  };
  expect(await isAdmitted()).toBe(true);
  expect((await inTeam("update ci --disable")).err).toContain("Changed service account");
  expect(await isAdmitted()).toBe(false);
  expect((await inTeam("update ci --enable --name Builds")).code).toBe(0);
  const ended = await inTeam("token delete builds deploy --yes --password-stdin", PASSWORD);
  expect(ended.err).toContain("(deploy) has ended.");
  expect((await inTeam("delete ci --yes")).err).toContain("the team has no service account ci");
  expect((await inTeam("delete builds --yes")).out).toMatch(/^ok +service account \d+ +deleted$/m);
}, 60_000);

test("a key moves to a team and back without another text", async () => {
  const made = await asAnn("token create --name mover --team none");
  expect((await asAnn("token move mover")).err).toContain("name --to-team or --to-user");
  const moved = await asAnn("token move mover --to-team research -o json");
  const { id, team_id: team } = parseJsonOutput(moved);
  expect(team).toBe(await readTeamId());
  expect((await asAnn("token key mover --team research")).out).toBe(made.out);
  expect((await asAnn(`token move mover --team research --to-user ann`)).code).toBe(6);
  const back = await rig.fairway(`token move ${String(id)} --to-user ann`);
  expect(back.err).toMatch(/^Moved token \d+ to user \d+, where it is token \d+\.$/m);
  expect((await asAnn("token key mover")).out).toBe(made.out);
}, 60_000);

async function readTeamId(): Promise<number> {
  return Number(parseJsonOutput(await rig.fairway("team get research -o json"))["id"]);
}
