// Reads the billing facts in events of a realtime session. The type of an event is its top-level member `type`:
// anything that a client writes into metadata or text is inside other members.
import { textAt, topLevelMembers, type JsonSpan } from "../../lib/text/json-top-level.ts";
import { number, object, parseObject, text } from "../core/read.ts";
import { NO_USAGE, type JsonObject, type JsonValue, type Usage } from "../core/types.ts";
import { readResponsesUsage } from "../core/usage.ts";

/** A fact that one event of the upstream adds to the bill. */
export type RealtimeFact =
  | { readonly kind: "session"; readonly session: RealtimeSettings }
  | { readonly kind: "created"; readonly id: string; readonly settings: RealtimeSettings }
  | {
      readonly kind: "done";
      readonly id: string;
      readonly usage: Usage | undefined;
      /** False for a response outside of the conversation, whose usage says nothing about the conversation's length. */
      readonly isInConversation: boolean;
      readonly isCancelled: boolean;
    }
  | { readonly kind: "said"; readonly id: string; readonly text: string; readonly isTranscript: boolean }
  | { readonly kind: "sound"; readonly id: string; readonly bytes: number }
  | { readonly kind: "item"; readonly item: JsonObject }
  | { readonly kind: "committed"; readonly itemId: string }
  | { readonly kind: "heard"; readonly itemId: string; readonly text: string; readonly isSegment: boolean }
  | { readonly kind: "transcribed"; readonly itemId: string; readonly usage: Usage | undefined; readonly text: string }
  | { readonly kind: "untranscribed"; readonly itemId: string }
  | { readonly kind: "error" };

/** Settings of a session or of one response; undefined = not set. */
export interface RealtimeSettings {
  /** Infinity if the setting says so. */
  readonly outputCap: number | undefined;
  readonly speaks: boolean | undefined;
  readonly transcriptionModel: string | undefined;
  /** Bytes per second: `inputRate` of the client's sound, `outputRate` of the answers. */
  readonly inputRate: number | undefined;
  readonly outputRate: number | undefined;
}

const SOUND = /^response\.(?:output_)?audio\.delta$/;
const SAID =
  /^response\.(?:(?:output_)?text|(?:output_)?audio_transcript|function_call_arguments|mcp_call_arguments)\.delta$/;
const TRANSCRIPTION = "conversation.item.input_audio_transcription.";
const RATES = { pcm: 48_000, g711: 8_000 };

/** Reads an event under the names of 2024 and the later ones; undefined for events that cost nothing. */
export function readRealtimeEvent(frame: Buffer): RealtimeFact | undefined {
  const members = topLevelMembers(frame, ["type", "delta", "response_id"]) ?? NO_MEMBERS;
  const type = textAt(frame, members.get("type")) ?? "";
  if (SOUND.test(type) || SAID.test(type)) return readPiece(type, frame, members);
  const isTranscription = type.startsWith(TRANSCRIPTION);
  if (!isTranscription && !Object.hasOwn(FACTS, type)) return undefined;
  const event = parseObject(frame.toString("utf8"));
  if (!event) return undefined;
  return isTranscription ? transcriptionFact(type.slice(TRANSCRIPTION.length), event) : FACTS[type]?.(event);
}

type Members = ReadonlyMap<string, JsonSpan>;

const NO_MEMBERS: Members = new Map();

/** Reads a piece of an answer; sound is not decoded. */
function readPiece(type: string, frame: Buffer, members: Members): RealtimeFact {
  const id = textAt(frame, members.get("response_id")) ?? "";
  if (SOUND.test(type)) return { kind: "sound", id, bytes: base64Bytes(members.get("delta")) };
  const said = textAt(frame, members.get("delta")) ?? "";
  return { kind: "said", id, text: said, isTranscript: type.includes("transcript") };
}

/** Returns the number of bytes that a quoted base64 text encodes. */
function base64Bytes(span: JsonSpan | undefined): number {
  return span ? Math.floor((Math.max(0, span.end - span.start - 2) * 3) / 4) : 0;
}

const FACTS: Readonly<Record<string, (event: JsonObject) => RealtimeFact>> = {
  "session.created": sessionFact,
  "session.updated": sessionFact,
  "response.created": (event) => ({
    kind: "created",
    id: responseId(event),
    settings: readSettings(readResponse(event)),
  }),
  "response.done": (event) => ({
    kind: "done",
    id: responseId(event),
    usage: readResponsesUsage(object(readResponse(event), "usage")),
    isInConversation: readResponse(event)?.["conversation_id"] !== null,
    isCancelled: readResponse(event)?.["status"] === "cancelled",
  }),
  "conversation.item.added": itemFact,
  "conversation.item.created": itemFact,
  "input_audio_buffer.committed": (event) => ({ kind: "committed", itemId: text(event, "item_id") ?? "" }),
  error: () => ({ kind: "error" }),
};

function sessionFact(event: JsonObject): RealtimeFact {
  return { kind: "session", session: readSettings(object(event, "session")) };
}

function itemFact(event: JsonObject): RealtimeFact {
  return { kind: "item", item: object(event, "item") ?? {} };
}

