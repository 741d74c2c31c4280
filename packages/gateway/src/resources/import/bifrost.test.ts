import { createDatabase } from "@fairway/testkit/databases";
import { expect, test } from "vitest";
import { DIRECT } from "../../lib/net/network.ts";
import { openStoreKit } from "../../../test/kit/store-kit.ts";
import { importConfig } from "./config.ts";
import { GroupNames } from "./groups.ts";
import { readConfig } from "./read.ts";
import { ImportReport } from "./report.ts";

const SERVICE_ACCOUNT = JSON.stringify({ project_id: "p", client_email: "e", private_key: "k" });
const CONFIG = {
  $schema: "https://www.getbifrost.ai/schema",
  client: { drop_excess_requests: false },
  governance: { virtual_keys: [{ id: "vk" }] },
  providers: {
    openai: {
      keys: [
        { name: "main", value: "env.OPENAI_API_KEY", models: ["gpt-4o", "gpt-4o-mini"], weight: 0.7 },
        { name: "rest", value: { value: "", env_var: "env.MISSING", from_env: true }, models: ["gpt-4o"], weight: 0.3 },
        { name: "off", value: "k", models: ["gpt-4o"], enabled: false },
      ],
      network_config: { extra_headers: { "x-team": "a" }, max_retries: 2 },
      proxy_config: { type: "http", url: "http://proxy.example:3128", username: "u", password: "env.PROXY_PASSWORD" },
      concurrency_and_buffer_size: { concurrency: 3 },
    },
    anthropic: { keys: [{ value: "sk-ant", models: ["*"], weight: 1 }] },
    azure: {
      keys: [
        {
          name: "eu",
          value: "azure-key",
          aliases: { "gpt-4o": "our-deployment" },
          azure_key_config: { endpoint: "https://eu.openai.azure.com/", api_version: "2025-01-01" },
        },
      ],
    },
    bedrock: {
      keys: [
        { models: ["m"], bedrock_key_config: { access_key: "AK", secret_key: "SK", region: "us-east-1" } },
        { models: ["m"], value: "api-key", bedrock_key_config: { region: "eu-west-1" } },
      ],
    },
    vertex: {
      keys: [
        { models: ["g"], vertex_key_config: { auth_credentials: SERVICE_ACCOUNT, region: "us-central1" } },
        { models: ["g"], vertex_key_config: { auth_credentials: "/keys/gcp.json", region: "us-central1" } },
      ],
    },
    vllm: { keys: [{ models: [], vllm_key_config: { url: "http://vllm:8000", model_name: "llama" } }] },
    ours: {
      keys: [{ value: "k", models: ["house"] }],
      network_config: { base_url: "https://ours.example" },
      custom_provider_config: { base_provider_type: "openai" },
    },
    elevenlabs: { keys: [{ value: "k", models: ["voice"] }] },
  },
};
const ENV = { OPENAI_API_KEY: "sk-from-env", PROXY_PASSWORD: "secret" };

test("keys of providers become channels, under both names of their models", () => {
  const { channels, notes } = readConfig(JSON.stringify(CONFIG), ENV, new GroupNames());
  const shown = channels.map(({ name, type, key, baseUrl, other, weight }) => [
    name,
    type,
    key,
    baseUrl,
    other,
    weight,
  ]);
  expect(shown).toEqual([
    ["openai main", 1, "sk-from-env", "", "", 70],
    ["openai rest", 1, "", "", "", 30],
    ["anthropic", 14, "sk-ant", "", "", 100],
    ["azure eu", 3, "azure-key", "https://eu.openai.azure.com", "2025-01-01", 0],
    ["bedrock", 33, "AK|SK|us-east-1", "", "", 0],
    ["bedrock", 33, "eu-west-1|api-key", "", "", 0],
    ["vertex", 41, SERVICE_ACCOUNT, "", "us-central1", 0],
    ["vertex", 41, "", "", "us-central1", 0],
    ["vllm", 1005, "", "http://vllm:8000", "", 0],
    ["ours", 1005, "k", "https://ours.example", "", 0],
  ]);
  expect(Object.fromEntries(channels[0]!.models)).toEqual({
    "gpt-4o": "gpt-4o",
    "openai/gpt-4o": "gpt-4o",
    "gpt-4o-mini": "gpt-4o-mini",
    "openai/gpt-4o-mini": "gpt-4o-mini",
  });
  expect(channels[0]?.setting).toEqual({ proxy: "http://u:secret@proxy.example:3128", headers: { "x-team": "a" } });
  expect(Object.fromEntries(channels[3]!.models)).toEqual({ "gpt-4o": "our-deployment", "azure/gpt-4o": "gpt-4o" });
  expect(channels[8]?.models.get("vllm/llama")).toBe("llama");
  for (const note of [
    "openai rest: the variable MISSING is not set, so its channel has no value",
    "openai off is switched off there: it is left out",
    "openai: network_config.max_retries is not imported",
    "openai: concurrency_and_buffer_size is not imported",
    "the provider elevenlabs is not known here: its keys are left out",
    "1 virtual keys are not imported: clients need tokens of this gateway",
    "client is not imported",
    "vertex: auth_credentials is not a key file, which is left out",
  ])
    expect(notes).toContain(note);
  expect(notes.join()).toMatch(/anthropic names no models: it gets the \d+ usual ones of its type/);
  expect(notes.join()).not.toMatch(/sk-|secret/);
});

test("a configuration of Bifrost is found in Helm values, imported once, and its names have the target's price", async () => {
  const kit = await openStoreKit(await createDatabase("sqlite"));
  try {
    const run = async (isDry: boolean) => {
      const report = new ImportReport();
      const text = JSON.stringify({ image: {}, bifrost: CONFIG });
      const how = { writer: { userId: 0, username: "import", ip: "" }, groups: new GroupNames() };
      const prices = { areChannelsAsked: false, former: undefined, network: DIRECT };
      await importConfig({ ...kit, target: kit.database, isDry, text, env: ENV, ...how, prices }, report);
      return report;
    };
    expect((await run(true)).of("channels")).toMatchObject({ created: 10 });
    const report = await run(false);
    expect((await run(false)).of("channels")).toMatchObject({ created: 0, unchanged: 10 });
    const rows = await kit.database.db.selectFrom("channels").select(["name", "status"]).orderBy("id").execute();
    expect(rows.filter(({ status }) => status !== 1).map(({ name }) => name)).toEqual(["openai rest", "vertex (2)"]);
    const [unpriced = ""] = report.lines().filter((line) => line.includes("no price"));
    expect(unpriced).toContain("house");
    expect(unpriced).not.toContain("gpt-4o");
  } finally {
    await kit.database.close();
  }
});
