import type { ChannelInput, MessageValues } from "@fairway/wire";
import { isObject, parseObject, type JsonObject } from "../../lib/text/json.ts";
import { restoredText } from "../../lib/text/secret-members.ts";
import { hasOperations } from "./param-override.ts";
import { Refusal } from "../../lib/refusal.ts";
import { findHeaderFault } from "../../providers/core/channel-headers.ts";
import {
  SECRET_COLUMNS,
  secretPath,
  type SecretColumn,
  type SecretTexts,
} from "../../storage/secrets/channel-texts.ts";
import { checkLimits } from "../limits-field.ts";
import { settingFault, type StoredSetting } from "./setting-members.ts";

/**
 * Returns the form with hints replaced by the stored secrets; throws `invalid_field` for a hint without a stored
 * secret.
 */
export function withSecrets(input: ChannelInput, stored: SecretTexts | undefined): ChannelInput {
  const restored: Partial<Record<SecretColumn, string>> = {};
  for (const column of SECRET_COLUMNS) {
    const text = input[column];
    if (text === undefined) continue;
    const found = restoredText(text, stored?.[column], secretPath(column));
    if ("unknown" in found)
      throw invalid(`${column}.${found.unknown}`, "is a hint, not the stored value: write the value itself");
    restored[column] = found.text;
  }
  return { ...input, ...restored };
}

export function checkHeaderText(text: string): string | null {
  const checked = checkObjectText("header_override", text);
  checkHeaders("header_override", parseObject(checked ?? "") ?? {});
  return checked;
}

function checkHeaders(field: string, headers: JsonObject): void {
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string") throw invalid(`${field}.${name}`, "must be text");
    const fault = findHeaderFault(name, value);
    if (fault !== undefined) throw invalid(`${field}.${name}`, fault);
  }
}

/** Checks the settings for the relay; `stored` is the channel that they change or are copied from. */
export function checkSetting(text: string, type: number, stored?: StoredSetting): string | null {
  const checked = checkObjectText("setting", text);
  const setting = parseObject(checked ?? "") ?? {};
  const fault = settingFault(setting, type, stored);
  if (fault) throw invalid(`setting.${fault.member.slice(0, 60)}`, fault.reason);
  const { limits, key_limits, headers } = setting;
  if (isGiven(limits)) checkLimits(limits, "setting.limits");
  if (isGiven(key_limits)) checkLimits(key_limits, "setting.key_limits");
  if (isObject(headers)) checkHeaders("setting.headers", headers);
  return checked;
}

function checkObjectText(field: string, text: string): string | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  if (!parseObject(trimmed)) throw invalid(field, "must be a JSON object");
  return trimmed;
}

/** Checks members that replace those of the body; a list of operations would be sent as one of them. */
export function checkParamOverride(text: string): string | null {
  const checked = checkObjectText("param_override", text);
  if (checked !== null && hasOperations(parseObject(checked) ?? {}))
    throw invalid(
      "param_override",
      'has a list of operations, which are not carried out: write the members that are set, such as {"temperature": 0.1}',
    );
  return checked;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function invalid(field: string, reason: string): Refusal {
  const values: MessageValues = { field, reason };
  return new Refusal("invalid_field", { field, values });
}
