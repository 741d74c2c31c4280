import { number, object, text } from "./read.ts";
import type { JsonObject } from "./types.ts";

/** True if a request of any protocol explicitly switches reasoning off; without a setting, the model decides. */
export function turnsThinkingOff(body: JsonObject): boolean {
  const config = object(body, "generationConfig") ?? object(body, "generation_config");
  const thinking = object(config, "thinkingConfig") ?? object(config, "thinking_config");
  const reasoning = object(body, "reasoning");
  return (
    text(object(body, "thinking"), "type") === "disabled" ||
    body["enable_thinking"] === false ||
    body["reasoning_effort"] === "none" ||
    text(reasoning, "effort") === "none" ||
    reasoning?.["enabled"] === false ||
    (number(thinking, "thinkingBudget") ?? number(thinking, "thinking_budget")) === 0
  );
}
