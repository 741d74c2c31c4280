// Sound in answers, between chat and Gemini.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/kit/bridge-run.ts";
import type { JsonObject } from "../core/types.ts";

const TYPE = "audio/L16;codec=pcm;rate=24000";
const sound = (data: string) => ({ inlineData: { mimeType: TYPE, data } });

describe("chat clients on Gemini", () => {
  const candidate = (...parts: object[]) => ({ candidates: [{ index: 0, content: { role: "model", parts } }] });

  it("hear every piece of a stream, whose id is sent once", () => {
    const events = run("openai-chat", "gemini-generate", "m").stream([
      candidate(sound("AAE=")),
      candidate(sound("AgM=")),
    ]);
    const deltas = events.flatMap((event) => event["choices"] as JsonObject[]).map((choice) => choice["delta"]);
    expect(deltas.filter((delta) => (delta as JsonObject)["audio"] !== undefined)).toEqual([
      { audio: { id: "audio", data: "AAE=", expires_at: 1_790_000_000 } },
      { audio: { data: "AgM=" } },
    ]);
  });

  it("hear several parts as one", () => {
    const answer = run("openai-chat", "gemini-generate", "m").answer(candidate(sound("AAE="), sound("AgM=")));
    const audio = { id: "audio", data: "AAECAw==", transcript: "", expires_at: 1_790_000_000 };
    expect(answer["choices"]).toMatchObject([{ message: { content: null, audio } }]);
  });

  const asked = (format: string, more: object = {}) => ({
    messages: [{ role: "user", content: "hi" }],
    modalities: ["text", "audio"],
    audio: { voice: "Kore", format },
    ...more,
  });

  it("get samples with a head that players know where they ask for wav", () => {
    const bridge = run("openai-chat", "gemini-generate", "gemini-2.5-flash-preview-tts", { stream: false });
    expect(bridge.request(asked("wav"))).toMatchObject({
      generationConfig: {
        responseModalities: ["AUDIO"],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: "Kore" } } },
      },
    });
    const [choice] = bridge.answer(candidate(sound("AAE="), sound("AgM=")))["choices"] as {
      message: { audio: { data: string } };
    }[];
    const wav = Buffer.from(choice?.message.audio.data ?? "", "base64");
    expect([wav.toString("latin1", 0, 4), wav.toString("latin1", 8, 16), wav.toString("latin1", 36, 40)]).toEqual([
      "RIFF",
      "WAVEfmt ",
      "data",
    ]);
    expect([wav.readUInt32LE(4), wav.readUInt32LE(24), wav.readUInt32LE(40)]).toEqual([wav.length - 8, 24_000, 4]);
    expect([...wav.subarray(44)]).toEqual([0, 1, 2, 3]);
  });

  it("are refused what the samples would have to be encoded in, by name and with the way out", () => {
    const ask = (format: string, stream: boolean) => () =>
      run("openai-chat", "gemini-generate", "m", { stream }).request(asked(format));
    const refusal = (message: RegExp) =>
      expect.objectContaining({
        status: 400,
        param: "audio.format",
        message: expect.stringMatching(message) as string,
      }) as Error;
    expect(ask("mp3", false)).toThrow(refusal(/wav or pcm16/));
    expect(ask("wav", true)).toThrow(refusal(/Ask for pcm16/));
    expect(ask("pcm16", true)).not.toThrow();
  });

  it("name earlier sound by an id that no one keeps", () => {
    const bridge = run("openai-chat", "gemini-generate", "m");
    const earlier = { role: "assistant", content: null, audio: { id: "audio" } };
    bridge.request({ messages: [{ role: "user", content: "hi" }, earlier, { role: "user", content: "and?" }] });
    expect(bridge.dropped).toEqual(["messages.audio"]);
  });

  it("speak in wav and mp3", () => {
    const content = ["wav", "mp3"].map((format) => ({ type: "input_audio", input_audio: { data: "AAE=", format } }));
    const body = run("openai-chat", "gemini-generate", "m").request({ messages: [{ role: "user", content }] });
    const parts = ["audio/wav", "audio/mp3"].map((mimeType) => ({ inlineData: { mimeType, data: "AAE=" } }));
    expect(body["contents"]).toEqual([{ role: "user", parts }]);
  });
});

describe("Gemini clients on chat", () => {
  const audio = { id: "a", data: "AAE=", transcript: "hi" };

  it("hear the sound that they asked for", () => {
    const gemini = run("gemini-generate", "openai-chat", "gpt-audio");
    const message = { role: "assistant", content: null, audio };
    const parts = [sound("AAE=")];
    expect(gemini.answer({ choices: [{ message, finish_reason: "stop" }] })).toMatchObject({
      candidates: [{ content: { parts } }],
    });
    const events = gemini.stream([{ choices: [{ index: 0, delta: { audio }, finish_reason: null }] }]);
    expect(events[0]).toMatchObject({ candidates: [{ content: { parts } }] });
  });
});
