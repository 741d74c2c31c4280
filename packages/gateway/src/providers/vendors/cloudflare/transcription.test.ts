import { describe, expect, it } from "vitest";
import { createRequestSpec, createUpstreamCall, createExchange, readJson } from "../../../../test/kit/provider-kit.ts";
import { formParts } from "./form.ts";
import { transcriptionExchange } from "./transcription.ts";

const TYPE = "multipart/form-data; boundary=xx";

function form(format?: string): Buffer {
  const fields =
    format === undefined ? "" : `--xx\r\nContent-Disposition: form-data; name="response_format"\r\n\r\n${format}\r\n`;
  const file =
    '--xx\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\nRIFF\r\n\r\ndata\r\n';
  return Buffer.from(`${fields}${file}--xx--\r\n`);
}

async function run(format: string | undefined, model: string) {
  const exchange = createExchange([{ json: { result: { text: "hello", vtt: "WEBVTT" }, success: true } }], {
    spec: createRequestSpec({ model }),
  });
  const answer = await transcriptionExchange(
    createUpstreamCall("https://h/ai/run/m", form(format), { "content-type": TYPE }),
    exchange.context,
  );
  return { answer, call: exchange.calls[0] };
}

describe("transcription on Workers AI", () => {
  it("sends the audio alone", async () => {
    const { answer, call } = await run(undefined, "@cf/openai/whisper");
    expect([call?.headers["content-type"], call?.body?.toString()]).toEqual([
      "application/octet-stream",
      "RIFF\r\n\r\ndata",
    ]);
    expect(await readJson(answer)).toEqual({ text: "hello" });
  });

  it("sends base64 to the turbo model", async () => {
    const { call } = await run(undefined, "@cf/openai/whisper-large-v3-turbo");
    expect(JSON.parse(call?.body?.toString() ?? "")).toEqual({
      audio: Buffer.from("RIFF\r\n\r\ndata").toString("base64"),
    });
  });

  it.each([
    ["text", "hello"],
    ["vtt", "WEBVTT"],
  ])("answers with %s as plain text", async (format, expected) => {
    const { answer } = await run(format, "@cf/openai/whisper");
    const received: Buffer[] = [];
    for await (const part of answer.body) received.push(part);
    expect([answer.headers["content-type"], Buffer.concat(received).toString()]).toEqual([
      "text/plain; charset=utf-8",
      expected,
    ]);
  });

  it("reports every detail that the request wants", async () => {
    const segments = [{ start: 0, end: 1.5, text: "hello" }];
    const result = { text: "hello", segments, transcription_info: { language: "en", duration: 1.5 }, word_count: 1 };
    const { context } = createExchange([{ json: { result, success: true } }], {
      spec: createRequestSpec({ model: "w" }),
    });
    const call = createUpstreamCall("https://h/ai/run/m", form("verbose_json"), { "content-type": TYPE });
    expect(await readJson(await transcriptionExchange(call, context))).toEqual({
      language: "en",
      duration: 1.5,
      text: "hello",
      segments,
    });
  });

  it("refuses what the vendor cannot write", async () => {
    await expect(run("srt", "@cf/openai/whisper")).rejects.toThrow("response_format cannot be used");
  });

  it("reads no part from something else", () => {
    expect(formParts(Buffer.from("{}"), "application/json")).toEqual([]);
    expect(formParts(form().subarray(0, 40), TYPE)).toEqual([]);
  });
});
