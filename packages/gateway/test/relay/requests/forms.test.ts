import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { consumeRows, readError, useRelay } from "../../kit/relay-app.ts";

const relay = useRelay();

function form(fields: Readonly<Record<string, string>>, file?: { name: string; bytes: Buffer }): FormData {
  const data = new FormData();
  if (file) data.set(file.name, new Blob([new Uint8Array(file.bytes)]), "a.bin");
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
}

function send(path: string, body: FormData | Buffer, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(relay.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${relay.key}`, ...headers },
    body: body instanceof FormData ? body : new Uint8Array(body),
  });
}

function findConsumeRow(response: Response) {
  return consumeRows(relay.gateway, response.headers.get("x-request-id") ?? "").then(([row]) => row);
}

/** Mono, 8 bits, 1,000 bytes per second. */
function wav(seconds: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + seconds * 1000, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(1000, 24);
  head.writeUInt32LE(1000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write("data", 36);
  head.writeUInt32LE(seconds * 1000, 40);
  return Buffer.concat([head, Buffer.alloc(seconds * 1000, 7)]);
}

const sound = { name: "file", bytes: Buffer.from("not really sound") };
const FORM_TYPE = "multipart/form-data; boundary=xYz";

describe("forms", () => {
  it("are sent byte for byte when the channel has the same model name", async () => {
    await relay.gateway.channel("usage-3-7");
    const body = Buffer.from(
      '--xYz\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n\r\n--xYnot\r\n--xY\r\n--xYz\r\nContent-Disposition: form-data; name="model"\r\n\r\nusage-3-7\r\n--xYz--\r\n',
    );
    const response = await send("/v1/audio/transcriptions", body, { "content-type": FORM_TYPE });
    expect(await response.json()).toMatchObject({ text: "Hello from the fake upstream." });
    const [seen] = relay.gateway.upstream.requests;
    expect(seen?.body.equals(body)).toBe(true);
    expect(seen?.headers["content-type"]).toBe(FORM_TYPE);
    expect(seen?.headers["content-length"]).toBe(String(body.length));
    expect(await findConsumeRow(response)).toMatchObject({ prompt_tokens: 3, completion_tokens: 7 });
  });

  it("are sent with the mapped model of each attempt", async () => {
    await relay.gateway.option("RetryTimes", 1);
    await relay.gateway.channel("heard", { model_mapping: '{"heard":"status-500"}', priority: 10 });
    await relay.gateway.channel("heard", { model_mapping: '{"heard":"a-much-longer-name"}' });
    const response = await send("/v1/audio/transcriptions", form({ model: "heard", language: "de" }, sound));
    expect(response.status).toBe(200);
    const seen = relay.gateway.upstream.requests.map(({ model, body }) => [model, body.includes("not really sound")]);
    expect(seen).toEqual([
      ["status-500", true],
      ["a-much-longer-name", true],
    ]);
    await relay.gateway.option("RetryTimes", 0);
  });

  it("are sent with the default model where they name none", async () => {
    await relay.gateway.channel("whisper-1");
    const response = await send("/v1/audio/translations", form({}, sound));
    expect(response.status).toBe(200);
    expect(relay.gateway.upstream.requests[0]?.model).toBe("whisper-1");
    expect((await findConsumeRow(response))?.model_name).toBe("whisper-1");
  });

  it.each([
    ["a form without a file", () => form({ model: "whisper-1" }), 400, "invalid_request"],
    [
      "a file above 25 MiB",
      () => form({ model: "whisper-1" }, { name: "file", bytes: Buffer.alloc(26 * 1024 * 1024) }),
      413,
      "request_too_large",
    ],
  ])("%s is refused", async (_name, body, status, code) => {
    await relay.gateway.channel("whisper-1");
    const response = await send("/v1/audio/transcriptions", body());
    expect([response.status, (await readError(response)).code]).toEqual([status, code]);
    expect(relay.gateway.upstream.requests).toHaveLength(0);
  });

  it.each([
    ["cut short", '--xYz\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc'],
    ["without names", "--xYz\r\nContent-Type: text/plain\r\n\r\nabc\r\n--xYz--\r\n"],
    [
      "with two models",
      '--xYz\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc\r\n--xYz\r\nContent-Disposition: form-data; name="model"\r\n\r\na\r\n--xYz\r\nContent-Disposition: form-data; name="model"\r\n\r\nb\r\n--xYz--\r\n',
    ],
    [
      "with a nameless file in the place of a field",
      '--xYz\r\nContent-Disposition: form-data; name="model"; filename=""\r\n\r\ndear\r\n--xYz\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--xYz\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc\r\n--xYz--\r\n',
    ],
    ["with a preamble", "hello --xYz--"],
  ])("a form %s is refused", async (_name, text) => {
    const response = await send("/v1/audio/transcriptions", Buffer.from(text), { "content-type": FORM_TYPE });
    expect([response.status, (await readError(response)).code]).toEqual([400, "invalid_request"]);
  });

  it("are sent with the boundary by which the gateway read them", async () => {
    const type = "multipart/form-data; boundary=xYz; boundary=other";
    await relay.gateway.channel("whisper-1");
    const field = (name: string, value: string) => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const hidden = `--other\r\n${field("model", "dear")}--other--`;
    const text = `--xYz\r\n${field("model", "whisper-1")}--xYz\r\n${field('file"; filename="a', hidden)}--xYz--\r\n`;
    const response = await send("/v1/audio/transcriptions", Buffer.from(text), { "content-type": type });
    expect(response.status).toBe(200);
    expect(relay.gateway.upstream.requests[0]?.headers["content-type"]).toBe(FORM_TYPE);
  });

  // @weakness Injection and parsing: A form has two parts of one name, and the upstream takes the other one
  it.each([
    [
      "a second file",
      [
        ["file", sound.bytes],
        ["file", sound.bytes],
        ["model", "usage-3-7"],
      ],
      "file is in the form twice",
    ],
    [
      "a second model",
      [
        ["file", sound.bytes],
        ["model", "usage-3-7"],
        ["model", "dear"],
      ],
      "model is in the form twice",
    ],
    [
      "a file for the model",
      [
        ["file", sound.bytes],
        ["model", "usage-3-7"],
        ["model", sound.bytes],
      ],
      "model is in the form twice",
    ],
    [
      "a text for the file",
      [
        ["file", "short"],
        ["file", sound.bytes],
        ["model", "usage-3-7"],
      ],
      "file is in the form twice",
    ],
    [
      "other letters",
      [
        ["file", sound.bytes],
        ["model", "usage-3-7"],
        ["Model", "dear"],
      ],
      "Model differs from model",
    ],
  ] as const)("are refused with %s", async (_, parts, says) => {
    await relay.gateway.channel("usage-3-7");
    const data = new FormData();
    for (const [name, value] of parts) {
      if (typeof value === "string") data.append(name, value);
      else data.append(name, new Blob([new Uint8Array(value)]), "a.bin");
    }
    const response = await send("/v1/audio/transcriptions", data);
    expect(response.status).toBe(400);
    expect((await readError(response)).message).toContain(says);
    expect(relay.gateway.upstream.requests).toHaveLength(0);
  });

  it("are refused with fields over the memory limit", async () => {
    await relay.gateway.channel("usage-3-7");
    const more = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`x${at}`, "a".repeat(1_000_000)]));
    const response = await send("/v1/audio/transcriptions", form({ model: "usage-3-7", ...more }, sound));
    expect(response.status).toBe(413);
    expect((await readError(response)).message).toContain("exceeds 8388608 bytes");
  });

  it("are refused with an overlong boundary", async () => {
    const type = `multipart/form-data; boundary=${"x".repeat(71)}`;
    const response = await send("/v1/audio/transcriptions", Buffer.from("x"), { "content-type": type });
    expect([response.status, (await readError(response)).code]).toEqual([400, "invalid_request"]);
  });

  it("are stored on disk and sent unchanged when they are large", async () => {
    await relay.gateway.channel("gpt-image-1");
    const bytes = Buffer.alloc(20 * 1024 * 1024, 3);
    const boundary = '--q\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n';
    const tail =
      '\r\n--q\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nx\r\n--q\r\nContent-Disposition: form-data; name="model"\r\n\r\ngpt-image-1\r\n--q--\r\n';
    const body = Buffer.concat([Buffer.from(boundary), bytes, Buffer.from(tail)]);
    const response = await send("/v1/images/edits", body, { "content-type": "multipart/form-data; boundary=q" });
    expect(response.status).toBe(200);
    expect(relay.gateway.upstream.requests[0]?.body.equals(body)).toBe(true);
  });
});

describe("transcriptions", () => {
  it("are billed by the second when the recording contains its length", async () => {
    await relay.gateway.channel("no-usage", { models: "no-usage" });
    const response = await send(
      "/v1/audio/transcriptions",
      form({ model: "no-usage" }, { name: "file", bytes: wav(90) }),
    );
    expect(response.status).toBe(200);
    expect((await findConsumeRow(response))?.quota).toBe((90 * 200) / 60);
  });

  it.each(["text", "srt", "vtt"])("in the format %s are plain text, and billed", async (format) => {
    await relay.gateway.channel("whisper-1");
    const response = await send(
      "/v1/audio/transcriptions",
      form({ model: "whisper-1", response_format: format }, sound),
    );
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toContain("Hello from the fake upstream.");
    const row = await findConsumeRow(response);
    expect(row?.quota).toBeGreaterThan(0);
    if (format === "text") expect(row?.completion_tokens).toBeGreaterThan(3);
  });

  it("are streamed, with usage", async () => {
    await relay.gateway.channel("gpt-4o-transcribe+usage-5-9");
    const client = new OpenAI({ baseURL: `${relay.gateway.url}/v1`, apiKey: relay.key, maxRetries: 0 });
    const stream = await client.audio.transcriptions.create({
      model: "gpt-4o-transcribe+usage-5-9",
      file: await OpenAI.toFile(Buffer.from("RIFF"), "a.wav"),
      stream: true,
    });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types.at(-1)).toBe("transcript.text.done");
    await relay.gateway.settled();
    expect((await consumeRows(relay.gateway)).at(-1)).toMatchObject({
      prompt_tokens: 5,
      completion_tokens: 9,
      is_stream: 1,
    });
  });
});

describe("images", () => {
  it("edits and variations of the official client are billed by image", async () => {
    await relay.gateway.option("ModelPrice", '{"dall-e-2+no-usage":0.02}');
    await relay.gateway.channel("dall-e-2+no-usage");
    const client = new OpenAI({ baseURL: `${relay.gateway.url}/v1`, apiKey: relay.key, maxRetries: 0 });
    const image = await OpenAI.toFile(Buffer.from("png"), "a.png");
    const model = "dall-e-2+no-usage";
    const edited = await client.images.edit({ model, image, prompt: "x", n: 2 });
    expect(edited.data).toHaveLength(2);
    const varied = await client.images.createVariation({ model, image, n: 3, size: "256x256" });
    expect(varied.data).toHaveLength(3);
    await relay.gateway.settled();
    expect((await consumeRows(relay.gateway)).slice(-2).map(({ quota }) => quota)).toEqual([20_000, 12_000]);
  });

  it("are streamed, and billed by their usage", async () => {
    await relay.gateway.channel("gpt-image-1+usage-11-22");
    const client = new OpenAI({ baseURL: `${relay.gateway.url}/v1`, apiKey: relay.key, maxRetries: 0 });
    const stream = await client.images.generate({
      model: "gpt-image-1+usage-11-22",
      prompt: "x",
      stream: true,
      partial_images: 1,
    });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(["image_generation.partial_image", "image_generation.completed"]);
    await relay.gateway.settled();
    expect((await consumeRows(relay.gateway)).at(-1)).toMatchObject({
      prompt_tokens: 11,
      completion_tokens: 22,
      is_stream: 1,
    });
  });

  it("bills the images that arrived", async () => {
    await relay.gateway.option("ModelPrice", '{"dall-e-3":0.04}');
    await relay.gateway.channel("dall-e-3");
    relay.gateway.upstream.script("/images/generations", () => ({
      body: { created: 1, data: [{ b64_json: "aGk=" }] },
    }));
    const response = await relay.gateway.post(
      "/v1/images/generations",
      { model: "dall-e-3", prompt: "x", n: 4, size: "1024x1792", quality: "hd" },
      relay.key,
    );
    expect(response.status).toBe(200);
    expect((await findConsumeRow(response))?.quota).toBe(60_000);
  });
});

describe("speech", () => {
  it("is streamed as events, and billed by its usage", async () => {
    await relay.gateway.channel("gpt-4o-mini-tts+usage-4-40");
    const response = await relay.gateway.post(
      "/v1/audio/speech",
      { model: "gpt-4o-mini-tts+usage-4-40", input: "hello", voice: "alloy", stream_format: "sse" },
      relay.key,
    );
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(await response.text()).toContain("speech.audio.done");
    await relay.gateway.settled();
    expect(await findConsumeRow(response)).toMatchObject({ prompt_tokens: 4, completion_tokens: 40, is_stream: 1 });
  });
});
