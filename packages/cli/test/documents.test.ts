// Documents from the terminal: an export has no differences, an apply takes effect, a deletion asks first.
import { UPSTREAM_KEY } from "@fairway/testkit";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseJsonOutput, parseRows, startRig, type Rig } from "./rig.ts";
import { openTerminal, run } from "./terminal.ts";

let rig: Rig;
let file: string;
beforeAll(async () => {
  rig = await startRig();
  file = join(rig.home, "fairway.yaml");
});
afterAll(() => rig?.stop());

const channel = (name: string, more = "") => `---
apiVersion: fairway.dev/v1alpha1
kind: Channel
metadata: { name: ${name} }
spec:
  type: openai
  baseUrl: ${rig.upstream.url}
  models: [gpt-4o-mini]
  key: ${UPSTREAM_KEY}
${more}`;
const optionSet = `---
apiVersion: fairway.dev/v1alpha1
kind: OptionSet
metadata: { name: site }
spec: { values: { SystemName: Harbour } }
`;

test("what is exported differs in nothing and holds no secret", async () => {
  await rig.fairway("token create --name ci --quota 5usd");
  await rig.fairway("option set SystemName Harbourside");
  const made = `channel create --type 1 --name By-Hand --models gpt-4o --base-url ${rig.upstream.url} --key-stdin`;
  expect((await rig.fairway(made, UPSTREAM_KEY)).code).toBe(0);
  for (const format of ["table", "json", "jsonl"]) {
    const exported = await rig.fairway(`export -o ${format}`);
    expect(exported.code, exported.err).toBe(0);
    expect(exported.out).not.toContain(UPSTREAM_KEY);
    expect(exported.out).toContain("ci");
    const diff = await rig.fairway("diff -f - --manager cli -o json", exported.out);
    expect(diff.code, diff.out + diff.err).toBe(0);
  }
  const { out } = await rig.fairway("export channels");
  expect(out).toContain("kind: Channel");
  expect(out).not.toContain("kind: OptionSet");
});

test("diff prints the changes, exits with 1 and changes nothing", async () => {
  await writeFile(file, channel("first") + optionSet);
  const diff = await rig.fairway(`diff -f ${file}`);
  expect(diff.code, diff.err).toBe(1);
  expect(diff.out).toContain("+ Channel/first  create");
  expect(diff.out).toMatch(/^ {4}SystemName {2}".+" → "Harbour"$/m);
  expect(diff.out + diff.err).not.toContain(UPSTREAM_KEY);
  expect(parseRows(await rig.fairway("channel list --search first -o jsonl"))).toEqual([]);
  const dry = await rig.fairway(`apply -f ${file} --dry-run -o json`);
  expect(dry.code, dry.err).toBe(0);
  expect(parseJsonOutput(dry)).toMatchObject({
    kind: "ChangeList",
    items: [{ action: "create" }, { action: "update" }],
  });
  expect(parseRows(await rig.fairway("channel list --search first -o jsonl"))).toEqual([]);
});

test("what is applied is so, and differs no more", async () => {
  const applied = await rig.fairway(`apply -f ${file}`);
  expect(applied.code, applied.err).toBe(0);
  const [row] = parseRows(await rig.fairway("channel list --search first -o jsonl"));
  expect((await rig.fairway(`channel test ${String(row?.["id"])}`)).code).toBe(0);
  expect((await rig.fairway("option get SystemName")).out).toBe("Harbour\n");
  expect(await rig.fairway(`diff -f ${file}`)).toMatchObject({ code: 0, out: "", err: "" });
  expect((await rig.fairway(`diff -f ${file} --verbose`)).out).toContain("= Channel/first  unchanged");
});

