import { number, object, objects, text } from "../../core/read.ts";
import type { BridgeContext } from "../../core/bridge.ts";
import type { JsonObject } from "../../core/types.ts";
import {
  alwaysThinks,
  canThink,
  refusesBudgets,
  thinksAdaptively,
  thinksBetweenTools,
  type ClaudeModel,
} from "../parts/models/claude-models.ts";
import { claudeBudget, convertClaudeBudget, readEffort, type Effort } from "../parts/reasoning/effort.ts";
import { listThinkingBlocks } from "../parts/reasoning/thinking.ts";

const SMALLEST_BUDGET = 1024;

export interface Thinking {
  readonly thinking: JsonObject | undefined;
  readonly effort: string | undefined;
  /** True if the model will think: then it refuses sampling parameters. */
  readonly isOn: boolean;
}

const OFF: Thinking = { thinking: undefined, effort: undefined, isOn: false };

/** Visible thinking whose amount the model chooses. */
const OPEN: Thinking = { thinking: { type: "adaptive", display: "summarized" }, effort: undefined, isOn: true };

/** Maps a chat request's reasoning effort to this model's thinking parameters, within the token limit. */
export function thinkingFor(body: JsonObject, model: ClaudeModel, maxTokens: number, context: BridgeContext): Thinking {
  const own = object(body, "thinking");
  if (own !== undefined && text(own, "type") !== undefined)
    return ownThinking(own, body, model, { maxTokens, context });
  const asked = askedThinking(body);
  if (asked === undefined) return OFF;
  if (!canThink(model)) return dropped(context);
  const { effort, budget } = asked;
  if (!thinksAdaptively(model)) return budgeted(body, budget ?? claudeBudget(effort ?? "medium"), maxTokens, context);
  return effort === undefined && budget === undefined ? OPEN : adaptive(effort ?? "high", model, context);
}

interface Limits {
  readonly maxTokens: number;
  readonly context: BridgeContext;
}

/** Reads thinking in Anthropic's own members; those of another model generation are converted to the model's. */
function ownThinking(own: JsonObject, body: JsonObject, model: ClaudeModel, { maxTokens, context }: Limits): Thinking {
  const budget = number(own, "budget_tokens");
  if (own["type"] === "enabled" && refusesBudgets(model))
    return budget === undefined ? OPEN : adaptive(convertClaudeBudget(budget), model, context);
  if (own["type"] === "adaptive" && !thinksAdaptively(model)) {
    if (!canThink(model)) return dropped(context);
    return budgeted(body, claudeBudget(askedEffort(body) ?? "medium"), maxTokens, context);
  }
  if (own["type"] === "disabled" && thinksAdaptively(model)) return adaptive("none", model, context);
  return { thinking: own, effort: undefined, isOn: own["type"] !== "disabled" };
}

export interface AskedThinking {
  readonly effort: Effort | undefined;
  /** The budget in tokens. */
  readonly budget: number | undefined;
}

/** Returns the requested thinking of a chat request; without budget and effort if the client only wants to see it. */
export function askedThinking(body: JsonObject): AskedThinking | undefined {
  const effort = askedEffort(body);
  const budget = number(body, "fw_thinking_budget") ?? number(object(body, "reasoning"), "max_tokens");
  const isAsked = effort !== undefined || budget !== undefined || body["fw_show_thinking"] === true;
  return isAsked ? { effort, budget } : undefined;
}

/** Returns the requested effort as a chat client or OpenRouter writes it, or as another bridge carries it. */
export function askedEffort(body: JsonObject): Effort | undefined {
  return readEffort(body["reasoning_effort"] ?? object(body, "reasoning")?.["effort"] ?? body["fw_reasoning"]);
}

function dropped(context: BridgeContext): Thinking {
  context.dropped("reasoning_effort");
  return OFF;
}

/** Builds thinking by effort. An effort that the model does not know becomes the nearest one, which is reported. */
function adaptive(asked: Effort, model: ClaudeModel, context: BridgeContext): Thinking {
  if (asked === "none") {
    if (alwaysThinks(model)) {
      context.dropped("reasoning_effort");
      return { thinking: undefined, effort: "low", isOn: true };
    }
    const type = thinksBetweenTools(model) ? "between_tools" : "disabled";
    return { thinking: { type }, effort: undefined, isOn: false };
  }
  const effort = effortName(asked, model);
  if (effort !== asked) context.dropped("reasoning_effort");
  return { thinking: { type: "adaptive", display: "summarized" }, effort, isOn: true };
}

function effortName(asked: Effort, model: ClaudeModel): string {
  if (asked === "minimal") return "low";
  return asked === "xhigh" && model.version < 407 ? "max" : asked;
}

/** Builds thinking by budget, which must be below the limit of the whole answer and at least the smallest budget. */
function budgeted(body: JsonObject, wanted: number, maxTokens: number, context: BridgeContext): Thinking {
  if (wanted === 0) return OFF;
  const tokens = Math.min(Math.max(SMALLEST_BUDGET, wanted), maxTokens - 1);
  if (tokens < SMALLEST_BUDGET || lacksThinking(body)) return dropped(context);
  return { thinking: { type: "enabled", budget_tokens: tokens }, effort: undefined, isOn: true };
}

/**
 * True if a running tool loop prevents thinking: the API refuses it if the turn with the calls has no thinking block.
 */
function lacksThinking(body: JsonObject): boolean {
  const messages = objects(body, "messages");
  const lastUser = messages.findLastIndex((message) => message["role"] === "user");
  const calls = messages.slice(lastUser + 1).filter((message) => objects(message, "tool_calls").length > 0);
  return calls.some((message) => listThinkingBlocks(message).length === 0);
}
