import { beforeAll, describe, expect, it } from "vitest";
import { useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

type Model = Readonly<Record<string, unknown>>;

const MODELS =
  "gpt-4o,openai/gpt-4o,claude-sonnet-4-5,tts-1,text-embedding-3-small,gemini-2.5-flash-image,whisper-1,mine";

beforeAll(async () => {
  await relay.gateway.channel(MODELS);
});

async function listed(path: string, headers: Record<string, string> = {}): Promise<ReadonlyMap<string, Model>> {
  const response = await fetch(`${relay.gateway.url}${path}`, {
    headers: { authorization: `Bearer ${relay.key}`, ...headers },
  });
  const { data, models = data ?? [] } = (await response.json()) as { data?: Model[]; models?: Model[] };
  return new Map(models.map((model) => [String(model["id"] ?? model["name"]), model]));
}

const anthropic = { "anthropic-version": "2023-06-01" };

describe("a list of models", () => {
  it("carries the context length, longest answer, modalities and price that agents read", async () => {
    const models = await listed("/v1/models");
    expect(models.get("gpt-4o")).toMatchObject({
      name: "gpt-4o",
      type: "vlm",
      context_length: 128_000,
      context_window: 128_000,
      max_model_len: 128_000,
      max_context_length: 128_000,
      max_completion_tokens: 16_384,
      top_provider: { context_length: 128_000, max_completion_tokens: 16_384 },
      architecture: {
        modality: "text+image+file->text",
        input_modalities: ["text", "image", "file"],
        output_modalities: ["text"],
      },
      supported_parameters: ["max_tokens", "stop", "tools", "tool_choice", "temperature", "top_p"],
      pricing: { prompt: "0.0000025", completion: "0.00001", input_cache_read: "0.00000125" },
    });
    expect(models.get("openai/gpt-4o")).toMatchObject({ context_length: 128_000 });
    expect(models.get("text-embedding-3-small")).toMatchObject({
      type: "embeddings",
      architecture: { output_modalities: ["embeddings"] },
    });
    expect(models.get("gpt-4o")?.["pricing"]).not.toHaveProperty("internal_reasoning");
  });

  it("says nothing of what no one knows", async () => {
    const mine = (await listed("/v1/models")).get("mine") ?? {};
    expect(Object.keys(mine).sort()).toEqual(["created", "id", "name", "object", "owned_by", "parent", "root"]);
  });

  it("carries limits and the end of a model to clients of Anthropic", async () => {
    const models = await listed("/v1/models?limit=1000", anthropic);
    expect(models.get("claude-sonnet-4-5")).toMatchObject({
      max_input_tokens: 200_000,
      max_tokens: 64_000,
      lifecycle: "deprecated",
      retires_at: "2026-11-30T00:00:00.000Z",
    });
    expect(models.get("mine")).toMatchObject({ max_input_tokens: null, max_tokens: null, lifecycle: "active" });
  });

  it("carries limits to clients of Gemini, and offers to write text only what writes text", async () => {
    const models = await listed("/v1beta/models");
    const methods = (name: string) => models.get(`models/${name}`)?.["supportedGenerationMethods"];
    expect(models.get("models/gpt-4o")).toMatchObject({
      inputTokenLimit: 128_000,
      outputTokenLimit: 16_384,
      thinking: false,
    });
    const text = ["generateContent", "streamGenerateContent", "countTokens"];
    expect([methods("gpt-4o"), methods("mine"), methods("gemini-2.5-flash-image")]).toEqual([text, text, text]);
    expect([methods("tts-1"), methods("whisper-1")]).toEqual([[], []]);
    expect(methods("text-embedding-3-small")).toEqual(["embedContent", "batchEmbedContents"]);
  });

  it("says of one model what it says in the list", async () => {
    for (const [path, id, headers] of [
      ["/v1/models", "gpt-4o", {}],
      ["/v1/models", "claude-sonnet-4-5", anthropic],
      ["/v1beta/models", "gpt-4o", {}],
    ] as const) {
      const all = await listed(path, { ...headers });
      const one = await fetch(`${relay.gateway.url}${path}/${id}`, {
        headers: { authorization: `Bearer ${relay.key}`, ...headers },
      });
      expect(await one.json()).toEqual(all.get(path === "/v1/models" ? id : `models/${id}`));
    }
  });

  it("says what upstreams list, by the narrowest, after the operator and before the price list", async () => {
    const { gateway } = relay;
    const architecture = (inputs: string[]) => ({ input_modalities: inputs, output_modalities: ["text"] });
    const lists = async (id: number, ...entries: object[]) => {
      gateway.upstream.script("/v1/models", () => ({ body: { data: entries } }));
      await gateway.root.must("GET", `/api/channel/fetch_models/${id}`);
    };
    const wide = await gateway.channel("own,gpt-4o-mini", { model_mapping: '{"own":"local"}' });
    const narrow = await gateway.channel("own");
    await lists(
      wide,
      { id: "local", context_length: 9000, architecture: architecture(["text", "image"]), max_completion_tokens: 700 },
      { id: "gpt-4o-mini", max_model_len: 5000 },
    );
    await lists(narrow, { id: "own", context_window: 8000, architecture: architecture(["text"]) });
    const own = async () => (await listed("/v1/models")).get("own");
    await expect.poll(own).toMatchObject({
      context_length: 8000,
      max_completion_tokens: 700,
      architecture: { modality: "text->text" },
      type: "llm",
    });
    expect((await listed("/v1/models")).get("gpt-4o-mini")).toMatchObject({
      context_length: 5000,
      max_completion_tokens: 16_384,
    });
    const gemini = (await listed("/v1beta/models")).get("models/own");
    expect(gemini).toMatchObject({ inputTokenLimit: 8000, outputTokenLimit: 700 });
    await gateway.option("ModelContextTokens", '{"own":100}');
    await expect.poll(own).toMatchObject({ context_length: 100, max_completion_tokens: 700 });
    await gateway.option("ModelContextTokens", "{}");
  });

  it("says what the operator says, prices by the caller's group, and no more than the operator wants", async () => {
    await relay.gateway.option("ModelContextTokens", '{"mine":32768}');
    await relay.gateway.option("ModelOutputTokens", '{"mine":4096}');
    await relay.gateway.option("ModelModalities", '{"mine":"text+image->text"}');
    await relay.gateway.option("ModelRatio", '{"mine":3}');
    await relay.gateway.option("GroupRatio", '{"default":0.5}');
    const mine = async () => (await listed("/v1/models")).get("mine");
    expect(await mine()).toMatchObject({
      type: "vlm",
      context_length: 32_768,
      max_completion_tokens: 4_096,
      architecture: { modality: "text+image->text" },
      pricing: { prompt: "0.000003" },
    });
    await relay.gateway.option("ModelListPrices", false);
    expect(await mine()).not.toHaveProperty("pricing");
    await relay.gateway.option("ModelDetails", false);
    expect(Object.keys((await mine()) ?? {})).toHaveLength(6);
  });
});
