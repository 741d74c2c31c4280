import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DIRECT } from "../../lib/net/network.ts";
import { openStoreKit, type StoreKit } from "../../../test/kit/store-kit.ts";
import { ImportReport } from "./report.ts";
import { importConfig } from "./config.ts";
import { GroupNames } from "./groups.ts";
import { createImportOptionStore } from "./options.ts";
import { readConfig } from "./read.ts";
import { channelKey } from "../../storage/secrets/sealed-locations.ts";

const CONFIG = `
model_list:
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY }
  - model_name: small
    litellm_params: { model: gpt-4o-mini, api_key: os.environ/OPENAI_API_KEY }
  - model_name: gpt-4o
    litellm_params:
      model: azure/my-deployment
      api_base: https://mine.openai.azure.com/
      api_key: azure-key
      api_version: "2024-06-01"
      weight: 3
  - model_name: claude
    litellm_params: { model: claude-sonnet-4-5, api_key: os.environ/MISSING }
  - model_name: local
    litellm_params: { model: ollama/llama3, api_base: "http://ollama:11434" }
  - model_name: nova
    litellm_params: { model: bedrock/amazon.nova-pro-v1:0, aws_access_key_id: AK, aws_secret_access_key: SK, aws_region_name: us-east-1 }
  - model_name: "*"
    litellm_params: { model: "openai/*", api_key: x }
  - model_name: odd
    litellm_params: { model: sagemaker/endpoint }
  - just a text
general_settings: { master_key: sk-1234 }
`;

const WRITER = { userId: 0, username: "import", ip: "" };
const PLAIN = {
  writer: WRITER,
  groups: new GroupNames(),
  prices: { areChannelsAsked: false, former: undefined, network: DIRECT },
};

let kit: StoreKit;
beforeAll(async () => {
  kit = await openStoreKit(await createDatabase("sqlite"));
});
afterAll(() => kit.database.close());

const run = async (isDry = false) => {
  const report = new ImportReport();
  const env = { OPENAI_API_KEY: "sk-from-env" };
  await importConfig({ ...kit, target: kit.database, isDry, text: CONFIG, env, ...PLAIN }, report);
  return report;
};

test("makes one channel of each place, and a second run makes none", async () => {
  expect((await run(true)).of("channels")).toMatchObject({ created: 5 });
  expect(await kit.database.db.selectFrom("channels").selectAll().execute()).toEqual([]);
  const report = await run();
  const channels = await kit.database.db.selectFrom("channels").selectAll().orderBy("id").execute();
  expect(channels).toMatchObject([
    { type: 1, models: "gpt-4o,small", model_mapping: '{"small":"gpt-4o-mini"}', status: 1, base_url: "" },
    {
      type: 3,
      models: "gpt-4o",
      model_mapping: '{"gpt-4o":"my-deployment"}',
      other: "2024-06-01",
      weight: 3,
      base_url: "https://mine.openai.azure.com",
    },
    { type: 14, status: 2 },
    { type: 4, base_url: "http://ollama:11434", status: 1 },
    { type: 33 },
  ]);
  expect(channels.map(({ id, key_sealed }) => kit.vault.open(key_sealed, channelKey(id)))).toEqual([
    "sk-from-env",
    "azure-key",
    "",
    "",
    "AK|SK|us-east-1",
  ]);
  const abilities = await kit.database.db.selectFrom("abilities").select(["model", "enabled"]).execute();
  expect(abilities).toHaveLength(6);
  expect(abilities.filter(({ enabled }) => enabled === 0)).toEqual([{ model: "claude", enabled: 0 }]);
  expect(report.lines().join("\n")).toContain("claude: the variable MISSING is not set");
  expect(report.notes).toHaveLength(6);
  expect((await run()).of("channels")).toMatchObject({ created: 0, unchanged: 5 });
});

