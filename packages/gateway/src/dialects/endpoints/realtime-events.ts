// What the events of a realtime session say about money. The type of an event is its outermost member `type`: what a
// client writes into metadata or text is inside of other members.
import { textAt, topLevelMembers } from "../../lib/text/json-top-level.ts";
import { number, object, parseObject, text } from "../core/read.ts";
import { NO_USAGE, type JsonObject, type Usage } from "../core/types.ts";
import { readResponsesUsage } from "../core/usage.ts";

/** A fact that one event of the upstream adds to the bill. */
export type RealtimeFact =
  | { readonly kind: "session"; readonly session: RealtimeSettings }
  | { readonly kind: "created"; readonly id: string; readonly settings: RealtimeSettings }
  | {
      readonly kind: "done";
      readonly id: string;
      readonly usage: Usage | undefined;
      /** False for a response outside of the conversation, whose usage says nothing about its length. */
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

/** Settings of a session or of one response; undefined = it says nothing about it. */
export interface RealtimeSettings {
  /** Infinity where it says so. */
  readonly outputCap: number | undefined;
  readonly speaks: boolean | undefined;
  readonly transcriptionModel: string | undefined;
  /** Bytes of a second of the client's sound, and of the answers'. */
  readonly inputRate: number | undefined;
  readonly outputRate: number | undefined;
}

const SOUND = /^response\.(?:output_)?audio\.delta$/;
const SAID =
  /^response\.(?:(?:output_)?text|(?:output_)?audio_transcript|function_call_arguments|mcp_call_arguments)\.delta$/;
const TRANSCRIPTION = "conversation.item.input_audio_transcription.";
const RATES = { pcm: 48_000, g711: 8_000 };

/** Reads an event of the names of 2024 and of those that came after; undefined for all that cost nothing. */
export function readRealtimeEvent(frame: Buffer): RealtimeFact | undefined {
  const members = topLevelMembers(frame, ["type", "delta", "response_id"]);
  const type = members && textAt(frame, members.get("type"));
  if (type === undefined) return undefined;
  if (SOUND.test(type)) {
    const { start, end } = members?.get("delta") ?? { start: 0, end: 0 };
    const bytes = Math.floor((Math.max(0, end - start - 2) * 3) / 4);
    return { kind: "sound", id: textAt(frame, members?.get("response_id")) ?? "", bytes };
  }
  if (SAID.test(type)) {
    const id = textAt(frame, members?.get("response_id")) ?? "";
    const said = textAt(frame, members?.get("delta")) ?? "";
    return { kind: "said", id, text: said, isTranscript: type.includes("transcript") };
  }
  return isRead(type) ? factOf(type, parseObject(frame.toString("utf8"))) : undefined;
}

const READ = new Set([
  "session.created",
  "session.updated",
  "response.created",
  "response.done",
  "conversation.item.added",
  "conversation.item.created",
  "input_audio_buffer.committed",
  "error",
]);

function isRead(type: string): boolean {
  return READ.has(type) || type.startsWith(TRANSCRIPTION);
}

function factOf(type: string, event: JsonObject | undefined): RealtimeFact | undefined {
  if (!event) return undefined;
  if (type.startsWith(TRANSCRIPTION)) return transcriptionFact(type.slice(TRANSCRIPTION.length), event);
  const response = object(event, "response");
  const id = text(response, "id") ?? "";
  switch (type) {
    case "session.created":
    case "session.updated":
      return { kind: "session", session: settingsOf(object(event, "session")) };
    case "response.created":
      return { kind: "created", id, settings: settingsOf(response) };
    case "response.done":
      return {
        kind: "done",
        id,
        usage: readResponsesUsage(object(response, "usage")),
        isInConversation: response?.["conversation_id"] !== null,
        isCancelled: response?.["status"] === "cancelled",
      };
    case "input_audio_buffer.committed":
      return { kind: "committed", itemId: text(event, "item_id") ?? "" };
    case "error":
      return { kind: "error" };
    default:
      return { kind: "item", item: object(event, "item") ?? {} };
  }
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

/** In tokens, or in seconds where the model is paid by time. */
function transcriptionUsage(usage: JsonObject | undefined): Usage | undefined {
  const seconds = number(usage, "seconds");
  if (seconds !== undefined && seconds > 0) return { ...NO_USAGE, units: seconds };
  return readResponsesUsage(usage);
}

/** Of a session or a response, in the names of 2024 and of those that came after. */
export function settingsOf(from: JsonObject | undefined): RealtimeSettings {
  const [input, output] = [object(object(from, "audio"), "input"), object(object(from, "audio"), "output")];
  const cap = from?.["max_output_tokens"] ?? from?.["max_response_output_tokens"];
  const modalities = from?.["output_modalities"] ?? from?.["modalities"];
  return {
    outputCap: cap === "inf" ? Infinity : typeof cap === "number" && cap > 0 ? cap : undefined,
    speaks: Array.isArray(modalities) ? modalities.includes("audio") : undefined,
    transcriptionModel: transcriptionModelOf(from),
    inputRate: rateOf(text(from, "input_audio_format") ?? text(object(input, "format"), "type")),
    outputRate: rateOf(text(from, "output_audio_format") ?? text(object(output, "format"), "type")),
  };
}

/** The model that transcribes what the client says; undefined where the settings name none. */
export function transcriptionModelOf(session: JsonObject | undefined): string | undefined {
  const input = object(object(session, "audio"), "input");
  return text(object(session, "input_audio_transcription") ?? object(input, "transcription"), "model");
}

function rateOf(format: string | undefined): number | undefined {
  if (format === undefined) return undefined;
  return /g711|pcmu|pcma/.test(format) ? RATES.g711 : RATES.pcm;
}

/** What a client's event does to the bill. */
export type ClientFact =
  | { readonly kind: "create"; readonly response: JsonObject; readonly eventId: string | undefined }
  | { readonly kind: "update"; readonly session: JsonObject; readonly eventId: string | undefined }
  | { readonly kind: "item"; readonly item: JsonObject; readonly eventId: string | undefined }
  | { readonly kind: "sound"; readonly bytes: number }
  | { readonly kind: "clear" };

/** Undefined for events that are only forwarded. */
export function readClientEvent(frame: Buffer): ClientFact | undefined {
  const members = topLevelMembers(frame, ["type", "audio"]);
  const type = members && textAt(frame, members.get("type"));
  switch (type) {
    case "input_audio_buffer.append": {
      const { start, end } = members?.get("audio") ?? { start: 0, end: 0 };
      return { kind: "sound", bytes: Math.floor((Math.max(0, end - start - 2) * 3) / 4) };
    }
    case "input_audio_buffer.clear":
      return { kind: "clear" };
    case "response.create":
    case "session.update":
    case "transcription_session.update":
    case "conversation.item.create": {
      const event = parseObject(frame.toString("utf8"));
      const eventId = text(event, "event_id");
      if (type === "response.create") return { kind: "create", response: object(event, "response") ?? {}, eventId };
      if (type === "conversation.item.create") return { kind: "item", item: object(event, "item") ?? {}, eventId };
      return { kind: "update", session: object(event, "session") ?? {}, eventId };
    }
    default:
      return undefined;
  }
}
