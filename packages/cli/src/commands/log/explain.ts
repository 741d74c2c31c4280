import {
  budgetSubject,
  keyNumber,
  logExplain,
  logExplainSelf,
  logList,
  ROLE,
  selfGet,
  type Client,
  type ExplainedAttempt,
  type ExplainedBudget,
  type ExplainedCandidate,
  type ExplainedDraw,
  type LogExplanation,
  type PriceInput,
  type UsageDoubt,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain } from "../../print/columns.ts";
import { isForPeople, printOne, type Output, type Shape } from "../../print/output.ts";
import { moneyText } from "../../print/sheet.ts";
import { table, type Column } from "../../print/table.ts";
import { loadWidths } from "../../print/width.ts";
import { describePeriod } from "../../print/period.ts";

const NAMED: Shape<LogExplanation> = {
  kind: "LogExplanation",
  columns: [plain("REQUEST", "request_id"), plain("OUTCOME", "outcome"), number("STATUS", "status")],
  name: ({ request_id: request }) => `request/${request}`,
};

const ATTEMPTS: readonly Column<ExplainedAttempt>[] = [
  { title: "CHANNEL", value: ({ channel, channel_name: name }) => (channel > 0 ? `${channel} ${name}` : "-") },
  { title: "KEY", isNumber: true, value: ({ key_index: index }) => (index < 0 ? "-" : String(keyNumber(index))) },
  number("START MS", "start_ms"),
  number("FIRST MS", "first_byte_ms"),
  number("MS", "duration_ms"),
  { title: "STATUS", value: ({ status }) => (status > 0 ? String(status) : "no answer") },
  plain("CODE", "code"),
  { title: "THEN", value: ({ next }) => (next === "" ? "delivered" : next.replaceAll("_", " ")) },
];

const SKIPPED: readonly Column<ExplainedCandidate>[] = [
  { title: "SKIPPED", value: ({ channel, channel_name: name }) => `${channel} ${name}` },
  plain("GROUP", "group"),
  number("PRIORITY", "priority"),
  { title: "WHY", value: ({ skipped }) => (skipped ?? "").replaceAll("_", " ") },
  { title: "RESTS MS", value: ({ wait_ms: wait }) => (wait === undefined ? "" : String(wait)) },
];

/** Returns what the draws of a strategy compared; nothing for draws by weight. */
function formatDraws({ draws = [], route }: LogExplanation): Record<string, string> {
  return draws.length === 0 ? {} : { draws: draws.map((draw) => formatDraw(draw, route)).join("; ") };
}

/** Returns what one draw compared. */
function formatDraw({ taken, taken_measure: measure, other, other_measure: otherMeasure }: ExplainedDraw, by: string) {
  const unit = by === "latency" ? " ms" : "";
  const text = (channel: number, value: number | null = null) =>
    `${channel} (${value === null ? "not known" : `${value}${unit}`})`;
  return other === undefined ? text(taken, measure) : `${text(taken, measure)} before ${text(other, otherMeasure)}`;
}

/** Explains why one call failed or succeeded and which channel it used, as recorded when it ran. */
export async function explainLog(client: Client, request: string, output: Output): Promise<void> {
  const found = await loadExplanation(client, request);
  if (!isForPeople(output)) return printOne(output, found, { shape: NAMED });
  await printOne(output, found, { words: formatExplanation(found, await output.quotaPerUnit()) });
  if (output.columns !== undefined) return;
  const { attempts, candidates } = found;
  const skipped = candidates.filter(({ is_tried: isTried }) => !isTried);
  await loadWidths();
  if (attempts.length > 0) output.out(`\n${table(ATTEMPTS, attempts, output.width, output.hasTitles)}`);
  if (skipped.length > 0) output.out(`\n${table(SKIPPED, skipped, output.width, output.hasTitles)}`);
  if (!found.is_recorded) output.note("The route of this call was not recorded.");
}

/** Returns the explanation as lines of text. */
export function explainLines(found: LogExplanation, width: number, quotaPerUnit: number): string[] {
  const { attempts, candidates } = found;
  const skipped = candidates.filter(({ is_tried: isTried }) => !isTried);
  return [
    ...Object.entries(formatExplanation(found, quotaPerUnit)).map(([name, value]) => `${name.padEnd(13)} ${value}`),
    ...(attempts.length > 0 ? ["", ...table(ATTEMPTS, attempts, width).split("\n")] : []),
    ...(skipped.length > 0 ? ["", ...table(SKIPPED, skipped, width).split("\n")] : []),
    ...(found.is_recorded ? [] : ["", "The route of this call was not recorded."]),
  ];
}

