import type { OptionType, Reading } from "./option-kinds.ts";
import { isObject, parseObject } from "./read-json.ts";

/** Exceptions of an operator to the built-in rules of a host. */
export interface FilterOverride {
  /** Names of betas that are passed through. */
  readonly forward?: readonly string[];
  /** Names of betas that are removed. */
  readonly drop?: readonly string[];
  /** Names of the host, by the names of betas that they replace. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Paths of members that are removed, or passed through after all; `tools[].` is the prefix for members of a tool. */
  readonly members?: { readonly drop?: readonly string[]; readonly keep?: readonly string[] };
}

/** Overrides by the name of a host or the id of a channel. */
export type FilterOverrides = Readonly<Record<string, FilterOverride>>;

const BETA = /^[\w.-]{1,128}$/;
const PATH = /^(?:tools\[\]\.)?[a-z]\w*(?:\.[a-z]\w*)?$/;
/** Members that every request needs. */
const NEEDED =
  /^(?:model|messages|system|max_tokens|stream|thinking|tools|tool_choice|tools\[\]\.(?:type|name|description|input_schema))$/;

/** JSON object of overrides, by host or channel. */
export const filterOverridesType: OptionType<FilterOverrides> = {
  kind: "json",
  read: (text) => {
    const parsed = parseObject(text);
    if (parsed === undefined) return { isValid: false, messageKey: "option_json_invalid" };
    for (const [name, value] of Object.entries(parsed)) {
      const fault = findFault(value);
      if (fault !== undefined) return broken(`filters of a host; ${fault} for ${name}`);
    }
    return { isValid: true, value: parsed as FilterOverrides, text };
  },
};

function findFault(value: unknown): string | undefined {
  if (!isObject(value)) return "an object is needed";
  const unknown = Object.keys(value).find((name) => !["forward", "drop", "rename", "members"].includes(name));
  if (unknown !== undefined) return `${unknown} is not known`;
  const { forward = [], drop = [], rename = {}, members = {} } = value;
  if (!areTexts(forward, BETA) || !areTexts(drop, BETA)) return "forward and drop are lists of betas";
  if (!isRenaming(rename)) return "rename is an object of betas";
  return isObject(members) ? findMembersFault(members) : "members is an object of drop and keep";
}

function isRenaming(value: unknown): boolean {
  return isObject(value) && areTexts(Object.keys(value), BETA) && areTexts(Object.values(value), BETA);
}

function findMembersFault(members: Readonly<Record<string, unknown>>): string | undefined {
  const unknown = Object.keys(members).find((name) => name !== "drop" && name !== "keep");
  if (unknown !== undefined) return `members.${unknown} is not known`;
  const { drop = [], keep = [] } = members;
  if (!areTexts(drop, PATH) || !areTexts(keep, PATH)) return "members are lists of paths such as tools[].defer_loading";
  const needed = drop.find((path) => NEEDED.test(path));
  return needed === undefined ? undefined : `${needed} is never left out`;
}

function areTexts(value: unknown, form: RegExp): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string" && form.test(item));
}

function broken(rule: string): Reading<never> {
  return { isValid: false, messageKey: "option_value_invalid", rule };
}
