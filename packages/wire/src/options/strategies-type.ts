import { CHANNEL_STRATEGIES, isChannelStrategy, type ChannelStrategy, type StrategyTable } from "../core/strategies.ts";
import type { OptionType, Reading } from "./option-kinds.ts";
import { isObject, parseJson } from "./read-json.ts";

const EXAMPLE = 'strategies such as {"gpt-*":"latency"}';

/** JSON object of strategies, by model, prefix with `*` at its end, or `*`. */
export const strategiesType: OptionType<StrategyTable> = {
  kind: "json",
  read: (text): Reading<StrategyTable> => {
    const parsed = parseJson(text);
    if (!isObject(parsed)) return { isValid: false, messageKey: "option_json_invalid" };
    const table = Object.create(null) as Record<string, ChannelStrategy>;
    for (const [name, strategy] of Object.entries(parsed)) {
      if (name.trim() === "" || name.slice(0, -1).includes("*"))
        return broken(`has the name "${name}"; * may stand only at its end`);
      if (!isChannelStrategy(strategy)) return broken(`${name} must be one of ${CHANNEL_STRATEGIES.join(", ")}`);
      table[name] = strategy;
    }
    return { isValid: true, value: table, text };
  },
};

function broken(fault: string): Reading<never> {
  return { isValid: false, messageKey: "option_value_invalid", rule: `${EXAMPLE}; ${fault}` };
}
