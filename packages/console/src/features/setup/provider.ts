import type { ChannelInput, ChannelType, OptionPrice, ShownPrice } from "@fairway/wire";

/** The state of the first step while a provider is being connected. */
export interface ProviderDraft {
  type: string;
  key: string;
  base_url: string;
}

/**
 * Returns the prefix that keys of a type have, such as `sk-ant-` of the hint `sk-ant-...`; "" if the hint names none.
 */
function keyStart(hint: string): string {
  return /^([\w-]*[\w-]{2})\.\.\.$/.exec(hint)?.[1] ?? "";
}

/** Returns the type with the key's prefix; the longest prefix wins, because some contain those of other types. */
export function findTypeByKey(key: string, types: readonly ChannelType[]): ChannelType | undefined {
  const fitting = types
    .filter((type) => !type.retired)
    .map((type) => ({ type, start: keyStart(type.key_hint) }))
    .filter(({ start }) => start !== "" && key.trim().startsWith(start));
  return fitting.toSorted((a, b) => b.start.length - a.start.length)[0]?.type;
}

function normalizeAddress(draft: ProviderDraft): string {
  return draft.base_url.trim().replace(/\/+$/, "");
}

export interface OfferedModel {
  readonly name: string;
  /** Null = no price; undefined = this user may not see prices. */
  readonly price: ShownPrice | null | undefined;
}

/** Returns the models of an upstream with their current prices, priced ones first. */
export function withPrices(
  models: readonly string[],
  prices: readonly OptionPrice[] | undefined,
): readonly OfferedModel[] {
  const known = new Map(prices?.map(({ model, price }) => [model, price]));
  const offered = models.map((name) => ({ name, price: prices === undefined ? undefined : (known.get(name) ?? null) }));
  return offered.toSorted((a, b) => Number(a.price === null) - Number(b.price === null));
}

/**
 * Returns the models selected at first: those with a price, because users may not call the others; all of them if none
 * has a price.
 */
export function preselected(models: readonly OfferedModel[]): ReadonlySet<string> {
  const priced = models.filter(({ price }) => price !== null);
  return new Set((priced.length > 0 ? priced : models).map(({ name }) => name));
}

/** A model ratio of 1 means two dollars per million tokens. */
const DOLLARS_PER_RATIO = 2;

/** Returns dollars per million tokens in and out, or per call. */
export function toDollars(price: ShownPrice): { input: number; output: number } | { call: number; unit: string } {
  if (price.by === "call") return { call: price.model_price, unit: price.unit };
  const input = price.model_ratio * DOLLARS_PER_RATIO;
  return { input, output: input * price.completion_ratio };
}

export function channelInput(draft: ProviderDraft, label: string, models: readonly string[]): ChannelInput {
  return {
    type: Number(draft.type),
    name: label,
    key: draft.key.trim(),
    base_url: normalizeAddress(draft),
    models: models.join(","),
    group: "default",
    auto_ban: 1,
  };
}