test("a diff is a patch as well, without secrets", async () => {
  const priced = `---
apiVersion: fairway.dev/v1alpha1
kind: OptionSet
metadata: { name: site }
spec: { values: { SystemName: Quayside, SMTPToken: ${UPSTREAM_KEY}-mail } }
`;
  await writeFile(file, channel("first", "  priority: 7\n") + channel("second") + priced);
  const { code, out, err } = await rig.fairway(`diff -f ${file} --format unified`);
  expect(code, err).toBe(1);
  expect(out).toContain("--- a/Channel/first.yaml\n+++ b/Channel/first.yaml\n@@ ");
  expect(out).toMatch(/^-  priority: 0\n\+  priority: 7$/m);
  expect(out).toMatch(/^   key: \(hidden\)$/m);
  expect(out).toMatch(/^--- \/dev\/null\n\+\+\+ b\/Channel\/second.yaml\n@@ -0,0 \+1,\d+ @@\n\+apiVersion/m);
  expect(out).toMatch(/^-    SystemName: Harbour\n(?:.*\n)*?\+    SystemName: Quayside$/m);
  expect(out + err).not.toContain(UPSTREAM_KEY);
  await writeFile(file, channel("second"));
  const pruned = await rig.fairway(`diff -f ${file} --prune --force --format unified --no-exit-code`);
  expect(pruned.code, pruned.err).toBe(0);
  expect(pruned.out).toMatch(/^--- a\/Channel\/first.yaml\n\+\+\+ \/dev\/null$/m);
  expect(pruned.out).toMatch(/^- {4}- gpt-4o-mini$/m);
  expect((await rig.fairway(`diff -f ${file} --format unified -o json`)).code).toBe(2);
  expect(parseJsonOutput(await rig.fairway(`diff -f ${file} --format json`))).toMatchObject({ kind: "ChangeList" });
  expect(await rig.fairway(`diff -f ${file} --format json --exit-code`)).toMatchObject({ code: 1 });
});

test("documents are checked without a gateway", async () => {
  const nowhere = { FAIRWAY_CONFIG: join(rig.home, "none.json") };
  await writeFile(file, channel("first") + optionSet);
  const good = await run(["apply", "-f", file, "--dry-run=client"], nowhere);
  expect(good).toEqual({ code: 0, out: "", err: "2 documents are valid; the gateway was not asked.\n" });
  const listed = await run(["apply", "-f", file, "--dry-run=client", "-o", "json"], nowhere);
  expect(parseJsonOutput(listed)).toMatchObject({
    kind: "DocumentList",
    items: [
      { kind: "Channel", name: "first", source: `${file}:3` },
      { kind: "OptionSet", name: "site" },
    ],
  });
  await writeFile(
    file,
    channel("first", "  prioritty: 3\n") + channel("first") + optionSet.replace("SystemName", "SystmName"),
  );
  const bad = await run(["apply", "-f", file, "--dry-run=client"], nowhere);
  expect(bad).toMatchObject({ code: 2, out: "" });
  expect(bad.err).toContain(`${file}:10: Channel/first: spec has no field prioritty; did you mean priority?`);
  expect(bad.err).toContain(`Channel/first: is also in ${file}:4`);
  expect(bad.err).toContain("there is no option SystmName; did you mean SystemName?");
  expect((await run(["apply", "-f", file, "--dry-run=nowhere"], nowhere)).code).toBe(2);
  await writeFile(file, channel("server-side"));
  expect((await rig.fairway(`apply -f ${file} --dry-run=server`)).err).toContain("Nothing was changed: --dry-run.");
  expect(parseRows(await rig.fairway("channel list --search server-side -o jsonl"))).toEqual([]);
  const asked = await rig.fairway("option set RetryTimes 1 --dry-run=server");
  expect(asked).toMatchObject({ code: 2, out: "" });
  expect(asked.err).toContain("PUT /api/option/ does not support --dry-run");
});

test("what others own is left alone with exit 5, unless force takes it over", async () => {
  await writeFile(file, channel("first", "  priority: 5\n"));
  const refused = await rig.fairway(`apply -f ${file} --manager git:production`);
  expect(refused.code).toBe(5);
  expect(refused.out).toContain("! Channel/first  conflict: it is managed by cli");
  expect(refused.err).toContain("--force");
  expect((await rig.fairway(`apply -f ${file} --manager git:production --force`)).code).toBe(0);
});