/** Administrators see channels, everybody else their own calls without them. */
async function loadExplanation(client: Client, request: string): Promise<LogExplanation> {
  const { data: self } = await client.call(selfGet, {});
  if (self.role < ROLE.admin) return (await client.call(logExplainSelf, { params: { request } })).data;
  const { data } = await client.call(logList, { query: { request_id: request, page_size: 1 } });
  const [row] = data.items;
  if (!row)
    throw new CliError(
      `the log has no row of the request ${request}`,
      EXIT.notFound,
      "its id is the header X-Request-Id of the answer, and part of the error message",
    );
  return (await client.call(logExplain, { params: { id: row.id } })).data;
}

function inputText({ name, value, source }: PriceInput): string {
  return `${name} ${value} (${source})`;
}

function guardrailText({ guardrail, guardrail_reason: reason }: LogExplanation): string {
  return reason === "" ? guardrail : `${guardrail}: ${reason}`;
}

function budgetText(budget: ExplainedBudget, quotaPerUnit: number): string {
  const { id, scope, quota_limit: limit } = budget;
  return `budget ${id} of ${scope} ${budgetSubject(budget)}: ${moneyText(limit, quotaPerUnit)} ${describePeriod(budget)}`;
}

/** Returns what upstreams said about failed attempts; owners of calls do not see it. */
function said({ attempts }: LogExplanation): Record<string, string> {
  const lines = attempts.flatMap(({ upstream_message: message }, at) =>
    message === undefined ? [] : [attempts.length > 1 ? `attempt ${at + 1}: ${message}` : message],
  );
  return lines.length === 0 ? {} : { "upstream said": lines.join("; ") };
}

function doubtText({ rule, reported }: UsageDoubt): string {
  return reported === "" ? rule : `${rule} (the upstream reported ${reported})`;
}

/** Returns the models in order: those that were left, those that were left out, and the last one. */
function fallbackText({ hops }: NonNullable<LogExplanation["fallback"]>, last: string): string {
  const before = hops.map(({ model, outcome, is_skipped: isSkipped }) =>
    isSkipped ? `${model} (left out: ${outcome})` : `${model} (${outcome})`,
  );
  return [...before, last].join(", ");
}

function promptCacheText(
  { marks, ttl, why, saved }: NonNullable<LogExplanation["prompt_cache"]>,
  money: (quota: number) => string,
): string {
  const change = saved < 0 ? `cost ${money(-saved)} more` : `saved ${money(saved)}`;
  return `${marks} marks for ${ttl} (${why}), ${change}`;
}

function cacheTexts(
  { cache, prompt_cache: marked }: LogExplanation,
  money: (quota: number) => string,
): Record<string, string> {
  return {
    ...(marked && { "prompt cache": promptCacheText(marked, money) }),
    ...(cache.is_hit && { cache: `answered from the response cache, ${cache.age_seconds} s old` }),
  };
}

function formatExplanation(found: LogExplanation, quotaPerUnit: number): Record<string, string> {
  const { price } = found;
  const money = (quota: number) => moneyText(quota, quotaPerUnit);
  return {
    summary: found.summary,
    outcome: [...new Set([found.outcome, found.status > 0 ? String(found.status) : "", found.code])]
      .filter((word) => word !== "")
      .join(" "),
    model: found.model,
    ...(found.fallback && { models: fallbackText(found.fallback, found.model) }),
    group: found.group,
    route: found.route,
    ...formatDraws(found),
    time: `${found.total_ms} ms${found.queue_ms > 0 ? `, ${found.queue_ms} ms of it in the queue` : ""}`,
    charged: `${money(price.charged)}${price.reserved < 0 ? "" : `, ${money(price.reserved)} were reserved`}`,
    ...(price.formula !== "" && { formula: price.formula }),
    ...(price.inputs.length > 0 && { with: price.inputs.map(inputText).join(", ") }),
    ...said(found),
    ...(found.usage_doubts.length > 0 && { "not believed": found.usage_doubts.map(doubtText).join(", ") }),
    ...(found.losses.length > 0 && { "left out": found.losses.join(", ") }),
    ...(found.guardrail !== "" && { guardrail: guardrailText(found) }),
    ...(found.budget && { budget: budgetText(found.budget, quotaPerUnit) }),
    ...cacheTexts(found, money),
  };
}
