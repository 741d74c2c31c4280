import type { ChannelStrategy } from "@fairway/wire";
import { listedName } from "../../billing/pricing/listed-name.ts";
import type { RequestSpec } from "../../dialects/core/types.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import type { Level } from "../../snapshot/types.ts";
import type { ChannelDraw } from "../request/traced-route.ts";
import type { ChannelLatencies } from "./channel-latencies.ts";
import type { ChannelLoads } from "./channel-loads.ts";
import { BASE_WEIGHT, byWeight, listUsableChannels, MAX_DRAWS, mayServe, targetOn, type Draw } from "./draw.ts";
import type { RouteTarget } from "./types.ts";

/** A strategy other than the draw by weight, with what it measures. */
export interface Balance {
  readonly strategy: Exclude<ChannelStrategy, "weight">;
  readonly loads: ChannelLoads;
  readonly latencies: ChannelLatencies;
}

/** Called with each draw and with the channels that lost. */
export interface DrawObserver {
  onDraw(draw: ChannelDraw): unknown;
  onNotBetter(channel: ChannelRecord): void;
}

/** A latency is better only if it is lower by a tenth: less is noise, and would send everything to one of two equals. */
const NOTABLY_FASTER = 0.9;

/**
 * Draws two usable channels of the level by weight and takes the better one; `cost` takes the cheapest. Two draws keep
 * replicas with old knowledge from all choosing the same channel, and weights keep their meaning as capacities.
 */
export function drawBalanced(
  { group, level, tried }: { readonly group: string; readonly level: Level; readonly tried: ReadonlySet<number> },
  request: Draw,
  balance: Balance,
  observer: DrawObserver,
): RouteTarget | undefined {
  const open = level.channels.filter(({ id }) => !tried.has(id));
  const chosen =
    balance.strategy === "cost"
      ? chooseCheapest(open, group, request, observer)
      : chooseOfTwo(open, group, request, { balance, observer, level });
  return chosen && targetOn(chosen, group, request);
}

function chooseCheapest(
  open: readonly ChannelRecord[],
  group: string,
  request: Draw,
  { onDraw, onNotBetter }: DrawObserver,
): ChannelRecord | undefined {
  const costs = [...new Set(open.map(({ costRatio }) => costRatio))].sort((a, b) => a - b);
  for (const cost of costs) {
    const equals = open.filter(({ costRatio }) => costRatio === cost);
    const chosen = takeUsable(equals, group, request);
    if (!chosen) continue;
    onDraw([chosen.id, cost]);
    for (const other of open) if (other.costRatio > cost) onNotBetter(other);
    return chosen;
  }
  return undefined;
}

interface Comparison {
  readonly balance: Balance;
  readonly observer: DrawObserver;
  readonly level: Level;
}

function chooseOfTwo(
  channels: readonly ChannelRecord[],
  group: string,
  request: Draw,
  { balance, observer, level }: Comparison,
): ChannelRecord | undefined {
  const open = [...channels];
  const first = takeUsable(open, group, request);
  if (!first) return undefined;
  const measure = createMeasure(balance, level, request.spec);
  const second = takeUsable(open, group, request);
  const [a, b] = [measure(first), second && measure(second)];
  if (!second) {
    observer.onDraw([first.id, a]);
    return first;
  }
  const isSecondBetter =
    a !== undefined && b !== undefined && b < a * (balance.strategy === "latency" ? NOTABLY_FASTER : 1);
  observer.onDraw(isSecondBetter ? [second.id, b, first.id, a] : [first.id, a, second.id, b]);
  observer.onNotBetter(isSecondBetter ? first : second);
  return isSecondBetter ? second : first;
}

/** Returns a function that measures a channel; lower is better, undefined = not known. */
function createMeasure(
  { strategy, loads, latencies }: Balance,
  { channels }: Level,
  { model, stream }: RequestSpec,
): (channel: ChannelRecord) => number | undefined {
  if (strategy !== "latency") return ({ id, weight }) => loads.running(id) / (weight + BASE_WEIGHT);
  const estimate = latencies.compare(channels, listedName(model), stream ? "stream" : "whole");
  return ({ id }) => estimate(id);
}

/** Draws a usable channel by weight, and removes it and the unusable ones that were drawn before from `open`. */
function takeUsable(open: ChannelRecord[], group: string, request: Draw): ChannelRecord | undefined {
  // A channel that is only compared must not move on to its next key.
  const trial = { ...request, deps: { ...request.deps, polling: new Map<number, number>() } };
  for (let draws = 0; open.length > 0; draws += 1) {
    if (draws === MAX_DRAWS) open.splice(0, Infinity, ...listUsableChannels(open, group, request));
    const channel = byWeight(open, request.deps.random());
    if (!channel) return undefined;
    open.splice(open.indexOf(channel), 1);
    if (mayServe(channel, trial) && targetOn(channel, group, trial)) return channel;
    request.onSkip?.(channel);
  }
  return undefined;
}
