import { quotaAtMost, type Quota } from "../billing/money/quota.ts";
import { ratio, reduceFraction, roundHalfUp, times, ZERO_RATIO, type Ratio } from "../billing/money/ratio.ts";
import { invalidRequest, AppError } from "../lib/app-error.ts";
import { isSet } from "../dialects/core/read.ts";
import type { JsonValue } from "../dialects/core/types.ts";
import type { Snapshot } from "../snapshot/types.ts";

/** The memory of a container whose creation names none. */
const USUAL_MEMORY = "1g";
const MEMORY = /^\d{1,4}g$/;
const PER_THOUSAND = reduceFraction(1n, 1_000n);

/** Returns the memory of a new container, which decides the price. */
export function readMemory(value: JsonValue | undefined): string {
  if (!isSet(value)) return USUAL_MEMORY;
  if (typeof value !== "string" || !MEMORY.test(value))
    throw invalidRequest("memory_limit", 'memory_limit is a size such as "4g".');
  return value;
}

/** Returns the name of a container's price in *ToolPrice*, by which logs and budgets know it too. */
export function nameContainer(memory: string): string {
  return `container_${memory}`;
}

/** Returns US dollars for one container. Throws `model_price_error` if there is no price for its size. */
export function findContainerPrice(memory: string, { options, prices }: Snapshot): Ratio {
  const { toolPrice } = prices.surcharges;
  // A container that a tool creates by itself costs the same.
  const tool = memory === USUAL_MEMORY ? "code_interpreter" : `code_interpreter_${memory}`;
  const price = toolPrice(nameContainer(memory), "") ?? toolPrice(tool, "");
  if (price) return times(price, PER_THOUSAND);
  if (options.SelfUseModeEnabled) return ZERO_RATIO;
  throw new AppError("model_price_error", { param: "memory_limit", values: { model: nameContainer(memory) } });
}

/** Returns the charge for a container in a group. */
export function priceContainer(dollars: Ratio, group: string, { options, prices }: Snapshot): Quota {
  const { num, den } = times(times(dollars, ratio(options.QuotaPerUnit)), ratio(prices.groupRatio(group)));
  return quotaAtMost(roundHalfUp(num, den));
}