const SETTINGS = `
model_list:
  - model_name: priced
    litellm_params: { model: openai/priced-model, api_key: k, input_cost_per_token: 0.0000005, output_cost_per_token: 0.000002, rpm: 60, tpm: 100000, timeout: 30 }
  - model_name: described
    litellm_params: { model: openai/described-model, api_key: k, timeout: 30 }
    model_info: { input_cost_per_token: 0.000001 }
  - model_name: without-a-price
    litellm_params: { model: openai/without-a-price, api_key: k }
general_settings: { master_key: sk-1234, database_url: "postgres://user:hidden@db/x" }
litellm_settings: { num_retries: 3, fallbacks: [{ priced: [described] }], callbacks: [langfuse] }
router_settings: { model_group_alias: { cheap: priced, lost: nothing }, routing_strategy: least-busy }
environment_variables: { SECRET: hidden }
`;

test("takes over aliases, limits, retries and prices, and names everything that is left out", async () => {
  const { database } = kit;
  const report = new ImportReport();
  const importSettings = () =>
    importConfig({ ...kit, target: database, isDry: false, text: SETTINGS, env: {}, ...PLAIN }, report);
  await importSettings();
  const rows = await database.db
    .selectFrom("channels")
    .select(["models", "setting"])
    .orderBy("id", "desc")
    .limit(2)
    .execute();
  expect(rows).toEqual([
    { models: "described,without-a-price", setting: null },
    { models: "priced,cheap", setting: '{"limits":{"rpm":60,"tpm":100000}}' },
  ]);
  const options = await database.db.selectFrom("options").select(["key", "value"]).execute();
  const table = (name: string) =>
    JSON.parse(options.find(({ key }) => key === name)?.value ?? "{}") as Record<string, number>;
  expect(table("ModelRatio")).toMatchObject({ priced: 0.25, cheap: 0.25, described: 0.5 });
  expect(table("ModelRatio")["gpt-4o"]).toBeGreaterThan(0);
  expect(table("CompletionRatio")).toMatchObject({ priced: 4, cheap: 4 });
  expect(table("CompletionRatio")).not.toHaveProperty("described");
  expect(options).toContainEqual({ key: "RetryTimes", value: "3" });
  expect(options).toContainEqual({ key: "ChannelStrategy", value: "least_busy" });
  expect(options).toContainEqual({ key: "ModelFallbacks", value: '{"priced":["described"]}' });
  expect(report.of("prices")).toMatchObject({ created: 3 });
  const text = report.lines().join("\n");
  for (const note of [
    "timeout of priced, described is not imported",
    "general_settings.database_url is not imported: the gateway has a database of its own",
    "litellm_settings.callbacks is not imported",
    "environment_variables is not imported",
    "the alias lost is of nothing, which no channel serves",
    "1 model has no price, so calls are refused until there is one: without-a-price",
  ])
    expect(text).toContain(note);
  expect(text).not.toContain("hidden");
  await importSettings();
  expect(report.of("prices")).toMatchObject({ created: 3, unchanged: 3 });
  expect(report.of("options")).toMatchObject({ created: 3, unchanged: 3 });
});

test("retries replace those of a new database, but not those of an operator", async () => {
  const { database } = kit;
  const text = "model_list: []\nrouter_settings: { num_retries: 5 }";
  const importRetries = async () => {
    const report = new ImportReport();
    await importConfig({ ...kit, target: database, isDry: false, text, env: {}, ...PLAIN }, report);
    const { value } = await database.db
      .selectFrom("options")
      .select("value")
      .where("key", "=", "RetryTimes")
      .executeTakeFirstOrThrow();
    return { value, count: report.of("options") };
  };
  expect(await importRetries()).toMatchObject({ value: "5", count: { updated: 1 } });
  expect(await importRetries()).toMatchObject({ value: "5", count: { unchanged: 1 } });
  const store = createImportOptionStore({ ...kit, target: database });
  await store.write([{ key: "RetryTimes", text: "1" }], { userId: 7, username: "ann", ip: "" });
  expect(await importRetries()).toMatchObject({ value: "1", count: { unchanged: 1 } });
});

