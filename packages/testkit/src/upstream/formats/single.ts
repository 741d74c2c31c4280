import type { Behaviour } from "../behaviour.ts";
import { formField, type Recorded } from "../recorded.ts";
import type { Json } from "../reply.ts";

/** An answer that is not a stream of events. */
export interface Single {
  readonly contentType: string;
  readonly body: string | Buffer;
}

export type SingleFormat = (request: Recorded, behaviour: Behaviour) => Single;

const CREATED = 1_780_000_000;
const VECTOR = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8];
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const SPEECH = Buffer.alloc(4_096, 0xfb);
const TRANSCRIPT = "Hello from the fake upstream.";

export const embeddings: SingleFormat = (request, { usage }) => {
  const input = request.json?.["input"];
  const count = Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
  const isBase64 = request.json?.["encoding_format"] === "base64";
  const embedding = isBase64 ? Buffer.from(new Float32Array(VECTOR).buffer).toString("base64") : VECTOR;
  return json({
    object: "list",
    data: Array.from({ length: count }, (_, index) => ({ object: "embedding", index, embedding })),
    model: request.model,
    ...(usage && { usage: { prompt_tokens: usage.input, total_tokens: usage.input } }),
  });
};

export const images: SingleFormat = (request, { usage }) => {
  if (request.json?.["stream"] === true || formField(request.body, "stream") === "true")
    return imageEvents(request, usage);
  const count = Number(request.json?.["n"] ?? formField(request.body, "n") ?? 1);
  const wantsUrl = request.json?.["response_format"] === "url";
  const image = wantsUrl ? { url: "http://127.0.0.1/fake.png" } : { b64_json: PIXEL };
  const tokens = usage && {
    input_tokens: usage.input,
    output_tokens: usage.output,
    total_tokens: usage.input + usage.output,
  };
  const details = usage && { input_tokens_details: { text_tokens: usage.input, image_tokens: 0 } };
  return json({
    created: CREATED,
    data: Array.from({ length: count }, () => image),
    ...(usage && { usage: { ...tokens, ...details } }),
  });
};

export const speech: SingleFormat = (request, { usage }) =>
  request.json?.["stream_format"] === "sse"
    ? events([
        { type: "speech.audio.delta", audio: SPEECH.subarray(0, 64).toString("base64") },
        { type: "speech.audio.done", ...(usage && { usage: toTokenUsage(usage) }) },
      ])
    : { contentType: "audio/mpeg", body: SPEECH };

export const transcription: SingleFormat = (request, { usage }) => {
  const format = formField(request.body, "response_format") ?? "json";
  if (format === "text") return { contentType: "text/plain; charset=utf-8", body: `${TRANSCRIPT}\n` };
  if (format === "srt" || format === "vtt") {
    return { contentType: "text/plain; charset=utf-8", body: `1\n00:00:00,000 --> 00:00:02,500\n${TRANSCRIPT}\n` };
  }
  if (formField(request.body, "stream") === "true")
    return events([
      { type: "transcript.text.delta", delta: TRANSCRIPT },
      {
        type: "transcript.text.done",
        text: TRANSCRIPT,
        ...(usage && { usage: { type: "tokens", ...toTokenUsage(usage) } }),
      },
    ]);
  const verbose =
    format === "verbose_json" ? { task: "transcribe", language: "english", duration: 2.5, segments: [] } : {};
  const tokens = usage && {
    type: "tokens",
    input_tokens: usage.input,
    output_tokens: usage.output,
    total_tokens: usage.input + usage.output,
  };
  return json({ text: TRANSCRIPT, ...verbose, ...(tokens && { usage: tokens }) });
};

export const moderations: SingleFormat = (request) =>
  json({
    id: "modr-fake",
    model: request.model,
    results: [{ flagged: false, categories: { violence: false }, category_scores: { violence: 0.01 } }],
  });

export const rerank: SingleFormat = (request, { usage }) => {
  const documents = Array.isArray(request.json?.["documents"]) ? request.json["documents"] : [];
  const top = Number(request.json?.["top_n"] ?? documents.length);
  const results = documents.slice(0, top).map((_, index) => ({ index, relevance_score: 1 - index / 10 }));
  return json({
    id: "rerank-fake",
    model: request.model,
    results,
    meta: { billed_units: { search_units: 1 } },
    ...(usage && { usage: { prompt_tokens: usage.input, total_tokens: usage.input } }),
  });
};

export const models: SingleFormat = () =>
  json({
    object: "list",
    data: ["gpt-4o", "gpt-4o-mini", "fake-model"].map((id) => ({
      id,
      object: "model",
      created: CREATED,
      owned_by: "fake",
    })),
  });

export const geminiModels: SingleFormat = () =>
  json({
    models: ["gemini-2.5-flash", "gemini-2.5-pro"].map((name) => ({ name: `models/${name}`, displayName: name })),
  });

export const anthropicCount: SingleFormat = (_request, { usage }) => json({ input_tokens: usage?.input ?? 0 });

export const geminiCount: SingleFormat = (_request, { usage }) => json({ totalTokens: usage?.input ?? 0 });

export const geminiEmbed: SingleFormat = () => json({ embedding: { values: VECTOR } });

export const geminiBatchEmbed: SingleFormat = (request) => {
  const requests = Array.isArray(request.json?.["requests"]) ? request.json["requests"] : [];
  return json({ embeddings: requests.map(() => ({ values: VECTOR })) });
};

function imageEvents(request: Recorded, usage: Behaviour["usage"]): Single {
  const type = request.path.endsWith("/edits") ? "image_edit" : "image_generation";
  return events([
    { type: `${type}.partial_image`, b64_json: PIXEL, partial_image_index: 0 },
    { type: `${type}.completed`, b64_json: PIXEL, created_at: CREATED, ...(usage && { usage: toTokenUsage(usage) }) },
  ]);
}

function toTokenUsage({ input, output }: NonNullable<Behaviour["usage"]>): Json {
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}

function events(all: readonly Json[]): Single {
  const blocks = all.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
  return { contentType: "text/event-stream", body: blocks.join("") };
}

function json(value: Json): Single {
  return { contentType: "application/json", body: JSON.stringify(value) };
}
