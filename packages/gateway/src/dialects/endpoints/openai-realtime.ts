import { parseObject } from "../../lib/text/json.ts";
import { modelOf } from "../core/request-spec.ts";
import { plainDialect } from "../core/typed-meter.ts";
import { number, object, text } from "../core/read.ts";
import { NO_USAGE, type Dialect, type JsonObject, type Usage } from "../core/types.ts";
import { readResponsesUsage } from "../core/usage.ts";

const NO_WORDS = { text: "", extra: 0 };

/** A conversation over a WebSocket; the only thing asked before it begins is the model, by query. */
export const openaiRealtime: Dialect = {
  ...plainDialect,
  id: "openai-realtime",
  inspect(body, operation, pathModel) {
    return {
      operation,
      dialect: "openai-realtime",
      model: modelOf(body.json(), pathModel),
      stream: true,
      wantsStreamUsage: true,
      outputCap: 0,
      promptEstimate: 0,
      units: 1,
    };
  },
  retarget: (body) => body.bytes,
  promptTexts: () => NO_WORDS,
  promptWords: () => [],
};

/** A fact that one upstream event adds to the bill. */
export type RealtimeFact =
  | { readonly kind: "response"; readonly usage: Usage | undefined }
  | { readonly kind: "transcription"; readonly usage: Usage | undefined; readonly text: string }
  | { readonly kind: "session"; readonly transcriptionModel: string | undefined; readonly audioFormat: string }
  | { readonly kind: "delivered"; readonly text: string; readonly bytes: number };

const INTERESTING =
  /"type"\s*:\s*"(response\.done|conversation\.item\.input_audio_transcription\.completed|session\.(?:created|updated)|response\.(?:output_)?(?:text|audio|audio_transcript)\.delta)"/;

/** Reads an event of the names of 2024 and of those that came after; undefined for all that cost nothing. */
export function readRealtimeEvent(frame: string): RealtimeFact | undefined {
  const type = INTERESTING.exec(frame)?.[1];
  if (type === undefined) return undefined;
  if (type.endsWith("audio.delta")) return { kind: "delivered", text: "", bytes: base64Bytes(frame) };
  const event = parseObject(frame);
  if (!event || text(event, "type") !== type) return undefined;
  if (type === "response.done")
    return { kind: "response", usage: readResponsesUsage(object(object(event, "response"), "usage")) };
  if (type.endsWith(".completed"))
    return {
      kind: "transcription",
      usage: transcriptionUsage(object(event, "usage")),
      text: text(event, "transcript") ?? "",
    };
  if (type.endsWith(".delta")) return { kind: "delivered", text: text(event, "delta") ?? "", bytes: 0 };
  return sessionOf(object(event, "session"));
}

/** In tokens, or in seconds where the model is paid by time. */
function transcriptionUsage(usage: JsonObject | undefined): Usage | undefined {
  const seconds = number(usage, "seconds");
  if (seconds !== undefined && seconds > 0) return { ...NO_USAGE, units: seconds };
  return readResponsesUsage(usage);
}

function sessionOf(session: JsonObject | undefined): RealtimeFact {
  const audio = object(session, "audio");
  const input = object(audio, "input");
  const transcription = object(session, "input_audio_transcription") ?? object(input, "transcription");
  const format = text(session, "output_audio_format") ?? text(object(object(audio, "output"), "format"), "type");
  return { kind: "session", transcriptionModel: text(transcription, "model"), audioFormat: format ?? "pcm16" };
}

/** Without decoding: sound is most of what a conversation sends. */
function base64Bytes(frame: string): number {
  const start = /"delta"\s*:\s*"/.exec(frame);
  if (!start) return 0;
  const from = start.index + start[0].length;
  return Math.floor(((frame.indexOf('"', from) - from) * 3) / 4);
}
