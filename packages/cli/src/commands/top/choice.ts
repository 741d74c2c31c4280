import { CHANNEL_STATUS, type Channel, type ChannelHealth } from "@fairway/wire";
import { statusWord } from "../channel/channel.ts";
import type { Sample } from "./sample.ts";

/** Time spans for the sums of errors, first tokens and spending, by the key that chooses them. */
export const SPANS = {
  "1": { name: "1 min", seconds: 60 },
  "2": { name: "5 min", seconds: 300 },
  "3": { name: "1 h", seconds: 3600 },
  "4": { name: "24 h", seconds: 86_400 },
} as const;
export type SpanKey = keyof typeof SPANS;
export type Span = (typeof SPANS)[SpanKey];
const FIRST_SPAN: SpanKey = "2";
/** The span of the first sample, and of the only one in a script. */
export const USUAL_SPAN: Span = SPANS[FIRST_SPAN];

/** Panes below the channels, in the order of the tab key. */
export const PANES = ["calls", "models", "users"] as const;
export type Pane = (typeof PANES)[number];

/** Sort orders of the channels, in the order in which the key `s` cycles through them. */
const ORDERS = ["trouble", "calls", "in flight", "errors", "first token", "used", "name", "priority"] as const;
export type Order = (typeof ORDERS)[number];

export function orderAfter(order: Order): Order {
  return ORDERS[(ORDERS.indexOf(order) + 1) % ORDERS.length] ?? "trouble";
}

/** The user's view of the samples, which survives a visit to the log. */
export interface Remembered {
  readonly span: SpanKey;
  readonly order: Order;
  readonly filter: string;
  readonly intervalMs: number;
  readonly pane: Pane;
  /** Index of the chosen channel. */
  readonly chosen: number;
}

export function createInitialChoice(intervalMs: number): Remembered {
  return { span: FIRST_SPAN, order: "trouble", filter: "", intervalMs, pane: "calls", chosen: 0 };
}

/** Returns the channels whose name, status or tag contains the text, the most interesting first. */
export function listShownChannels(
  sample: Sample,
  { filter = "", order = "trouble" }: { filter?: string; order?: Order },
) {
  const wanted = filter.toLowerCase();
  const isShown = ({ name, status, tag }: Channel) =>
    [name, statusWord(status), tag ?? ""].some((text) => text.toLowerCase().includes(wanted));
  const shown = sample.channels.filter(isShown);
  return order === "priority" ? shown : shown.toSorted(COMPARE[order](sample));
}

type Compare = (a: Channel, b: Channel) => number;

function most(readValue: (channel: Channel) => number): Compare {
  return (a, b) => readValue(b) - readValue(a);
}

const COMPARE: Readonly<Record<Exclude<Order, "priority">, (sample: Sample) => Compare>> = {
  trouble: (sample) => {
    const failing = sample.health.filter(({ state }) => FAILING.includes(state));
    const unhealthy = new Set(failing.map(({ channel_id: id }) => id));
    return most((channel) => rankTrouble(channel, unhealthy) + errorShare(sample, channel.id));
  },
  calls: ({ facets }) => {
    const calls = new Map(facets.channels.map(({ value, count }) => [value, count]));
    return most(({ id }) => calls.get(String(id)) ?? 0);
  },
  "in flight": (sample) => most(({ id }) => countInFlight(sample, id)),
  errors: (sample) => most(({ id }) => errorShare(sample, id)),
  "first token": (sample) => most(({ id }) => findUsage(sample, id)?.first_token.p50 ?? 0),
  used: () => most(({ used_quota: used }) => used),
  name: () => (a, b) => a.name.localeCompare(b.name),
};

/** States in which calls fail or wait; a channel without the Responses API, or with doubtful usage, serves them. */
const FAILING: readonly ChannelHealth["state"][] = ["open", "half-open", "failing", "resting"];

/**
 * What the gateway switched off comes first, then what rests, then what fails, then what works; what a person switched
 * off is no trouble. The share of errors, below 1 or 1, orders channels of the same rank.
 */
function rankTrouble({ id, status }: Channel, unhealthy: ReadonlySet<number>): number {
  if (status === CHANNEL_STATUS.disabledBySystem) return 4;
  if (status === CHANNEL_STATUS.disabledByHand) return -2;
  return unhealthy.has(id) ? 2 : 0;
}

export function findUsage({ usage }: Sample, id: number) {
  return usage.subjects.find(({ subject }) => subject === String(id));
}

/** Counts the requests that the channel is serving, on all replicas that answer. */
export function countInFlight({ replicas }: Sample, id: number): number {
  return replicas.reduce((sum, { channels, is_lost: isLost }) => sum + (isLost ? 0 : (channels[id] ?? 0)), 0);
}

function errorShare(sample: Sample, id: number): number {
  const found = findUsage(sample, id);
  return found && found.calls > 0 ? found.errors / found.calls : 0;
}
