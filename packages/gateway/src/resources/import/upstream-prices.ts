import type { OptionRow } from "@fairway/wire";
import type { Network } from "../../lib/net/network.ts";
import { createOutbound, type Outbound } from "../../lib/net/outbound.ts";
import { unpricedModels } from "./options.ts";
import type { ModelCost } from "./prices.ts";
import { PRICE_PATHS, publishedPrices, type Publisher } from "./published-prices.ts";
import type { ImportReport } from "./report.ts";

/** Sources of prices for models without one. */
export interface PriceSources {
  readonly network: Network;
  /** True to query the addresses of the channels themselves. */
  readonly areChannelsAsked: boolean;
  /** The gateway that was used before; its models have the same names as ours. */
  readonly former: Publisher | undefined;
}

/** A channel with its models: the name that clients use, and the name at the upstream. */
export interface Served extends Publisher {
  readonly models: ReadonlyMap<string, string>;
}

interface Question {
  readonly publisher: Publisher;
  readonly models: Map<string, string>;
}

/**
 * Imports prices that upstreams publish for models that have none here; reports their sources, and upstreams that
 * publish none.
 */
export async function upstreamPrices(
  { areChannelsAsked, former, network }: PriceSources,
  { channels, options }: { readonly channels: readonly Served[]; readonly options: readonly OptionRow[] },
  report: ImportReport,
): Promise<ReadonlyMap<string, ModelCost>> {
  const unpriced = new Set(unpricedModels(channels, options));
  const questions = [
    ...(former ? [{ publisher: former, models: new Map([...unpriced].map((name) => [name, name])) }] : []),
    ...(areChannelsAsked ? questionsTo(channels, unpriced) : []),
  ];
  const found = new Map<string, ModelCost>();
  if (unpriced.size === 0 || questions.length === 0) return found;
  const outbound = createOutbound(network);
  try {
    const answers = await Promise.all(questions.map(({ publisher }) => ask(outbound, publisher, report)));
    for (const [at, question] of questions.entries()) take(question, answers[at] ?? new Map(), found, report);
  } finally {
    await outbound.close();
  }
  return found;
}

/**
 * Returns one query for each address and key. A channel without its own address calls its vendor, which publishes no
 * prices.
 */
function questionsTo(channels: readonly Served[], unpriced: ReadonlySet<string>): Question[] {
  const questions = new Map<string, Question>();
  for (const { address, key, models } of channels) {
    const wanted = [...models].filter(([name]) => unpriced.has(name));
    if (!/^https?:\/\//.test(address) || wanted.length === 0) continue;
    const place = JSON.stringify([address, key]);
    const question = questions.get(place) ?? { publisher: { address, key }, models: new Map<string, string>() };
    for (const [name, there] of wanted) question.models.set(name, there);
    questions.set(place, question);
  }
  return [...questions.values()];
}

async function ask(outbound: Outbound, publisher: Publisher, report: ImportReport) {
  const host = getHost(publisher);
  try {
    const prices = await publishedPrices(outbound, publisher);
    if (prices.size === 0)
      report.notes.push(`${host} publishes no prices: nothing usable was at ${PRICE_PATHS.join(", ")}`);
    return prices;
  } catch (error) {
    const reason = error instanceof Error && error.message !== "" ? `: ${error.message}` : "";
    report.notes.push(`${host} did not answer with its prices${reason}`);
    return new Map<string, ModelCost>();
  }
}

function take(
  { publisher, models }: Question,
  prices: ReadonlyMap<string, ModelCost>,
  found: Map<string, ModelCost>,
  report: ImportReport,
): void {
  const taken: string[] = [];
  for (const [name, there] of models) {
    const cost = prices.get(there);
    if (cost === undefined || found.has(name)) continue;
    found.set(name, cost);
    taken.push(name);
  }
  if (taken.length > 0) report.notes.push(`prices as ${getHost(publisher)} publishes them: ${taken.sort().join(", ")}`);
}

/** Returns the host and port: an address may contain credentials. */
function getHost({ address }: Publisher): string {
  return URL.canParse(address) ? new URL(address).host : address;
}
