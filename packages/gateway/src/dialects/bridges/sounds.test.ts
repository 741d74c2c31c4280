// Sound in answers, between chat and Gemini.
import { describe, expect, it } from "vitest";
import { run } from "../../../test/bridge-run.ts";
import type { JsonObject } from "../types.ts";

const TYPE = "audio/L16;codec=pcm;rate=24000";
const sound = (data: string) => ({ inlineData: { mimeType: TYPE, data } });

describe("chat clients on Gemini", () => {
  const candidate = (...parts: object[]) => ({ candidates: [{ index: 0, content: { role: "model", parts } }] });

  it("hear every piece of a stream, whose id is told once", () => {
    const events = run("openai-chat", "gemini-generate", "m").stream([
      candidate(sound("AAE=")),
      candidate(sound("AgM=")),
    ]);
    const deltas = events.flatMap((event) => event["choices"] as JsonObject[]).map((choice) => choice["delta"]);
    expect(deltas.filter((delta) => (delta as JsonObject)["audio"] !== undefined)).toEqual([
      { audio: { id: "audio", data: "AAE=" } },
      { audio: { data: "AgM=" } },
    ]);
  });

  it("hear several parts as one", () => {
    const answer = run("openai-chat", "gemini-generate", "m").answer(candidate(sound("AAE="), sound("AgM=")));
    expect(answer["choices"]).toMatchObject([{ message: { audio: { data: "AAECAw==" } } }]);
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