test("prune asks before it deletes, and fails without a terminal", async () => {
  await writeFile(file, channel("remaining") + channel("gone"));
  expect((await rig.fairway(`apply -f ${file} --manager git:prune`)).code).toBe(0);
  await writeFile(file, channel("remaining"));
  const refused = await rig.fairway(`apply -f ${file} --manager git:prune --prune`);
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("Delete Channel/gone");
  const terminal = openTerminal(["apply", "-f", file, "--manager", "git:prune", "--prune"], rig.env);
  await terminal.sees("Delete Channel/gone? [y/N]:");
  terminal.type("y\r");
  await terminal.sees("- Channel/gone  delete");
  expect(await terminal.exited).toBe(0);
  expect(parseRows(await rig.fairway("channel list --search gone -o jsonl"))).toEqual([]);
  const none = await rig.fairway(`apply -f ${file} --manager git:prune --prune --yes`);
  expect(none).toMatchObject({ code: 0, err: "" });
});

test("a document that cannot be used names itself and the reason, and nothing is changed", async () => {
  await writeFile(
    file,
    `${channel("fresh")}---\napiVersion: fairway.dev/v1alpha1\nkind: Channel\nmetadata: { name: bad }\nspec: {}\n`,
  );
  for (const command of ["apply", "diff"]) {
    const { code, out, err } = await rig.fairway(`${command} -f ${file}`);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("bad");
    expect(err).toContain("spec.type");
  }
  expect(parseRows(await rig.fairway("channel list --search fresh -o jsonl"))).toEqual([]);
  expect((await rig.fairway("apply -f /nowhere")).err).toContain("/nowhere cannot be read (ENOENT)");
  expect((await rig.fairway("apply")).code).toBe(2);
});

test("a mistake is named with file, line, field and the nearest right name", async () => {
  const text = `${channel("typo", "  prioritty: 5\n  weight: heavy\n").replace("type: openai", "type: opnai")}${optionSet.replace("SystemName", "SystmName")}---
apiVersion: fairway.dev/v1alpha1
kind: Chanel
metadata: { name: third }
spec: {}
`;
  await writeFile(file, text);
  const { code, out, err } = await rig.fairway(`apply -f ${file}`);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  const lines = err.split("\n");
  const at = (what: string) => text.split("\n").findIndex((line) => line.includes(what)) + 1;
  expect(lines).toContain(
    `${file}:${at("prioritty")}: Channel/typo: spec has no field prioritty; did you mean priority?`,
  );
  expect(lines).toContain(`${file}:${at("heavy")}: Channel/typo: spec.weight must be a number`);
  expect(lines).toContain(`${file}:${at("opnai")}: Channel/typo: there is no channel type opnai; did you mean openai?`);
  expect(lines).toContain(
    `${file}:${at("SystmName")}: OptionSet/site: there is no option SystmName; did you mean SystemName?`,
  );
  expect(lines).toContain(`${file}:${at("Chanel")}: Chanel/third: there is no kind Chanel; did you mean Channel?`);
  expect(err).toContain("error: the documents have 5 mistakes; nothing was changed");
  expect(err).not.toContain(UPSTREAM_KEY);
});

test("a name with a comma in a list is refused with its line", async () => {
  const text = channel("two-in-one").replace(/models: .*/, 'models:\n    - gpt-4o\n    - "gpt-4.1,o3"');
  await writeFile(file, text);
  const { code, err } = await rig.fairway(`apply -f ${file}`);
  expect(code).toBe(2);
  const line = text.split("\n").findIndex((one) => one.includes("gpt-4.1,o3")) + 1;
  expect(err).toContain(
    `${file}:${line}: Channel/two-in-one: spec.models.1 must be one name; write names with a comma between as two items`,
  );
  expect(parseRows(await rig.fairway("channel list --search two-in-one -o jsonl"))).toEqual([]);
});

