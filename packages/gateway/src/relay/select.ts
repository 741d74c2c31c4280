import { AppError } from "../lib/app-error.ts";
import type { Ask, Body } from "../dialects/types.ts";
import type { ChannelRecord } from "../providers/types.ts";
import type { Level, Snapshot } from "../snapshot/types.ts";
import type { Breakers } from "./breaker.ts";
import type { Cooldowns } from "./cooldown.ts";
import { mapModel } from "./model-mapping.ts";
import { planFor, type Plan } from "./plan.ts";

/** A channel chosen for one attempt, with everything that the choice implies. */
export interface Choice {
  readonly channel: ChannelRecord;
  readonly group: string;
  readonly plan: Plan;
  readonly upstreamModel: string;
  readonly keyIndex: number;
}

export interface Selection {
  /** The next channel to try; undefined when none is left. */
  next(): Choice | undefined;
  /** Remembers how an attempt failed: transient failures may be tried again when nothing else is left. */
  failed(choice: Choice, isTransient: boolean): void;
  /** Milliseconds until the first resting key may be used again; undefined when none rests. */
  readonly restsForMs: number | undefined;
}

export interface SelectionDeps {
  readonly cooldowns: Cooldowns;
  readonly breakers: Breakers;
  /** 0 <= x < 1. */
  readonly random: () => number;
  readonly now: () => number;
  /** Position of polling channels; owned by the caller so that it survives requests. */
  readonly polling: Map<number, number>;
}

/** The request that a channel is sought for; some routes depend on what its body asks for. */
export interface Sought {
  readonly ask: Ask;
  readonly body?: Body;
}

/** Weight 0 still gets traffic. */
const BASE_WEIGHT = 10;

/** Wildcard names under which customised models are listed and priced. */
export function listedName(model: string): string {
  if (model.startsWith("gpt-4-gizmo")) return "gpt-4-gizmo-*";
  if (model.startsWith("gpt-4o-gizmo")) return "gpt-4o-gizmo-*";
  return model;
}

/**
 * Walks priority levels from high to low and draws by weight inside a level, untried channels first.
 * `groups` are tried in order (one, or those of `auto`). Throws `model_not_found` or `no_available_channel`.
 */
export function createSelection(
  snapshot: Snapshot,
  groups: readonly string[],
  sought: Sought,
  deps: SelectionDeps,
): Selection {
  const { ask } = sought;
  const name = listedName(ask.model);
  const stages = groups.flatMap((group) =>
    (snapshot.index.get(group)?.get(name) ?? []).map((level) => ({ group, level })),
  );
  if (stages.length === 0) throw notSelectable(snapshot, groups, ask.model, name);
  const tried = new Set<number>();
  const again = new Map<number, Choice>();
  const keepsLevel = snapshot.options.RetrySameLevel;
  let stage = 0;
  let restsForMs: number | undefined;
  let hasChosen = false;

  const note = (until: number) => {
    const ms = until - deps.now();
    restsForMs = restsForMs === undefined ? ms : Math.min(restsForMs, ms);
  };

  const choose = (canRest: boolean): Choice | undefined => {
    while (stage < stages.length) {
      const { group, level } = stages[stage] as { group: string; level: Level };
      const choice = draw(level, group, tried, { ...sought, deps, onRest: canRest ? undefined : note });
      if (choice) return choice;
      stage++;
    }
    return undefined;
  };

  return {
    next() {
      let choice = choose(false);
      if (!choice && restsForMs !== undefined) {
        stage = 0;
        choice = choose(true);
      }
      choice ??= firstOf(again);
      if (!choice) {
        if (!hasChosen) throw unavailable(groups, ask.model);
        return undefined;
      }
      hasChosen = true;
      tried.add(choice.channel.id);
      again.delete(choice.channel.id);
      deps.breakers.chosen(choice.channel.id, choice.keyIndex);
      if (!keepsLevel && stage < stages.length - 1) stage++;
      return choice;
    },
    failed(choice, isTransient) {
      if (isTransient) again.set(choice.channel.id, choice);
    },
    get restsForMs() {
      return restsForMs;
    },
  };
}