const readFallbacks = (settings: string) => {
  const models = ["a", "b", "c", "d"].map(
    (name) => `  - model_name: ${name}\n    litellm_params: { model: openai/${name}, api_key: k }\n`,
  );
  const text = `model_list:\n${models.join("")}router_settings:\n${settings}`;
  const { fallbacks, notes } = readConfig(text, {}, new GroupNames());
  return { fallbacks, notes };
};

test("takes over all four lists of fallbacks without a loss", () => {
  const settings = `
  fallbacks: [{ a: [b, c] }, { d: c }]
  context_window_fallbacks: [{ a: [c] }]
  content_policy_fallbacks: [{ a: [{ model: b }] }, { "b*": [d] }]
  default_fallbacks: [d]`;
  expect(readFallbacks(settings)).toEqual({
    fallbacks: {
      a: [
        { model: "b", on: ["error", "content"] },
        { model: "c", on: ["error", "context"] },
      ],
      d: ["c"],
      "b*": [{ model: "d", on: ["content"] }],
      "*": ["d"],
    },
    notes: [],
  });
});

test("names what of the fallbacks is lost", () => {
  const settings = `
  fallbacks: [{ a: [b, { model: c, temperature: 0 }] }, { "x*y": [b] }, lone, { b: [lost, b, ""] }]
  context_window_fallbacks: [{ a: [c, b] }]
  default_fallbacks: [m1, m2, m3, m4, m5, m6]`;
  const { fallbacks, notes } = readFallbacks(settings);
  expect(fallbacks).toMatchObject({ b: ["lost"], "*": ["m1", "m2", "m3", "m4", "m5"] });
  expect(notes).toEqual([
    "no channel serves the fallback lost, m1, m2, m3, m4, m5",
    "temperature of c in router_settings.fallbacks of a: a fallback gets the request as it is",
    "an entry of router_settings.fallbacks is not imported: it names no model and its fallbacks",
    "an entry of router_settings.fallbacks of b is not imported: it names no model",
    "the fallbacks of a have one order for all causes: that of context is another one",
    "the fallbacks of x*y are not imported: * may stand only at the end of a name",
    "the fallbacks of * end after 5 models: m6 are not imported",
  ]);
});

test("says in one sentence what is no YAML, and quotes none of it", () => {
  const read = () => readConfig("model_list: [\n  sk-secret: {", {}, new GroupNames());
  expect(read).toThrow(/^the configuration is no YAML: [^\n]*line \d+[^\n]*$/);
  expect(read).not.toThrow("sk-secret");
});

test("refuses a file of something else", () => {
  expect(() => readConfig("a: 1", {}, new GroupNames())).toThrow("this is not a configuration of LiteLLM");
});

test("aliases of the list form are names of all their models, and one without a model is named", () => {
  const aliases = "{ gpt-4: gpt-4o, listed: [gpt-4o, other], hidden: { model: gpt-4o, hidden: true }, none: 5 }";
  const entry = (name: string) =>
    `  - { model_name: ${name}, litellm_params: { model: openai/${name}, api_key: ${name} } }`;
  const text = ["model_list:", entry("gpt-4o"), entry("other"), `router_settings: { model_group_alias: ${aliases} }`];
  const { channels, notes } = readConfig(text.join("\n"), {}, new GroupNames());
  expect(channels.map(({ models }) => Object.fromEntries(models))).toEqual([
    { "gpt-4o": "gpt-4o", "gpt-4": "gpt-4o", listed: "gpt-4o", hidden: "gpt-4o" },
    { other: "other", listed: "other" },
  ]);
  expect(notes).toEqual(["the alias none names no model: it is not imported"]);
});

test("a configuration is found in a ConfigMap, in Helm values and in the resource of an operator", () => {
  const entry = { model_name: "m", litellm_params: { model: "hosted_vllm/m", api_base: "http://vllm:8000/v1" } };
  const config = { model_list: [entry], router_settings: { num_retries: 2 } };
  const wrapped = [
    { apiVersion: "v1", kind: "ConfigMap", data: { other: "model_list?", "config.yaml": JSON.stringify(config) } },
    { image: {}, proxy_config: config },
    { kind: "LiteLLMProxy", spec: { config: config } },
  ];
  for (const one of wrapped)
    expect(readConfig(JSON.stringify(one), {}, new GroupNames())).toMatchObject({
      retries: 2,
      channels: [{ type: 1005 }],
    });
  const several = `kind: Service\n---\n${JSON.stringify(wrapped[0])}`;
  expect(readConfig(several, {}, new GroupNames()).channels).toHaveLength(1);
  expect(() => readConfig("a: 1", {}, new GroupNames())).toThrow("it has no model_list");
});

