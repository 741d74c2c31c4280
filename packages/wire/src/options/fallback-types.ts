import { readFallbackTable, type FallbackTable } from "../core/fallbacks.ts";
import type { OptionType, Reading } from "./option-kinds.ts";
import { isObject, parseJson } from "./read-json.ts";

function broken(rule: string): Reading<never> {
  return { isValid: false, messageKey: "option_value_invalid", rule };
}

/** JSON object of lists of models, by model, prefix with `*` at its end, or `*`. */
export const fallbacksType: OptionType<FallbackTable> = {
  kind: "json",
  read: (text) => {
    const parsed = parseJson(text);
    if (!isObject(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    const read = readFallbackTable(parsed);
    return "fault" in read ? broken(explainFault(read.fault)) : { isValid: true, value: read.value, text };
  },
};

/** The same objects by the name of a group. */
export const groupFallbacksType: OptionType<Readonly<Record<string, FallbackTable>>> = {
  kind: "json",
  read: (text) => {
    const parsed = parseJson(text);
    if (!isObject(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    const groups = Object.create(null) as Record<string, FallbackTable>;
    for (const [group, table] of Object.entries(parsed)) {
      const read = readFallbackTable(table);
      if ("fault" in read) return broken(explainFault(`${group}: ${read.fault}`));
      groups[group] = read.value;
    }
    return { isValid: true, value: groups, text };
  },
};

function explainFault(fault: string): string {
  return `lists of models such as {"model-a":["model-b"]}; ${fault}`;
}