test("secrets come from the environment and the files of the caller", async () => {
  await writeFile(join(rig.home, "upstream.key"), `${UPSTREAM_KEY}\n`);
  const ofFile = channel("from-file").replace(`key: ${UPSTREAM_KEY}`, "keyFrom: { file: upstream.key }");
  const ofEnv = channel("from-env").replace(`key: ${UPSTREAM_KEY}`, "keyFrom: { env: THE_KEY }");
  const options = optionSet.replace(
    "spec: { values: { SystemName: Harbour } }",
    "spec: { valueFrom: { SystemName: { env: THE_NAME } } }",
  );
  await writeFile(file, ofFile + ofEnv + options);
  const missing = await run(["apply", "-f", file], rig.env);
  expect(missing).toMatchObject({ code: 2, out: "" });
  expect(missing.err).toMatch(/fairway\.yaml:\d+: spec\.keyFrom names THE_KEY, which is not set/);
  const env = { ...rig.env, THE_KEY: UPSTREAM_KEY, THE_NAME: "Lighthouse" };
  const applied = await run(["apply", "-f", file, "--manager", "secrets", "--force"], env);
  expect(applied.code, applied.err).toBe(0);
  expect(applied.out + applied.err).not.toContain(UPSTREAM_KEY);
  expect((await rig.fairway("channel test from-file from-env")).code).toBe(0);
  expect((await rig.fairway("option get SystemName")).out).toBe("Lighthouse\n");
});

test("deletes what documents name, and nothing that others manage", async () => {
  await writeFile(file, channel("mine") + channel("other"));
  expect((await rig.fairway(`apply -f ${file} --manager a`)).code).toBe(0);
  await writeFile(file, channel("mine") + channel("never-applied"));
  expect((await rig.fairway(`delete -f ${file} --manager b --yes`)).err).toBe(
    "= Channel/mine is not managed by b\n= Channel/never-applied is not managed by b\n",
  );
  const asked = await rig.fairway(`delete -f ${file} --manager a`);
  expect(asked.code).toBe(2);
  expect(asked.err).toContain("Delete Channel/mine");
  const deleted = await rig.fairway(`delete -f ${file} --manager a --yes`);
  expect(deleted.code, deleted.err).toBe(0);
  expect(deleted.out).toBe("- Channel/mine  delete\n");
  expect(parseRows(await rig.fairway("channel list --search mine -o jsonl"))).toEqual([]);
  expect(parseRows(await rig.fairway("channel list --search other -o jsonl"))).toHaveLength(1);
});

test("an export has the wanted format, ids where they are asked for, and rows for compatible gateways", async () => {
  await writeFile(file, channel("numbered"));
  expect((await rig.fairway(`apply -f ${file} --manager formats`)).code).toBe(0);
  const [row] = parseRows(await rig.fairway("channel list --search numbered -o jsonl"));
  const documents = parseRows(await rig.fairway("export channels --format jsonl --include-ids"));
  const numbered = documents.find((one) => (one["metadata"] as { name: string }).name === "numbered");
  expect(numbered?.["metadata"]).toEqual({ name: "numbered", annotations: { "fairway.dev/id": String(row?.["id"]) } });
  expect((await rig.fairway("export channels --format yaml")).out).not.toContain("fairway.dev/id");
  expect(parseJsonOutput(await rig.fairway("export all --format json"))).toMatchObject({ kind: "DocumentList" });
  // An export with ids can be applied as well.
  await writeFile(file, JSON.stringify(numbered));
  expect((await rig.fairway(`diff -f ${file} --manager formats`)).err).not.toContain("annotations");
  const family = await rig.fairway("export all --format family-json");
  const { channels, tokens, options } = parseJsonOutput(family) as Record<string, Record<string, unknown>[]>;
  expect(channels?.find(({ name }) => name === "numbered")).toMatchObject({ type: 1, models: "gpt-4o-mini", key: "" });
  expect(channels?.some((one) => "id" in one || "used_quota" in one)).toBe(false);
  expect(tokens).toMatchObject([{ name: "ci", key: "" }]);
  expect(options?.some(({ key }) => key === "SystemName")).toBe(true);
  expect(family.out).not.toContain(UPSTREAM_KEY);
  const withIds = parseJsonOutput(await rig.fairway("export channels --format family-json --include-ids"));
  expect(withIds).toMatchObject({
    channels: expect.arrayContaining([expect.objectContaining({ id: row?.["id"] })]) as unknown,
  });
  expect(await rig.fairway("export budgets --format family-json")).toMatchObject({ code: 2, out: "" });
});

