import { LOG_TYPE, type ExplainedPrice, type PriceInput } from "@fairway/wire";
import type { JsonObject } from "../../lib/text/json.ts";
import { readDeposit } from "../../batches/results/log-detail.ts";
import type { CallTrace } from "../../relay/trace/call-trace.ts";
import type { StoredLog } from "./view.ts";

/** Members of `other`: a count of tokens with the ratio that it is multiplied by. */
const PARTS = [
  ["cache_tokens", "cache_ratio"],
  ["cache_creation_tokens", "cache_creation_ratio"],
  ["image_tokens", "image_ratio"],
  ["audio_input", "audio_ratio"],
] as const;

/** Returns the formula of a charge with every input, as the row recorded them. */
export function explainPrice(row: StoredLog, other: JsonObject, trace: CallTrace | undefined): ExplainedPrice {
  const sums = { reserved: trace?.r ?? readDeposit(other) ?? -1, charged: row.quota };
  if (row.type !== LOG_TYPE.consume || typeof other["group_ratio"] !== "number")
    return { kind: "none", formula: "", inputs: [], ...sums };
  const source = trace?.p ?? "the price at that time";
  const cost = isByCall(other) ? byCall(other, source) : byTokens(row, other, source);
  const isRepeat = other["cache_hit"] === true;
  return isRepeat ? { ...cost, formula: `(${cost.formula}) * cache_hit_part`, ...sums } : { ...cost, ...sums };
}

type Cost = Pick<ExplainedPrice, "kind" | "formula" | "inputs">;

function isByCall(other: JsonObject): boolean {
  return readNumber(other["model_price"], -1) >= 0;
}

function byCall(other: JsonObject, source: string): Cost {
  const inputs: PriceInput[] = [
    { name: "model_price", value: readNumber(other["model_price"]), source },
    { name: "group_ratio", value: readNumber(other["group_ratio"]), source: "option GroupRatio" },
  ];
  return { kind: "call", formula: "model_price * QuotaPerUnit * group_ratio", inputs };
}

function byTokens(row: StoredLog, other: JsonObject, source: string): Cost {
  const counted = countedBy(other);
  const ratio = (name: string): PriceInput => ({ name, value: readNumber(other[name]), source });
  const inputs: PriceInput[] = [
    { name: "input_tokens", value: row.prompt_tokens, source: counted },
    { name: "output_tokens", value: row.completion_tokens, source: counted },
    ratio("model_ratio"),
    ratio("completion_ratio"),
    { name: "group_ratio", value: readNumber(other["group_ratio"]), source: "option GroupRatio" },
  ];
  const special: string[] = [];
  const terms: string[] = [];
  for (const [count, factor] of PARTS) {
    if (readNumber(other[count]) <= 0) continue;
    inputs.push({ name: count, value: readNumber(other[count]), source: counted }, ratio(factor));
    special.push(count);
    terms.push(`${count} * ${factor}`);
  }
  const plain = special.length === 0 ? "input_tokens" : `(${["input_tokens", ...special].join(" - ")})`;
  const sum = [plain, ...terms, outputTerm(other, inputs, source)].join(" + ");
  return { kind: "tokens", formula: `(${sum}) * model_ratio * group_ratio`, inputs };
}

/** Returns the term of the output; spoken output has its own ratio. */
function outputTerm(other: JsonObject, inputs: PriceInput[], source: string): string {
  const spoken = readNumber(other["audio_output"]);
  if (spoken <= 0) return "output_tokens * completion_ratio";
  inputs.push(
    { name: "audio_output", value: spoken, source: countedBy(other) },
    { name: "audio_completion_ratio", value: readNumber(other["audio_completion_ratio"]), source },
  );
  return "(output_tokens - audio_output) * completion_ratio + audio_output * audio_ratio * audio_completion_ratio";
}

/** Returns whether the upstream or the gateway counted the tokens. */
function countedBy(other: JsonObject): string {
  const source = other["usage_source"];
  return typeof source === "string" ? source : "upstream";
}

function readNumber(value: unknown, fallback = 0): number {
  return typeof value === "number" && Number.isFinite(value) ? value : fallback;
}
