import type { Bridge } from "../../../dialects/core/bridge.ts";
import type { JsonObject } from "../../../dialects/core/types.ts";
import { isObject, number, object, text } from "../../../dialects/core/read.ts";
import { parseObject } from "../../../lib/text/json.ts";
import { unsupportedParameter } from "../../../lib/app-error.ts";
import { createBodyStream, readWhole } from "../../core/exchange.ts";
import { unaryBridge } from "../../core/unary-bridge.ts";
import type { Exchange } from "../../core/types.ts";

const VOICES: Readonly<Record<string, string>> = {
  alloy: "female-chengshu",
  echo: "male-qn-qingse",
  fable: "male-qn-jingying",
  onyx: "presenter_male",
  nova: "presenter_female",
  shimmer: "audiobook_female_1",
};

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  pcm: "audio/pcm",
};

export const speechBridge: Bridge = unaryBridge({
  client: "openai-audio",
  upstream: "private:minimax-speech",
  request(body, context) {
    const { model: _named, input, voice, speed, response_format: format, stream_format: frames, ...more } = body;
    const { instructions, ...rest } = more;
    if (frames === "sse") throw unsupportedParameter("stream_format");
    if (instructions !== undefined) context.dropped("instructions");
    const name = text(isObject(voice) ? voice : { id: voice }, "id") ?? "alloy";
    return {
      model: context.upstreamModel,
      text: input,
      voice_setting: { voice_id: VOICES[name] ?? name, ...(speed === undefined ? {} : { speed }) },
      ...(typeof format === "string" ? { audio_setting: audioSetting(format) } : {}),
      ...rest,
    };
  },
  response: (body) => body,
});

/** Parses names such as `mp3-1-32000-128000`: format, channels, sample rate and bit rate. */
function audioSetting(format: string): JsonObject {
  const [name = format, channel, rate, bits] = format.split("-");
  return {
    format: name,
    ...(channel === undefined ? {} : { channel: Number(channel) }),
    ...(rate === undefined ? {} : { sample_rate: Number(rate) }),
    ...(bits === undefined ? {} : { bitrate: Number(bits) }),
  };
}

/** The vendor sends audio as hexadecimal text inside JSON; clients get bytes. */
export const speechExchange: Exchange = async (call, context) => {
  const first = await context.send(call);
  if (first.status !== 200) return first;
  const { answer, bytes } = await readWhole(first);
  const json = parseObject(bytes.toString("utf8"));
  const audio = text(object(json, "data"), "audio");
  if (audio === undefined || (number(object(json, "base_resp"), "status_code") ?? 0) !== 0) return answer;
  const format = text(object(json, "extra_info"), "audio_format") ?? "mp3";
  const headers = { "content-type": MEDIA_TYPES[format] ?? "application/octet-stream" };
  return { status: 200, headers, body: createBodyStream(Buffer.from(audio, "hex")) };
};