/** A channel that an administrator named with the key; it need not list the model. */
export function pinnedChoice(
  snapshot: Snapshot,
  pin: { readonly channelId: number; readonly group: string },
  sought: Sought,
  deps: SelectionDeps,
): Choice {
  const channel = snapshot.channels.get(pin.channelId);
  if (!channel) throw new AppError("channel_not_found");
  if (channel.status !== 1) throw new AppError("channel_disabled");
  const choice = choiceOf(channel, pin.group, { ...sought, deps, onRest: undefined });
  if (!choice) throw new AppError("unsupported_by_channel");
  return choice;
}

/** What one request is selected for. */
interface Draw extends Sought {
  readonly deps: SelectionDeps;
  /** Told of resting keys that are passed over; undefined = resting keys are good enough. */
  readonly onRest: ((until: number) => void) | undefined;
}

function draw(level: Level, group: string, tried: ReadonlySet<number>, request: Draw): Choice | undefined {
  let open = level.channels;
  if (open.length > 1 || tried.size > 0) open = open.filter((channel) => !tried.has(channel.id));
  while (open.length > 0) {
    const channel = open.length === 1 ? (open[0] as ChannelRecord) : byWeight(open, request.deps.random());
    const choice = fits(channel, request.ask) ? choiceOf(channel, group, request) : undefined;
    if (choice) return choice;
    open = open.filter((other) => other !== channel);
  }
  return undefined;
}

function fits(channel: ChannelRecord, ask: Ask): boolean {
  return channel.maxInputTokens === 0 || ask.promptEstimate <= channel.maxInputTokens;
}

function choiceOf(channel: ChannelRecord, group: string, request: Draw): Choice | undefined {
  const upstreamModel = mapModel(channel.modelMapping, request.ask.model);
  const plan = planFor(channel, request.ask, upstreamModel, request.body);
  if (!plan) return undefined;
  const keyIndex = pickKey(channel, request);
  return keyIndex === undefined ? undefined : { channel, group, plan, upstreamModel, keyIndex };
}

function pickKey(channel: ChannelRecord, { ask, deps, onRest }: Draw): number | undefined {
  const count = channel.keys.length;
  const start = firstKey(channel, deps);
  for (let step = 0; step < count; step++) {
    const index = (start + step) % count;
    const until = restsUntil(channel.id, index, ask.model, deps);
    if (until === 0) return index;
    onRest?.(until);
  }
  return onRest ? undefined : start;
}

/** 0 = it may be used. */
function restsUntil(channelId: number, keyIndex: number, model: string, deps: SelectionDeps): number {
  return Math.max(deps.cooldowns.until(channelId, keyIndex, model), deps.breakers.until(channelId, keyIndex));
}

function firstKey({ id, keys, keyMode }: ChannelRecord, { polling, random }: SelectionDeps): number {
  if (keys.length === 1) return 0;
  return keyMode === "polling" ? advance(polling, id, keys.length) : Math.floor(random() * keys.length);
}

function advance(polling: Map<number, number>, channelId: number, count: number): number {
  const position = (polling.get(channelId) ?? 0) % count;
  polling.set(channelId, position + 1);
  return position;
}

function byWeight(channels: readonly ChannelRecord[], random: number): ChannelRecord {
  let total = 0;
  for (const channel of channels) total += channel.weight + BASE_WEIGHT;
  let rest = random * total;
  for (const channel of channels) {
    rest -= channel.weight + BASE_WEIGHT;
    if (rest < 0) return channel;
  }
  return channels[channels.length - 1] as ChannelRecord;
}

function firstOf(again: ReadonlyMap<number, Choice>): Choice | undefined {
  return again.values().next().value;
}

function notSelectable(snapshot: Snapshot, groups: readonly string[], model: string, name: string): AppError {
  const isListed = groups.some((group) => snapshot.listed.get(group)?.has(name));
  return isListed
    ? unavailable(groups, model)
    : new AppError("model_not_found", { param: "model", values: { model, group: groups.join(", ") } });
}

function unavailable(groups: readonly string[], model: string): AppError {
  return new AppError("no_available_channel", { values: { model, group: groups.join(", ") }, retryAfterMs: 5_000 });
}
