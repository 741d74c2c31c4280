import { encodeBlock } from "../../lib/text/sse.ts";
import { invalidRequest } from "../../lib/app-error.ts";
import { readModelName, requiredText } from "../core/request-spec.ts";
import { plainDialect, TypedMeter } from "../core/typed-meter.ts";
import { estimateTokenBound, collectTexts, collectWords } from "../core/prompt.ts";
import { number, object, text } from "../core/read.ts";
import type { Body, Dialect, JsonObject, Usage } from "../core/types.ts";
import { readChatUsage, readResponsesUsage, toUsage } from "../core/usage.ts";

const MAX_SPEECH_CHARACTERS = 4096;

/** Speech by JSON, transcription and translation by form; only a form's text fields arrive here, as JSON. */
export const openaiAudio: Dialect = {
  ...plainDialect,
  id: "openai-audio",
  inspect(body, operation, pathModel) {
    const json = body.json();
    const isSpeech = operation === "audio.speech";
    const model = readModelName(json, pathModel, isSpeech ? "tts-1" : "whisper-1");
    const input = isSpeech ? speechInput(json) : "";
    const instructions = isSpeech ? speechInstructions(json) : "";
    return {
      operation,
      dialect: "openai-audio",
      model,
      stream: isSpeech ? text(json, "stream_format") === "sse" : json["stream"] === true || json["stream"] === "true",
      wantsStreamUsage: true,
      outputCap: undefined,
      promptEstimate: isSpeech
        ? Math.max(
            codePoints(input),
            estimateTokenBound((reader) => {
              reader.text(input);
              reader.text(instructions);
            }),
          )
        : 0,
      units: isSpeech ? codePoints(input) : 1,
    };
  },
  usage: (answer) => audioUsage(object(answer, "usage"), readDuration(answer)),
  meter: () =>
    new TypedMeter({
      ends: ["speech.audio.done", "transcript.text.done"],
      readUsage: (usage) => audioUsage(usage, undefined),
    }),
  promptTexts: (body) =>
    collectTexts((reader) => {
      reader.text(text(body.json(), "input") ?? "");
      reader.text(text(body.json(), "instructions") ?? "");
    }),
  promptWords: (body) => collectWords((reader) => reader.text(spoken(body))),
  answerTexts: (answer) => ({ text: text(answer, "text") ?? "", extra: 0 }),
  toStream(answer) {
    const said = text(answer, "text") ?? "";
    const delta = { type: "transcript.text.delta", delta: said };
    const { usage } = answer;
    const done = { type: "transcript.text.done", text: said, ...(usage === undefined ? {} : { usage }) };
    return Buffer.from([delta, done].map((event) => encodeBlock(JSON.stringify(event))).join(""));
  },
  assembleAnswer(events) {
    const done = events.findLast((event) => text(event, "type") === "transcript.text.done");
    if (done === undefined) return undefined;
    const { type: _type, ...answer } = done;
    return answer;
  },
  hasContent: (event) => ["audio", "delta", "text"].some((key) => (text(event, key) ?? "") !== ""),
  eventTexts: (event) => ({
    text: text(event, "type") === "transcript.text.delta" ? (text(event, "delta") ?? "") : "",
    extra: 0,
  }),
};

/** Reads tokens, or seconds as units if the model is billed by duration. */
function audioUsage(usage: JsonObject | undefined, duration: number | undefined): Usage | undefined {
  const seconds = text(usage, "type") === "duration" ? number(usage, "seconds") : duration;
  const tokens = readResponsesUsage(usage) ?? readChatUsage(usage);
  if (tokens !== undefined) return tokens;
  return seconds === undefined || seconds < 0 ? undefined : toUsage({ units: seconds });
}

/** Reads the seconds, which some servers write as text, as in the protocol's first description. */
function readDuration(answer: JsonObject): number | undefined {
  const { duration } = answer;
  const seconds = typeof duration === "string" && duration !== "" ? Number(duration) : duration;
  return typeof seconds === "number" && Number.isFinite(seconds) ? seconds : undefined;
}

function speechInput(json: JsonObject): string {
  const input = requiredText(json, "input");
  if (codePoints(input) > MAX_SPEECH_CHARACTERS) {
    throw invalidRequest(
      "input",
      `input must not be longer than ${MAX_SPEECH_CHARACTERS} characters; send a longer text in parts.`,
    );
  }
  return input;
}

/** Returns the instructions, whose tokens are billed by models that follow them. */
function speechInstructions(json: JsonObject): string {
  const instructions = text(json, "instructions") ?? "";
  if (codePoints(instructions) <= MAX_SPEECH_CHARACTERS) return instructions;
  throw invalidRequest("instructions", `instructions must not be longer than ${MAX_SPEECH_CHARACTERS} characters.`);
}

function spoken(body: Body): string {
  const json = body.json();
  return text(json, "input") ?? text(json, "prompt") ?? "";
}

function codePoints(input: string): number {
  let points = 0;
  for (const _ of input) points++;
  return points;
}
