import {
  formatTime,
  pricePlanCancel,
  pricePlanCreate,
  pricePlanList,
  pricePreview,
  status,
  type Client,
  type PlannedPrice,
  type PricePlan,
  type PricePreview,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { parseDateSeconds, parseSpanSeconds } from "../../core/times.ts";
import { number, plain, time } from "../../print/columns.ts";
import { printDone, printList, type Output, type Shape } from "../../print/output.ts";

export interface PricePlanOptions {
  readonly from: string;
  readonly inputPrice?: string;
  readonly outputPrice?: string;
  readonly cachedPrice?: string;
  readonly perCall?: string;
}

function formatPrice({ model, input, output, cached, call }: PlannedPrice): string {
  if (call !== undefined) return `${model} $${call} a call`;
  const more = [output === undefined ? "" : `, output $${output}`, cached === undefined ? "" : `, cached $${cached}`];
  return `${model} input $${input ?? "0"}${more.join("")}`;
}

/** How planned prices are printed. */
const PLANS: Shape<PricePlan> = {
  kind: "PricePlan",
  columns: [
    number("ID", "id"),
    time("FROM", "starts_at"),
    { title: "PRICES", value: ({ prices }) => prices.map(formatPrice).join("; ") },
    plain("STATE", "state"),
  ],
  wide: [plain("BY", "created_by"), time("PLANNED", "created_at")],
  name: ({ id }) => `price/${id}`,
};

/** Reads `2026-12-01`, a time with its zone, or a span from now such as `1d`. */
function parseStart(text: string, nowSeconds: number): number {
  const span = parseSpanSeconds(text);
  const at = span === undefined ? parseDateSeconds(text) : nowSeconds + span;
  if (at !== undefined) return at;
  throw new CliError(`--from ${text} is no time`, EXIT.usage, "write 2026-12-01, 2026-12-01T09:00:00+01:00, or 1d");
}

function toPrice(model: string, options: PricePlanOptions): PlannedPrice {
  const { inputPrice: input, outputPrice: output, cachedPrice: cached, perCall: call } = options;
  const given = Object.entries({ input, output, cached, call }).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, text.replace(/^\$/, "")] as const],
  );
  if (given.length === 0)
    throw new CliError(
      "which price?",
      EXIT.usage,
      "name --input-price and --output-price in dollars per million, or --per-call",
    );
  return { model, ...Object.fromEntries(given) };
}

/** Plans the price of a model; with `--dry-run` only what the last 24 hours would have cost is printed. */
export async function planPrice(
  client: Client,
  model: string,
  options: PricePlanOptions,
  { output, nowSeconds }: { readonly output: Output; readonly nowSeconds: number },
): Promise<void> {
  const prices = [toPrice(model, options)];
  const startsAt = parseStart(options.from, nowSeconds);
  const { data: preview } = await client.call(pricePreview, { body: { prices } });
  await notePreview(client, preview, output);
  const { data } = await client.call(pricePlanCreate, { body: { starts_at: startsAt, prices } });
  const done = `Planned from ${formatTime(data.starts_at)}. Cancel it with \`fairway price cancel ${data.id}\`.`;
  await printDone(output, data, done, PLANS);
}

async function notePreview(client: Client, { models, complete }: PricePreview, output: Output): Promise<void> {
  const { quota_per_unit: unit } = (await client.call(status, {})).data;
  const dollars = (quota: number) => `$${(quota / unit).toFixed(4)}`;
  for (const { model, requests, charged, would_charge: after } of models) {
    const counted = complete ? `${requests} requests` : `the newest ${requests} requests`;
    output.note(`${counted} of ${model} in 24 hours cost ${dollars(charged)}, would have cost ${dollars(after)}.`);
  }
}

export async function listPricePlans(client: Client, output: Output): Promise<void> {
  const { data } = await client.call(pricePlanList, {});
  await printList(output, { ...PLANS, rows: data, empty: "No price is planned." });
}

export async function cancelPricePlan(client: Client, id: number, output: Output): Promise<void> {
  const { data } = await client.call(pricePlanCancel, { params: { id } });
  await printDone(output, data, `Plan ${data.id} is cancelled; the prices stay as they are.`, PLANS);
}
