import { CHANNEL_STATUS, hasForeignHeaders } from "@fairway/wire";
import { isObject, parseObject, type JsonObject } from "../../../../lib/text/json.ts";
import { readParamOverride } from "../../../channels/param-override.ts";
import { checkHeaderText } from "../../../channels/text-fields.ts";
import type { ImportReport } from "../../report.ts";
import type { ForeignRow } from "../../../../storage/foreign.ts";
import { Refusal } from "../../../../lib/refusal.ts";

/** JSON columns of a channel with the parts that this gateway supports; the report lists the rest. */
export interface ChannelTexts {
  readonly setting: string | null;
  readonly param_override: string | null;
  readonly header_override: string | null;
  readonly model_mapping: string;
  readonly status_code_mapping: string;
}

type Lose = (what: string) => void;

const NOT_IMPORTED = "this is not imported";

export function channelTexts(row: ForeignRow, name: string, report: ImportReport): ChannelTexts {
  const lose: Lose = (what) => report.remark(`channels ${what}`, name);
  const disabled = parseObject(row.text("channel_info"))?.["multi_key_status_list"];
  if (isObject(disabled) && Object.values(disabled).some((status) => status !== CHANNEL_STATUS.enabled))
    lose("had some of their keys switched off: here all of them are tried");
  if (row.text("system_prompt") !== "") lose(`add a system prompt: ${NOT_IMPORTED}`);
  for (const member of filledMembers(objectIn(row, "settings", lose))) lose(`have settings.${member}: ${NOT_IMPORTED}`);
  return {
    setting: settingText(row, lose),
    param_override: overrideText(row, lose),
    header_override: headerText(row, lose),
    model_mapping: mappingText(row, "model_mapping", lose),
    status_code_mapping: mappingText(row, "status_code_mapping", lose),
  };
}

/** Returns the proxy, and the order in which several keys are used. */
function settingText(row: ForeignRow, lose: Lose): string | null {
  const { proxy, ...others } = objectIn(row, "setting", lose);
  const setting: JsonObject = {};
  if (typeof proxy === "string" && URL.canParse(proxy)) setting["proxy"] = proxy;
  else if (isFilled(proxy)) lose(`have a proxy that is no address: ${NOT_IMPORTED}`);
  for (const member of filledMembers(others))
    lose(
      member.startsWith("system_prompt")
        ? `add a system prompt (setting.${member}): ${NOT_IMPORTED}`
        : `have setting.${member}: ${NOT_IMPORTED}`,
    );
  const mode = parseObject(row.text("channel_info"))?.["multi_key_mode"];
  if (mode === "polling" || mode === "random") setting["multi_key_mode"] = mode;
  return Object.keys(setting).length > 0 ? JSON.stringify(setting) : null;
}

function overrideText(row: ForeignRow, lose: Lose): string | null {
  const text = row.text("param_override");
  if (text.trim() === "") return null;
  const override = readParamOverride(text);
  if (!override) return lose("have a param_override that is not a JSON object: it is left out") ?? null;
  for (const operation of override.lost) lose(`have param_override.${operation}: ${NOT_IMPORTED}`);
  return Object.keys(override.members).length > 0 ? JSON.stringify(override.members) : null;
}

function headerText(row: ForeignRow, lose: Lose): string | null {
  const text = row.text("header_override").trim();
  if (text === "" || text === "{}") return null;
  try {
    if (!hasForeignHeaders(text)) return checkHeaderText(text);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  lose(`override headers in a form that is not known here: ${NOT_IMPORTED}`);
  return null;
}

/** Returns the mapping; one that is not a JSON object of texts never worked. */
function mappingText(row: ForeignRow, column: string, lose: Lose): string {
  const text = row.text(column).trim();
  if (text === "" || text === "{}") return "";
  const mapping = parseObject(text);
  const isUsable = mapping && Object.values(mapping).every((value) => ["string", "number"].includes(typeof value));
  if (isUsable) return text;
  lose(`have a ${column} that cannot be read: it is left out`);
  return "";
}

function objectIn(row: ForeignRow, column: string, lose: Lose): JsonObject {
  const text = row.text(column).trim();
  const object = parseObject(text);
  if (!object && text !== "" && text !== "null") lose(`have a ${column} that is not a JSON object: it is left out`);
  return object ?? {};
}

function filledMembers(object: JsonObject): string[] {
  return Object.keys(object).filter((name) => isFilled(object[name]));
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== "" && value !== 0;
}