test("credentials of Vertex that are the path of a file are named, and no key", () => {
  const params =
    "{ model: vertex_ai/gemini-2.5-pro, vertex_credentials: /keys/gcp.json, vertex_location: us-central1 }";
  const text = `model_list: [{ model_name: g, litellm_params: ${params} }]`;
  const { channels, notes } = readConfig(text, {}, new GroupNames());
  expect(channels[0]?.key).toBe("");
  expect(notes).toEqual([expect.stringContaining("vertex_credentials is the path of a file")]);
});

test("the values of a credential are those of each model that names it", () => {
  const text = `
model_list:
  - { model_name: a, litellm_params: { model: azure/d, litellm_credential_name: shared } }
  - { model_name: b, litellm_params: { model: azure/e, litellm_credential_name: shared, api_version: "2025-01-01" } }
  - { model_name: c, litellm_params: { model: openai/c, litellm_credential_name: lost } }
credential_list:
  - { credential_name: shared, credential_values: { api_key: os.environ/K, api_base: "https://x.example", api_version: v1 } }
  - { credential_name: broken }
`;
  const { channels, notes } = readConfig(text, { K: "key-of-azure" }, new GroupNames());
  expect(channels.map(({ key, baseUrl, other }) => [key, baseUrl, other])).toEqual([
    ["key-of-azure", "https://x.example", "v1"],
    ["key-of-azure", "https://x.example", "2025-01-01"],
    ["", "", ""],
  ]);
  expect(notes).toEqual([
    "an entry of credential_list without a name or values is left out",
    "c: credential_list has no lost, so its channel has none of its values",
  ]);
});

test("channels are named by provider and model, and those of an earlier run stay as they are", async () => {
  const entry = (name: string, key: string) =>
    `  - { model_name: ${name}, litellm_params: { model: groq/${name}, api_key: ${key} } }`;
  const importEntries = async (...entries: string[]) => {
    const report = new ImportReport();
    const text = ["model_list:", ...entries].join("\n");
    await importConfig({ ...kit, target: kit.database, isDry: false, text, env: {}, ...PLAIN }, report);
    return report;
  };
  await importEntries(entry("llama", "k1"), entry("llama", "k2"), entry("qwen", "k1"));
  const named = await kit.database.db
    .selectFrom("channels")
    .select(["name", "models"])
    .where("type", "=", 1001)
    .execute();
  expect(named).toEqual([
    { name: "groq llama", models: "llama,qwen" },
    { name: "groq llama (2)", models: "llama" },
  ]);
  const again = await importEntries(entry("llama", "changed"), entry("llama", "k2"));
  expect(again.of("channels")).toMatchObject({ created: 0, unchanged: 2 });
  expect(again.lines().join()).toContain(
    "the channel groq llama is here with another key or address: it stays as it is",
  );
});

test.each([
  ["simple-shuffle", "weight", undefined],
  ["least-busy", "least_busy", undefined],
  ["latency-based-routing", "latency", undefined],
  ["cost-based-routing", "cost", undefined],
  ["usage-based-routing", "weight", "becomes weight: give the channels limits"],
  ["usage-based-routing-v2", "weight", "becomes weight: give the channels limits"],
  ["fastest", undefined, "is not imported: it is none of simple-shuffle"],
])("takes the routing strategy %s over as %s", (named, strategy, note) => {
  const text = `model_list: []\nrouter_settings: { routing_strategy: ${named} }`;
  const read = readConfig(text, {}, new GroupNames());
  expect(read.strategy).toBe(strategy);
  if (note === undefined) expect(read.notes).toEqual([]);
  else expect(read.notes.join()).toContain(note);
});
