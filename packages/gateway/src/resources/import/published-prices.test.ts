// Prices that other gateways publish, used for models that have none here.
import { createDatabase } from "@fairway/testkit/databases";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { DIRECT } from "../../lib/net/network.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { importConfig } from "./config.ts";
import { GroupNames } from "./groups.ts";
import { ImportReport } from "./report.ts";

const recorded = (name: string) =>
  readFileSync(new URL(`../../../test/import/published/${name}.json`, import.meta.url));
const REFUSED = Buffer.from('{"success":false,"message":"not exposed"}');

let kit: StoreKit;
let gateway: Server;
let address: string;
let answers: Readonly<Record<string, Buffer>> = {};
const seen: string[] = [];
beforeAll(async () => {
  kit = await openStoreKit(await createDatabase("sqlite"));
  gateway = createServer(({ url = "", headers }, response) => {
    seen.push(`${url} ${headers.authorization ?? ""}`);
    const body = answers[url];
    response.writeHead(body ? 200 : 404, { "content-type": "application/json" }).end(body ?? "<html>");
  });
  await new Promise<void>((done) => gateway.listen(0, "127.0.0.1", done));
  address = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
});
beforeEach(() => (seen.length = 0));
afterEach(async () => {
  for (const table of ["channels", "abilities", "options"] as const) await kit.database.db.deleteFrom(table).execute();
});
afterAll(async () => {
  gateway.closeAllConnections();
  gateway.close();
  await kit.database.close();
});

/** `small` is `house-large` at the upstream. */
const buildConfig = (base: string) => `
model_list:
  - model_name: house-large
    litellm_params: { model: openai/house-large, api_key: sk-up, api_base: ${base} }
  - model_name: small
    litellm_params: { model: openai/house-large, api_key: sk-up, api_base: ${base} }
  - model_name: house-image
    litellm_params: { model: openai/house-image, api_key: sk-up, api_base: ${base} }
  - model_name: house-unset
    litellm_params: { model: openai/house-unset, api_key: sk-up, api_base: ${base} }
    model_info: { access_groups: [beta] }
  - model_name: house-free
    litellm_params: { model: openai/house-free, api_key: sk-up, api_base: ${base} }
general_settings: { master_key: sk-master }
`;

interface Sources {
  readonly areChannelsAsked?: boolean;
  readonly former?: string;
  readonly names?: Readonly<Record<string, string>>;
  readonly base?: string;
}

async function run({ areChannelsAsked = false, former, names, base = address }: Sources) {
  const report = new ImportReport();
  const writer = { userId: 0, username: "import", ip: "" };
  const groups = new GroupNames(names);
  const settings = { target: kit.database, vault: kit.vault, clock: kit.clock, env: {}, writer, groups };
  const text = buildConfig(base);
  await importConfig(
    { ...settings, isDry: false, text, prices: { areChannelsAsked, former, network: DIRECT } },
    report,
  );
  const rows = await kit.database.db.selectFrom("options").select(["key", "value"]).execute();
  const table = (name: string) =>
    JSON.parse(rows.find(({ key }) => key === name)?.value ?? "{}") as Record<string, number>;
  return { report, table, text: report.lines().join("\n") };
}

const UNPRICED = "have no price, so calls are refused until there is one:";

test("a list of prices is read that is longer than other answers may be", async () => {
  const rows = Array.from({ length: 5_000 }, (_, at) => ({ model_name: `other-${at}`, quota_type: 0, model_ratio: 9 }));
  const wanted = { model_name: "house-large", quota_type: 0, model_ratio: 1.25, completion_ratio: 4 };
  const list = Buffer.from(JSON.stringify({ success: true, data: [...rows, wanted] }));
  expect(list.length).toBeGreaterThan(256 * 1024);
  answers = { "/api/pricing": list };
  const { table } = await run({ areChannelsAsked: true });
  expect(table("ModelRatio")["house-large"]).toBe(1.25);
});

test.each([
  ["/api/pricing", "new-api-pricing", { image: true, cache: undefined }],
  ["/api/ratio_config", "new-api-ratio-config", { image: true, cache: 0.5 }],
  ["/api/available_model", "one-hub-available-model", { image: true, cache: undefined }],
  ["/model/info", "litellm-model-info", { image: false, cache: 0.5 }],
] as const)("%s of the channels' own address prices them", async (path, name, { image, cache }) => {
  answers = { "/api/pricing": REFUSED, [path]: recorded(name) };
  const { report, table, text } = await run({ areChannelsAsked: true });
  for (const model of ["house-large", "small"]) {
    expect(table("ModelRatio")[model]).toBe(1.25);
    expect(table("CompletionRatio")[model]).toBe(4);
    expect(table("CacheRatio")[model]).toBe(cache);
  }
  expect(table("ModelPrice")["house-image"]).toBe(image ? 0.04 : undefined);
  expect(report.of("prices")).toMatchObject({ created: image ? 3 : 2 });
  const taken = image ? "house-image, house-large, small" : "house-large, small";
  expect(text).toContain(`prices as ${new URL(address).host} publishes them: ${taken}`);
  expect(text).toContain(`${image ? 2 : 3} models ${UNPRICED} house-free${image ? "" : ", house-image"}, house-unset`);
  expect(new Set(seen.map((one) => one.split(" ", 2)[1]))).toEqual(new Set(["Bearer"]));
  expect(seen.at(-1)).toBe(`${path} Bearer sk-up`);
});

test("the gateway that is left is asked with its master key", async () => {
  answers = { "/model/info": recorded("litellm-model-info") };
  const { table } = await run({ former: address, base: "http://127.0.0.1:1" });
  expect(table("ModelRatio")["house-large"]).toBe(1.25);
  expect(table("ModelRatio")).not.toHaveProperty("small");
  expect(seen.at(-1)).toBe("/model/info Bearer sk-master");
});

test("an upstream without prices, and one that does not answer, are named; no upstream is asked without the flag", async () => {
  answers = {};
  const none = await run({ areChannelsAsked: true });
  expect(none.text).toContain(`${new URL(address).host} publishes no prices: nothing usable was at /api/pricing,`);
  expect(none.text).toContain(`5 models ${UNPRICED}`);
  seen.length = 0;
  expect((await run({})).text).not.toContain("publishes");
  expect(seen).toEqual([]);
  const gone = await run({ areChannelsAsked: true, base: "http://127.0.0.1:1" });
  expect(gone.text).toContain("127.0.0.1:1 did not answer with its prices: connect ECONNREFUSED");
});

test("groups get the names of here; a group that nothing has is named", async () => {
  const { text } = await run({ names: { default: "vip", beta: "testers", gone: "vip" } });
  const rows = await kit.database.db.selectFrom("channels").select(["models", "group"]).orderBy("id").execute();
  expect(rows).toEqual([
    { models: "house-large,small,house-image,house-free", group: "vip" },
    { models: "house-unset", group: "vip,testers" },
  ]);
  expect(text).toContain("there is no group gone to be named vip");
  expect(text).toContain("the group testers has no ratio here, so 1 counts: add it to GroupRatio");
  const plain = await run({ base: "http://127.0.0.1:2" });
  expect(plain.text).toContain("the access group beta of house-unset is not imported");
});
