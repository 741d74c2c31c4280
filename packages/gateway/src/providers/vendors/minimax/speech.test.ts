import { describe, expect, it } from "vitest";
import { runExchange, json, sent } from "../../../../test/exchanges/exchange-kit.ts";
import { createBridgeContext } from "../../../../test/kit/provider-kit.ts";
import { speechBridge } from "./speech.ts";

describe("speech of MiniMax", () => {
  it("is asked for in the channel's group, and is sound also where no status comes along", () =>
    runExchange({
      type: 35,
      channel: { base_url: "https://api.minimax.chat", key: "k", other: "g 1" },
      ask: { model: "speech-02-hd", input: "Hi", voice: "alloy", stream_format: "audio" },
      path: "/v1/audio/speech",
      upstream: sent("https://api.minimax.chat/v1/t2a_v2?GroupId=g%201", {
        model: "speech-02-hd",
        text: "Hi",
        voice_setting: { voice_id: "female-chengshu" },
      }),
      answer: json({ data: { audio: "494433" }, extra_info: { audio_format: "mp3" } }),
      client: { status: 200, body_hex: "494433" },
    }));

  it("is spoken by a voice that is named by its id", () => {
    const body = { model: "m", input: "Hi", voice: { id: "mine" } };
    expect(speechBridge.begin(createBridgeContext()).request(body)).toMatchObject({
      voice_setting: { voice_id: "mine" },
    });
  });

  it("comes whole: events are refused", () => {
    const body = { model: "m", input: "Hi", stream_format: "sse" };
    expect(() => speechBridge.begin(createBridgeContext()).request(body)).toThrowError(/stream_format/);
  });
});
