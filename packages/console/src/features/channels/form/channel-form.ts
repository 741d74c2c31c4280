import {
  CHANNEL_FIELDS,
  listChannelFields,
  splitList,
  type Channel,
  type ChannelField,
  type ChannelInput,
} from "@fairway/wire";
import { parseObject } from "../../../lib/text/json.ts";
import { findWrongRoom, NO_ROOM_LIMITS, readBatchRoom, writeBatchRoom, type BatchRoom } from "./batch-room.ts";
import { NO_MARKS, readCacheChoice, writeCacheChoice, type CacheChoice } from "./cache-choice.ts";

const FIELDS = listChannelFields("form");
type FieldName = (typeof FIELDS)[number];
type Declaration<F extends FieldName> = (typeof CHANNEL_FIELDS)[F];
/** The fields that the form edits as numbers with texts of their own. */
export type NumberFieldName = {
  [F in FieldName]: Declaration<F>["form"] extends { readonly label: string } ? F : never;
}[FieldName];
type DraftValue<Kind> = Kind extends "list" ? string[] : Kind extends "flag" ? boolean : string;
type FieldDraft = { -readonly [F in FieldName]: DraftValue<Declaration<F>["kind"]> };

/** The state of the drawer while a channel is edited; numbers stay as typed. */
export interface ChannelDraft extends FieldDraft, CacheChoice, BatchRoom {
  /** The setting as it was read; the form changes some of its members. */
  setting: string;
  key: string;
  /** Whether each line of the key creates a channel, or all lines are keys of one channel. */
  keysAs: "channels" | "one";
}

/** Returns the values of the form for those of a channel; absent ones are initial. */
function toDraft(values: Partial<Channel>): FieldDraft {
  const drafts = FIELDS.map((name) => {
    const field: ChannelField = CHANNEL_FIELDS[name];
    return [name, toDraftValue(field, values[name] ?? field.initial)] as const;
  });
  return Object.fromEntries(drafts) as unknown as FieldDraft;
}

function toDraftValue(
  { kind, initial, form }: ChannelField,
  value: string | number,
): DraftValue<string> | string[] | boolean {
  if (kind === "list") return splitList(String(value));
  if (kind === "flag") return value === 1;
  return form?.isBlankInitially && value === initial ? "" : String(value);
}

export const EMPTY_CHANNEL: ChannelDraft = {
  ...toDraft({}),
  ...NO_MARKS,
  ...NO_ROOM_LIMITS,
  setting: "",
  key: "",
  keysAs: "channels",
};

export function toChannelDraft(channel: Channel): ChannelDraft {
  const setting = channel.setting ?? "";
  return {
    ...toDraft(channel),
    ...readCacheChoice(setting),
    ...readBatchRoom(setting),
    setting,
    key: "",
    keysAs: "one",
  };
}

export function toChannelInput(form: ChannelDraft): ChannelInput {
  const fields = FIELDS.map((name) => [name, toInputValue(CHANNEL_FIELDS[name], form[name])] as const);
  const setting = writeBatchRoom(writeCacheChoice(form.setting, form) ?? form.setting, form);
  return {
    ...Object.fromEntries(fields),
    ...(setting !== form.setting && { setting }),
    key: form.key.trim(),
    base_url: form.base_url.trim().replace(/\/+$/, ""),
  };
}

function toInputValue({ kind, initial }: ChannelField, draft: string | string[] | boolean): string | number {
  if (typeof draft === "boolean") return draft ? 1 : 0;
  if (typeof draft !== "string") return draft.join(",");
  const text = draft.trim();
  if (kind !== "type" && !isNumeric(kind)) return text;
  return text === "" ? initial : Number(text);
}

type ProblemKey<F extends FieldName> = Declaration<F>["form"] extends { readonly problem: infer Key } ? Key : never;
type ChannelProblemKey = "nameAndKey" | "oneModel" | "badBatchRoom" | { [F in FieldName]: ProblemKey<F> }[FieldName];

export type ChannelProblems = Partial<Record<keyof ChannelDraft, ChannelProblemKey>>;

function isObjectText(text: string): boolean {
  return text.trim() === "" || parseObject(text) !== undefined;
}

const NUMBERS = { whole: /^-?\d+$/, decimal: /^\d{1,9}(\.\d{1,9})?$/ } as const;

function isNumeric(kind: ChannelField["kind"]): kind is keyof typeof NUMBERS {
  return kind in NUMBERS;
}

/** Returns true if the text of a field is blank where that is allowed, or one that calls accept. */
function isValid({ kind, least = -Infinity, most = Infinity, form }: ChannelField, text: string): boolean {
  if (kind === "object") return isObjectText(text);
  const trimmed = text.trim();
  if (!isNumeric(kind) || (trimmed === "" && form?.isBlankInitially)) return true;
  const number = Number(trimmed);
  return NUMBERS[kind].test(trimmed) && number >= (form?.least ?? least) && number <= most;
}

/** Validates the form; problems are keys of this feature's texts. */
export function checkChannel(form: ChannelDraft, isNew: boolean): ChannelProblems {
  const problems: ChannelProblems = {};
  if (isNew && form.name.trim() === "") problems.name = "nameAndKey";
  if (isNew && form.key.trim() === "") problems.key = "nameAndKey";
  if (form.models.length === 0) problems.models = "oneModel";
  for (const name of findWrongRoom(form)) problems[name] = "badBatchRoom";
  return { ...problems, ...checkFields(form) };
}

function checkFields(form: ChannelDraft): ChannelProblems {
  const wrong = FIELDS.flatMap((name) => {
    const field: ChannelField = CHANNEL_FIELDS[name];
    const draft = form[name];
    const isWrong = field.form?.problem !== undefined && typeof draft === "string" && !isValid(field, draft);
    return isWrong ? [[name, field.form.problem] as const] : [];
  });
  return Object.fromEntries(wrong) as ChannelProblems;
}

/** Counts the keys of a form: one per line, unless the whole text is one file or one JSON document. */
export function countKeys(text: string, isFile = false): number {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  if (isFile || isObjectText(trimmed)) return 1;
  return trimmed.split("\n").filter((line) => line.trim() !== "").length;
}
