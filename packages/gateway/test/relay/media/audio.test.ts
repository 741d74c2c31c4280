import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { consumeRows, readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();
const PAGE = { headers: { "content-type": "text/html; charset=utf-8" }, body: "<html>Sign in</html>" };

function events(...data: object[]) {
  return {
    headers: { "content-type": "text/event-stream" },
    body: data.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""),
  };
}

function createClient(): OpenAI {
  return new OpenAI({ baseURL: `${relay.gateway.url}/v1`, apiKey: relay.key, maxRetries: 0 });
}

async function readRows(model: string) {
  await relay.gateway.settled();
  return (await consumeRows(relay.gateway)).filter((row) => row.model_name === model);
}

describe("speech", () => {
  const ask = { model: "tts-scripted", input: "Hello, this is said.", voice: "alloy" };

  it.each([
    ["no sound", { headers: { "content-type": "audio/mpeg" }, body: "" }],
    ["a page", PAGE],
  ])("fails without a charge when it is %s", async (_name, answer) => {
    await relay.gateway.channel("tts-scripted");
    relay.gateway.upstream.script("/audio/speech", () => answer);
    const response = await relay.gateway.post("/v1/audio/speech", ask, relay.key);
    expect([response.status, (await readError(response)).type]).toEqual([502, "server_error"]);
    expect(await readRows("tts-scripted")).toEqual([]);
  });

  it("costs its characters when it is streamed without usage", async () => {
    const model = "tts-events";
    await relay.gateway.channel(model);
    const sse = { ...ask, model, stream_format: "sse" };
    const delta = { type: "speech.audio.delta", audio: "AAAA" };
    for (const answer of [events(delta, { type: "speech.audio.done" }), events(delta)]) {
      relay.gateway.upstream.script("/audio/speech", () => answer);
      await (await relay.gateway.post("/v1/audio/speech", sse, relay.key)).text();
    }
    expect((await readRows(model)).map(({ quota }) => quota)).toEqual([20, 20]);
  });
});

describe("transcriptions", () => {
  it("fail without a charge when the answer is an HTML page", async () => {
    await relay.gateway.channel("heard-page");
    relay.gateway.upstream.script("/audio/transcriptions", () => PAGE);
    const file = await OpenAI.toFile(Buffer.from("sound"), "a.wav");
    const asked = createClient().audio.transcriptions.create({ model: "heard-page", file, response_format: "text" });
    await expect(asked).rejects.toMatchObject({ status: 502, code: "upstream_invalid_response" });
    expect(await readRows("heard-page")).toEqual([]);
  });

  it("accept voices of known speakers", async () => {
    await relay.gateway.channel("heard-voices");
    const voice = `data:audio/wav;base64,${"A".repeat(2_500_000)}`;
    const file = await OpenAI.toFile(Buffer.from("sound"), "Gespräch.wav");
    await createClient().audio.transcriptions.create({
      model: "heard-voices",
      file,
      chunking_strategy: { type: "server_vad", threshold: 0.5 },
      known_speaker_names: ["Ann", "Bo"],
      known_speaker_references: [voice, voice],
      timestamp_granularities: ["word", "segment"],
    });
    const body = relay.gateway.upstream.requests[0]?.body.toString("latin1") ?? "";
    expect(body.split(voice)).toHaveLength(3);
    for (const name of ["known_speaker_names[]", "timestamp_granularities[]"])
      expect(body.split(`name="${name}"`)).toHaveLength(3);
    expect(body).toContain('name="chunking_strategy[threshold]"');
  });
});

describe("images", () => {
  it("cost the images that arrived when their stream is cut", async () => {
    await relay.gateway.option("ModelRatio", '{"pictured":1}');
    await relay.gateway.option("CompletionRatio", '{"pictured":8}');
    await relay.gateway.channel("pictured");
    const partial = { type: "image_generation.partial_image", b64_json: "AAAA" };
    relay.gateway.upstream.script("/images/generations", () => events(partial, partial));
    const ask = { model: "pictured", prompt: "x", stream: true, partial_images: 2 };
    const text = await (await relay.gateway.post("/v1/images/generations", ask, relay.key)).text();
    expect(text).toContain("upstream_stream_interrupted");
    expect(await readRows("pictured")).toMatchObject([{ completion_tokens: 200, quota: 1 + 200 * 8 }]);
  });

  it("cost what arrived when some of them failed, plain and streamed", async () => {
    await relay.gateway.option("ModelPrice", '{"several":0.03}');
    await relay.gateway.channel("several");
    const failed = { error: { code: "filtered", message: "no" } };
    const ask = { model: "several", prompt: "x", n: 3 };
    const answers = [
      { body: { created: 1, data: [{ url: "https://a/1" }, failed] } },
      { body: { created: 1, data: [failed], usage: { output_tokens: 0, total_tokens: 0 } } },
      events(
        { type: "image_generation.partial_succeeded", url: "https://a/1" },
        { type: "image_generation.partial_failed", ...failed },
        { type: "image_generation.partial_succeeded", url: "https://a/2" },
        { type: "image_generation.completed", usage: { generated_images: 2, output_tokens: 9, total_tokens: 9 } },
      ),
    ];
    for (const [at, answer] of answers.entries()) {
      relay.gateway.upstream.script("/images/generations", () => answer);
      const stream = at === 2;
      const response = await relay.gateway.post("/v1/images/generations", { ...ask, stream }, relay.key);
      expect(response.status).toBe(200);
      if (stream) expect(await response.text()).toBe(answer.body);
    }
    expect((await readRows("several")).map(({ quota }) => quota)).toEqual([15_000, 0, 30_000]);
  });
});

describe("rerank", () => {
  it("costs every search unit that Cohere reports", async () => {
    await relay.gateway.channel("rerank-v3.5", { type: 34 });
    const meta = { billed_units: { search_units: 3 } };
    relay.gateway.upstream.script("/rerank", () => ({ body: { results: [{ index: 0, relevance_score: 0.9 }], meta } }));
    const ask = { model: "rerank-v3.5", query: "q", documents: ["a", "b"] };
    expect((await relay.gateway.post("/v1/rerank", ask, relay.key)).status).toBe(200);
    expect(await readRows("rerank-v3.5")).toMatchObject([{ quota: 3_000 }]);
  });
});