test("apply --wait ends when each replica uses the documents, or says which does not", async () => {
  await writeFile(file, channel("waited", "  priority: 3\n"));
  const applied = await rig.fairway(`apply -f ${file} --manager wait --wait`);
  expect(applied.code, applied.err).toBe(0);
  expect(applied.err).toContain("The replica uses the documents.");
  const replica = { version: "1", started_at: 1, seen_at: 1, is_leader: false, running: 0, is_lost: false };
  const answers: Readonly<Record<string, unknown>> = {
    "/api/declarative/plan": [],
    "/api/declarative/apply": [],
    "/api/system/replicas": [
      { ...replica, instance: "pod-1", revision: 9 },
      { ...replica, instance: "pod-2", revision: 8, is_lost: true },
    ],
  };
  const slow = createServer(({ url = "" }, response) => {
    response.end(JSON.stringify({ success: true, message: "", data: answers[url], revision: 9 }));
  }).listen(0, "127.0.0.1");
  await once(slow, "listening");
  const server = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const env = { FAIRWAY_SERVER: server, FAIRWAY_TOKEN: "t", FAIRWAY_USER_ID: "1" };
  const late = await run(["apply", "-f", file, "--wait", "--timeout", "1s"], env);
  slow.close();
  expect(late).toMatchObject({ code: 7, out: "" });
  expect(late.err).toContain("after 1 s 1 of 2 replicas do not use them: pod-2 (lost)");
});

test("an import prices its models as their upstream publishes them, and puts channels in the groups of here", async () => {
  const row = { quota_type: 0, model_ratio: 1.25, model_price: 0, completion_ratio: 4 };
  const upstream = createServer(({ url }, response) => {
    const data = [{ ...row, model_name: "house-large" }];
    response.end(JSON.stringify(url === "/api/pricing" ? { success: true, data } : { success: false }));
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const config = join(rig.home, "litellm.yaml");
  const model = (name: string) =>
    `  - { model_name: ${name}, litellm_params: { model: openai/${name}, api_key: k, api_base: http://${host} } }\n`;
  await writeFile(config, `model_list:\n${model("house-large")}${model("house-odd")}`);
  const words = `import --map-group default=vip --from litellm ${config}`;
  const imported = await rig.fairway(`${words} --price-from-upstream`);
  upstream.close();
  expect(imported.code, imported.err).toBe(0);
  expect(imported.out).toContain(`- prices as ${host} publishes them: house-large\n`);
  expect(imported.out).toMatch(/1 model has no price, so calls are refused until there is one: house-odd/);
  const [price] = parseRows(await rig.fairway("pricing list --model house-large -o jsonl"));
  expect(price).toMatchObject({ model_name: "house-large", model_ratio: 1.25, completion_ratio: 4 });
  const [channel] = parseRows(await rig.fairway("channel list --model house-large -o jsonl"));
  expect(channel).toMatchObject({ group: "vip" });
  for (const [flag, text] of [
    ["--map-group default", "--map-group takes old=new, not default"],
    ["--price-from nowhere", "--price-from takes the address of a gateway, not nowhere"],
  ] as const) {
    const wrong = await rig.fairway(`${words} ${flag}`);
    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toContain(text);
  }
  await writeFile(config, "model_lists: []\n");
  const odd = await rig.fairway(`import --from litellm ${config}`);
  expect(odd).toMatchObject({ code: 2, out: "" });
  expect(odd.err).toContain(`${config}: The document config cannot be used: this is not a configuration of LiteLLM`);
});

test("explain lists kinds, fields and what they take", async () => {
  expect((await rig.fairway("explain -o name")).out).toMatch(/^Channel\nOptionSet\nToken\n/);
  const { out } = await rig.fairway("explain Channel");
  expect(out).toMatch(/^type +yes +text$/m);
  expect(out).toMatch(/^models +list of text$/m);
  expect(out).toMatch(/^keyFrom +/m);
  expect((await rig.fairway("explain channel.credentialsFrom")).out).toMatch(/^keys +Single, Split$/m);
  const wrong = await rig.fairway("explain Channel.modles");
  expect(wrong).toMatchObject({ code: 3, out: "" });
  expect(wrong.err).toContain("did you mean models?");
});
