import {
  WEBHOOK_FORMATS,
  type EventSeverity,
  type Webhook,
  type WebhookCreateBody,
  type WebhookFormat,
  type WebhookLanguage,
  type WebhookUpdateBody,
} from "@fairway/wire";
import { FORMAT_FIELDS } from "./formats.ts";
import { checkQuiet, toQuiet, toQuietDraft, type QuietDraft } from "./quiet-form.ts";

/** Names are those of the API, so that its refusals appear at their fields. */
export interface EndpointDraft extends QuietDraft {
  readonly name: string;
  readonly format: WebhookFormat;
  /** "" leaves the stored address as it is, like `secret` and `chat_id`. */
  readonly url: string;
  readonly secret: string;
  readonly chat_id: string;
  readonly hasAllTypes: boolean;
  readonly types: readonly string[];
  readonly min_severity: EventSeverity;
  readonly language: WebhookLanguage;
  readonly group_seconds: string;
  readonly ordered: boolean;
}

/** The server's default for formats that people read. */
const USUAL_SECONDS = "30";
const MAX_SECONDS = 3_600;

export function newEndpoint(language: WebhookLanguage, zone: string): EndpointDraft {
  return {
    name: "",
    format: "standard",
    url: "",
    secret: "",
    chat_id: "",
    hasAllTypes: true,
    types: [],
    min_severity: "info",
    language,
    group_seconds: USUAL_SECONDS,
    ordered: false,
    ...toQuietDraft(null, zone),
  };
}

/** The zone is that of the reader, for an endpoint without quiet hours. */
export function toEndpointDraft(endpoint: Webhook, zone: string): EndpointDraft {
  const { name, format, types, min_severity, language, group_seconds, ordered, quiet } = endpoint;
  return {
    name,
    format,
    url: "",
    secret: "",
    chat_id: "",
    hasAllTypes: types.length === 0,
    types,
    min_severity,
    language,
    group_seconds: String(group_seconds),
    ordered,
    ...toQuietDraft(quiet, zone),
  };
}

function toRest(draft: EndpointDraft) {
  const { isText, hasSecret, hasChat } = FORMAT_FIELDS[draft.format];
  return {
    name: draft.name.trim(),
    types: draft.hasAllTypes ? [] : [...draft.types],
    min_severity: draft.min_severity,
    language: draft.language,
    ordered: draft.ordered,
    quiet: toQuiet(draft),
    ...(isText && { group_seconds: Number(draft.group_seconds) }),
    ...(hasSecret && draft.secret !== "" && { secret: draft.secret }),
    ...(hasChat && draft.chat_id.trim() !== "" && { chat_id: draft.chat_id.trim() }),
  };
}

export function toNewEndpoint(draft: EndpointDraft): WebhookCreateBody {
  return { ...toRest(draft), format: draft.format, url: draft.url.trim() };
}

export function toEndpointChange(draft: EndpointDraft): WebhookUpdateBody {
  const url = draft.url.trim();
  return { ...toRest(draft), ...(url !== "" && { url }) };
}

type ProblemKey =
  | "nameMissing"
  | "urlMissing"
  | "chatMissing"
  | "typesMissing"
  | "secondsWrong"
  | "zoneMissing"
  | "daysMissing";
type Problems = Partial<Record<keyof EndpointDraft, ProblemKey>>;

/** Checks the form; problems are keys of this feature's texts. */
export function checkEndpoint(draft: EndpointDraft, isNew: boolean): Problems {
  const { isText, hasChat } = FORMAT_FIELDS[draft.format];
  return {
    ...(draft.name.trim() === "" && { name: "nameMissing" as const }),
    ...(isNew && draft.url.trim() === "" && { url: "urlMissing" as const }),
    ...(isNew && hasChat && draft.chat_id.trim() === "" && { chat_id: "chatMissing" as const }),
    ...(!draft.hasAllTypes && draft.types.length === 0 && { types: "typesMissing" as const }),
    ...(isText && !isSeconds(draft.group_seconds) && { group_seconds: "secondsWrong" as const }),
    ...checkQuiet(draft),
  };
}

function isSeconds(text: string): boolean {
  const seconds = Number(text);
  return text.trim() !== "" && Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_SECONDS;
}

/** Returns the format of a choice; undefined for a text that is none. */
export function findFormat(text: string): WebhookFormat | undefined {
  return WEBHOOK_FORMATS.find((format) => format === text);
}