function readResponse(event: JsonObject): JsonObject | undefined {
  return object(event, "response");
}

function responseId(event: JsonObject): string {
  return text(readResponse(event), "id") ?? "";
}

function transcriptionFact(what: string, event: JsonObject): RealtimeFact | undefined {
  const itemId = text(event, "item_id") ?? "";
  switch (what) {
    case "delta":
      return { kind: "heard", itemId, text: text(event, "delta") ?? "", isSegment: false };
    case "segment":
      return { kind: "heard", itemId, text: text(event, "text") ?? "", isSegment: true };
    case "completed":
      return {
        kind: "transcribed",
        itemId,
        usage: transcriptionUsage(object(event, "usage")),
        text: text(event, "transcript") ?? "",
      };
    case "failed":
      return { kind: "untranscribed", itemId };
    default:
      return undefined;
  }
}

/** Reads usage in tokens, or in seconds if the model is billed by time. */
function transcriptionUsage(usage: JsonObject | undefined): Usage | undefined {
  const seconds = number(usage, "seconds");
  if (seconds !== undefined && seconds > 0) return { ...NO_USAGE, units: seconds };
  return readResponsesUsage(usage);
}

/** Reads the settings of a session or a response, under the names of 2024 and the later ones. */
export function readSettings(from: JsonObject | undefined): RealtimeSettings {
  const audio = object(from, "audio");
  return {
    outputCap: toOutputCap(from?.["max_output_tokens"] ?? from?.["max_response_output_tokens"]),
    speaks: speaksIn(from?.["output_modalities"] ?? from?.["modalities"]),
    transcriptionModel: readTranscriptionModel(from),
    inputRate: findSampleRate(text(from, "input_audio_format") ?? readFormat(object(audio, "input"))),
    outputRate: findSampleRate(text(from, "output_audio_format") ?? readFormat(object(audio, "output"))),
  };
}

/** Returns the settings of a session after an event: those that it does not mention stay. */
export function mergeSettings(before: RealtimeSettings, after: RealtimeSettings): RealtimeSettings {
  return {
    outputCap: after.outputCap ?? before.outputCap,
    speaks: after.speaks ?? before.speaks,
    transcriptionModel: after.transcriptionModel ?? before.transcriptionModel,
    inputRate: after.inputRate ?? before.inputRate,
    outputRate: after.outputRate ?? before.outputRate,
  };
}

function toOutputCap(cap: JsonValue | undefined): number | undefined {
  if (cap === "inf") return Infinity;
  return typeof cap === "number" && cap > 0 ? cap : undefined;
}

function speaksIn(modalities: JsonValue | undefined): boolean | undefined {
  return Array.isArray(modalities) ? modalities.includes("audio") : undefined;
}

function readFormat(side: JsonObject | undefined): string | undefined {
  return text(object(side, "format"), "type");
}

/** Returns the model that transcribes the client's speech; undefined if the settings name none. */
export function readTranscriptionModel(session: JsonObject | undefined): string | undefined {
  const input = object(object(session, "audio"), "input");
  return text(object(session, "input_audio_transcription") ?? object(input, "transcription"), "model");
}

function findSampleRate(format: string | undefined): number | undefined {
  if (format === undefined) return undefined;
  return /g711|pcmu|pcma/.test(format) ? RATES.g711 : RATES.pcm;
}

/** The effect of a client's event on the bill. */
export type ClientFact =
  | { readonly kind: "create"; readonly response: JsonObject; readonly eventId: string | undefined }
  | {
      readonly kind: "update";
      readonly type: string;
      readonly session: JsonObject;
      readonly eventId: string | undefined;
    }
  | { readonly kind: "item"; readonly item: JsonObject; readonly eventId: string | undefined }
  | { readonly kind: "sound"; readonly bytes: number }
  | { readonly kind: "clear" };

/** Returns undefined for events that are only forwarded. */
export function readClientEvent(frame: Buffer): ClientFact | undefined {
  const members = topLevelMembers(frame, ["type", "audio"]) ?? NO_MEMBERS;
  const type = textAt(frame, members.get("type")) ?? "";
  if (type === "input_audio_buffer.append") return { kind: "sound", bytes: base64Bytes(members.get("audio")) };
  if (type === "input_audio_buffer.clear") return { kind: "clear" };
  if (!Object.hasOwn(CLIENT_FACTS, type)) return undefined;
  return CLIENT_FACTS[type]?.(parseObject(frame.toString("utf8")) ?? {});
}

const CLIENT_FACTS: Readonly<Record<string, (event: JsonObject) => ClientFact>> = {
  "response.create": (event) => ({
    kind: "create",
    response: object(event, "response") ?? {},
    eventId: readEventId(event),
  }),
  "conversation.item.create": (event) => ({
    kind: "item",
    item: object(event, "item") ?? {},
    eventId: readEventId(event),
  }),
  "session.update": updateFact,
  "transcription_session.update": updateFact,
};

function updateFact(event: JsonObject): ClientFact {
  const type = text(event, "type") ?? "";
  return { kind: "update", type, session: object(event, "session") ?? {}, eventId: readEventId(event) };
}

function readEventId(event: JsonObject): string | undefined {
  return text(event, "event_id");
}
