import { LOWEST_PRIORITY, splitList, type Channel, type ChannelInput } from "@fairway/wire";
import { parseObject } from "../../../lib/text/json.ts";

/** The state of the drawer while a channel is edited; numbers stay as typed. */
export interface ChannelDraft {
  type: string;
  name: string;
  key: string;
  /** Whether each line of the key creates a channel, or all lines are keys of one channel. */
  keysAs: "channels" | "one";
  base_url: string;
  other: string;
  openai_organization: string;
  models: string[];
  group: string[];
  tag: string;
  priority: string;
  weight: string;
  /** Empty = no limit. */
  max_input_tokens: string;
  cost_ratio: string;
  model_mapping: string;
  status_code_mapping: string;
  auto_ban: boolean;
  test_model: string;
}

/** OpenAI. */
const DEFAULT_TYPE = 1;
/** Vertex AI: its key is a document of many lines. */

export const EMPTY_CHANNEL: ChannelDraft = {
  type: String(DEFAULT_TYPE),
  name: "",
  key: "",
  keysAs: "channels",
  base_url: "",
  other: "",
  openai_organization: "",
  models: [],
  group: ["default"],
  tag: "",
  priority: "0",
  weight: "0",
  max_input_tokens: "",
  cost_ratio: "1",
  model_mapping: "",
  status_code_mapping: "",
  auto_ban: true,
  test_model: "",
};

export function toChannelDraft(channel: Channel): ChannelDraft {
  return {
    type: String(channel.type),
    name: channel.name,
    key: "",
    keysAs: "one",
    base_url: channel.base_url,
    other: channel.other,
    openai_organization: channel.openai_organization,
    models: splitList(channel.models),
    group: splitList(channel.group),
    tag: channel.tag ?? "",
    priority: String(channel.priority),
    weight: String(channel.weight),
    max_input_tokens: channel.max_input_tokens === 0 ? "" : String(channel.max_input_tokens),
    cost_ratio: String(channel.cost_ratio ?? 1),
    model_mapping: channel.model_mapping,
    status_code_mapping: channel.status_code_mapping,
    auto_ban: channel.auto_ban === 1,
    test_model: channel.test_model,
  };
}

export function toChannelInput(form: ChannelDraft): ChannelInput {
  return {
    type: Number(form.type),
    name: form.name.trim(),
    key: form.key.trim(),
    base_url: form.base_url.trim().replace(/\/+$/, ""),
    other: form.other.trim(),
    openai_organization: form.openai_organization.trim(),
    models: form.models.join(","),
    group: form.group.join(","),
    tag: form.tag.trim(),
    priority: Number(form.priority),
    weight: Math.max(0, Number(form.weight)),
    max_input_tokens: Number(form.max_input_tokens),
    cost_ratio: Number(form.cost_ratio),
    model_mapping: form.model_mapping.trim(),
    status_code_mapping: form.status_code_mapping.trim(),
    auto_ban: form.auto_ban ? 1 : 0,
    test_model: form.test_model.trim(),
  };
}

type ChannelProblemKey =
  | "nameAndKey"
  | "oneModel"
  | "badMapping"
  | "badStatusMapping"
  | "badPriority"
  | "badWeight"
  | "badMaxInput"
  | "badCostRatio"
  | "oneKey";

export type ChannelProblems = Partial<Record<keyof ChannelDraft, ChannelProblemKey>>;

function isObjectText(text: string): boolean {
  return text.trim() === "" || parseObject(text) !== undefined;
}

function isWhole(text: string, least: number): boolean {
  return /^-?\d+$/.test(text.trim()) && Number(text) >= least;
}

/** Validates the form; problems are keys of this feature's texts. */
export function checkChannel(form: ChannelDraft, isNew: boolean): ChannelProblems {
  const problems: ChannelProblems = {};
  if (isNew && form.name.trim() === "") problems.name = "nameAndKey";
  if (isNew && form.key.trim() === "") problems.key = "nameAndKey";
  if (form.models.length === 0) problems.models = "oneModel";
  if (!isObjectText(form.model_mapping)) problems.model_mapping = "badMapping";
  if (!isObjectText(form.status_code_mapping)) problems.status_code_mapping = "badStatusMapping";
  return { ...problems, ...checkNumbers(form) };
}

function checkNumbers(form: ChannelDraft): ChannelProblems {
  const problems: ChannelProblems = {};
  if (!isWhole(form.priority, LOWEST_PRIORITY)) problems.priority = "badPriority";
  if (!isWhole(form.weight, 0)) problems.weight = "badWeight";
  if (form.max_input_tokens.trim() !== "" && !isWhole(form.max_input_tokens, 0)) {
    problems.max_input_tokens = "badMaxInput";
  }
  if (!/^\d{1,6}(\.\d{1,9})?$/.test(form.cost_ratio.trim())) problems.cost_ratio = "badCostRatio";
  return problems;
}

/** Counts the keys of a form: one per line, unless the whole text is one file or one JSON document. */
export function countKeys(text: string, isFile = false): number {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  if (isFile || isObjectText(trimmed)) return 1;
  return trimmed.split("\n").filter((line) => line.trim() !== "").length;
}
