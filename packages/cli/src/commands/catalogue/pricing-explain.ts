import { dollars, pricingExplain, type Client, type PricingExplanation } from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { number, plain } from "../../print/columns.ts";
import { isForPeople, openRows, printOne, type Output, type Shape } from "../../print/output.ts";
import { prepareWidths, table, type Column } from "../../print/table.ts";

export interface ExplainOptions {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly group?: string;
}

type Part = PricingExplanation["parts"][number];

const PART_COLUMNS: readonly Column<Part>[] = [
  plain("COUNTED", "name"),
  number("COUNT", "count"),
  number("QUOTA EACH", "rate"),
  number("QUOTA", "quota"),
];

/** Explains how the gateway itself would charge a chat: each factor, and the rounded amount. */
export async function explainPrice(
  client: Client,
  model: string,
  options: ExplainOptions,
  output: Output,
): Promise<void> {
  const { prompt, completion, cached, group } = options;
  if (cached > prompt)
    throw new CliError(
      `--cached ${cached} is more than --prompt ${prompt}`,
      EXIT.usage,
      "tokens that come from a cache are part of the prompt",
    );
  const { data } = await client.call(pricingExplain, { query: { model, group, prompt, completion, cached } });
  if (!data)
    throw new CliError(
      `there is no price of ${model} for you`,
      EXIT.notFound,
      "see what is offered with `fairway pricing list`",
    );
  if (!isForPeople(output)) return printMachine(data, output);
  await prepareWidths(PART_COLUMNS, data.parts);
  if (output.columns === undefined) output.out(table(PART_COLUMNS, data.parts, output.width, output.hasTitles));
  await printOne(output, data, { words: formatExplanation(data) });
}

/** Prints the parts as rows of a sheet with the charge at the end; in other formats the whole object. */
async function printMachine(data: PricingExplanation, output: Output): Promise<void> {
  if (output.format !== "csv" && output.format !== "tsv") return printOne(output, data, { shape: NAMED });
  const printer = await openRows(output, { kind: "ChargePart", columns: PART_COLUMNS });
  for (const part of data.parts) printer.add(part);
  printer.end();
}

const NAMED: Shape<PricingExplanation> = { kind: "Explanation", columns: [], name: ({ model }) => `model/${model}` };

function formatExplanation(data: PricingExplanation): Record<string, string> {
  const { source, date, tier_above: above, ratios, parts, group, group_ratio, exact, quota, quota_per_unit } = data;
  const sum = parts.map((part) => part.quota).join(" + ") || "0";
  return {
    price: `${source}${date === "" ? "" : ` (${date})`}, by ${ratios ? "token" : "call"}`,
    ...(above === undefined ? {} : { tier: `prompts above ${above} tokens` }),
    ...(ratios ? { ratios: `model ${ratios.model}, completion ${ratios.completion}, cache ${ratios.cache}` } : {}),
    group: `${group}, ratio ${group_ratio}`,
    exactly: `(${sum}) × ${group_ratio} = ${exact}`,
    charged: `${quota} quota${describeRounding(exact, quota)}`,
    dollars: `$${dollars(quota, 6, quota_per_unit)} (${quota_per_unit} quota are $1)`,
  };
}

function describeRounding(exact: string, quota: number): string {
  if (exact === String(quota)) return "";
  return Number(exact) < 0.5 && quota === 1 ? ", the least that a call costs" : ", rounded once, halves up";
}
