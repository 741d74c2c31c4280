import { createDatabase } from "@fairway/testkit/databases";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStoreKit, type StoreKit } from "../../../../test/kit/store-kit.ts";
import { ImportReport } from "../../report.ts";
import { importConfig } from "./config.ts";
import { readLitellm } from "./read.ts";
import { channelKey } from "../../../storage/secrets/sealed-locations.ts";

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

let kit: StoreKit;
beforeAll(async () => {
  kit = await openStoreKit(await createDatabase("sqlite"));
});
afterAll(() => kit.database.close());

const run = async (isDry = false) => {
  const report = new ImportReport();
  const env = { OPENAI_API_KEY: "sk-from-env" };
  await importConfig({ ...kit, target: kit.database, isDry, text: CONFIG, env }, report);
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
  expect(report.notes).toHaveLength(5);
  expect((await run()).of("channels")).toMatchObject({ created: 0, unchanged: 5 });
});

test("refuses a file of something else", () => {
  expect(() => readLitellm("a: 1", {})).toThrow("this is no configuration of LiteLLM");
});
