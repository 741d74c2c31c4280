import type { ChannelStrategy, SkipReason } from "@fairway/wire";
import { listedName } from "../../billing/pricing/listed-name.ts";
import { AppError } from "../../lib/app-error.ts";
import { keepTeamChannels, refuseTeamModel } from "../../identity/authentication/team-rights.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import type { Level, Snapshot } from "../../snapshot/types.ts";
import type { LimitScope, RouteTarget, Selection, SelectionCriteria, SelectionDeps } from "./types.ts";
import { unavailable, unserved } from "./unavailable.ts";
import { planFor } from "./plan.ts";
import {
  MAX_CANDIDATES,
  type CandidateEntry,
  type ChannelDraw,
  type TracedCandidates,
} from "../request/traced-route.ts";
import { listsIds } from "../request/shared-ids.ts";
import { draw, isUsable, keyName, targetOn } from "./draw.ts";
import { drawBalanced, type Balance, type DrawObserver } from "./strategies.ts";
import { mapModel } from "../../snapshot/model-mapping.ts";
import { fits, type Skip, findSkipReason, restsUntil, unlisted } from "./skip-reason.ts";

const NOT_TRIED: ReadonlySet<number> = new Set();
const TRIED = [""] as const;
const AFFINE = ["affinity"] as const;
const NOT_DRAWN = ["not_drawn"] as const;
const LIMITED = ["limit"] as const;
const NOT_BETTER = ["not_better"] as const;

/**
 * Walks through priority levels from high to low and draws by weight inside a level, untried channels first. `groups`
 * are tried in order (one, or those of `auto`). Throws `model_not_found` or `no_available_channel`.
 */
export function createSelection(
  snapshot: Snapshot,
  groups: readonly string[],
  criteria: SelectionCriteria,
  deps: SelectionDeps,
): Selection {
  const { model } = criteria.spec;
  const stages = listStages(snapshot, groups, criteria);
  const team = criteria.caller.team;
  if (stages.length === 0 && team && listStages(snapshot, groups, { spec: criteria.spec, caller: {} }).length > 0)
    throw refuseTeamModel(team, model);
  if (stages.length === 0) throw notSelectable(snapshot, groups, model, listedName(model));
  const { spec, caller, body, sharedIds, preferred } = criteria;
  return new ChannelSelector(snapshot, groups, stages, { spec, caller, body, sharedIds, preferred, deps });
}

function listStages(
  { index }: Snapshot,
  groups: readonly string[],
  { spec, caller }: Pick<SelectionCriteria, "spec" | "caller">,
): readonly Stage[] {
  const name = listedName(spec.model);
  const stages: Stage[] = [];
  for (const group of groups) for (const level of index.get(group)?.get(name) ?? []) stages.push({ group, level });
  if (caller.team === undefined) return stages;
  const allowed = stages.map(({ group, level }) => ({
    group,
    level: { ...level, channels: keepTeamChannels(level.channels, caller) },
  }));
  return allowed.filter(({ level }) => level.channels.length > 0);
}

interface Stage {
  readonly group: string;
  readonly level: Level;
}

class ChannelSelector implements Selection {
  readonly #tried = new Set<number>();
  // The next three are created when the first channel fails or is full: most requests need only one channel.
  /** Targets that may be tried again after a transient failure, by channel. */
  #again: Map<number, RouteTarget> | undefined;
  /** Channels on which an attempt failed because of its key. */
  #otherKeys: Set<number> | undefined;
  /** Targets that are not tried again: channels by id, keys by id and index. */
  #full: Set<string> | undefined;
  readonly #keepsLevel: boolean;
  readonly #groups: readonly string[];
  #stages: readonly Stage[];
  #snapshot: Snapshot;
  readonly #request: SelectionCriteria & { readonly deps: SelectionDeps };
  #stage = 0;
  #stageBefore = 0;
  #hasChosen = false;
  #isPreferred = false;
  #skipped: Map<number, Skip> | undefined;
  #last: RouteTarget | undefined;
  /** While channels are only full, resting keys are not used: the request waits. */
  #takesResting = false;
  #hasFull = false;
  restsForMs: number | undefined;
  /** Ends the count of the last choice as a running request. */
  #endRun: (() => void) | undefined;
  /** Draws of a strategy other than `weight`. */
  #balanced: { readonly strategy: ChannelStrategy; readonly draws: ChannelDraw[] } | undefined;

  constructor(
    snapshot: Snapshot,
    groups: readonly string[],
    stages: readonly Stage[],
    request: SelectionCriteria & { readonly deps: SelectionDeps },
  ) {
    this.#snapshot = snapshot;
    this.#keepsLevel = snapshot.options.RetrySameLevel;
    this.#groups = groups;
    this.#stages = stages;
    this.#request = request;
  }

  next(): RouteTarget | undefined {
    if (this.#hasChosen) this.#follow();
    this.leave();
    this.#stageBefore = this.#stage;
    const preferred = this.#hasChosen ? undefined : this.#preferred();
    const target = preferred ?? this.#find();
    if (!target && !this.#hasChosen) throw this.#refusal();
    if (!target) return undefined;
    this.#hasChosen = true;
    this.#isPreferred = preferred !== undefined;
    this.#last = target;
    this.#countRun(target);
    this.#tried.add(target.channel.id);
    this.#again?.delete(target.channel.id);
    this.#request.deps.breakers.markChosen(target.channel.id, target.keyIndex);
    if (!preferred && !this.#keepsLevel && this.#stage < this.#stages.length - 1) this.#stage++;
    return target;
  }

  /** Returns why no channel can be chosen. */
  #refusal(): AppError {
    const { spec } = this.#request;
    return this.#unknownIds() ?? (this.#servesNever() ? unserved(spec) : unavailable(this.#groups, spec.model));
  }

  /** True if no channel of the model can ever serve the request, so that waiting is useless. */
  #servesNever(): boolean {
    const { spec, body } = this.#request;
    const channels = this.#stages.flatMap(({ level }) => level.channels);
    return channels.every((channel) => !planFor(channel, spec, mapModel(channel.modelMapping, spec.model), body));
  }

  /** Set if no channel of the model lets the request name the ids that it names. */
  #unknownIds(): AppError | undefined {
    const { sharedIds } = this.#request;
    if (!sharedIds) return undefined;
    const isListed = this.#stages.some(({ level }) => level.channels.some((channel) => listsIds(channel, sharedIds)));
    return isListed ? undefined : sharedIds.refusal;
  }

  #find(): RouteTarget | undefined {
    const target = this.#choose(false);
    if (target) return target;
    const again = () => this.#again?.values().next().value;
    if (this.restsForMs === undefined || (this.#hasFull && !this.#takesResting)) return again();
    this.#stage = 0;
    return this.#choose(true) ?? again();
  }

  failed(
    target: RouteTarget,
    { isTransient, isOfKey }: { readonly isTransient: boolean; readonly isOfKey: boolean },
  ): void {
    const { channel, keyIndex } = target;
    this.leave();
    // A request that continues after a failure does not wait.
    this.#takesResting = true;
    if (isOfKey && channel.keys.length > 1) {
      (this.#full ??= new Set()).add(keyName(channel.id, keyIndex));
      (this.#otherKeys ??= new Set()).add(channel.id);
    }
    if (isTransient) (this.#again ??= new Map()).set(channel.id, target);
  }

  full({ channel, keyIndex }: RouteTarget, what: LimitScope): void {
    this.leave();
    this.#hasFull = true;
    (this.#full ??= new Set()).add(what === "key" ? keyName(channel.id, keyIndex) : String(channel.id));
    this.#tried.delete(channel.id);
    this.#skip(channel.id, LIMITED);
    this.#stage = this.#stageBefore;
    this.#request.deps.breakers.observe(channel.id, keyIndex, "unknown");
  }

  unused(): void {
    this.leave();
    const { channel, keyIndex } = this.#last ?? {};
    if (channel && keyIndex !== undefined) this.#request.deps.breakers.observe(channel.id, keyIndex, "unknown");
  }

  #countRun({ channel }: RouteTarget): void {
    if (this.#snapshot.balancing) this.#endRun = this.#request.deps.loads?.begin(channel.id);
  }

  leave(): void {
    this.#endRun?.();
    this.#endRun = undefined;
  }

  candidates(): TracedCandidates {
    const entries: CandidateEntry[] = [];
    let open = 0;
    for (const { group, level } of this.#stages) {
      const { priority, channels } = level;
      open += channels.length;
      for (let at = 0; at < channels.length && entries.length < MAX_CANDIDATES; at++) {
        const channel = channels[at] as ChannelRecord;
        const [skipped, waitMs] = this.#findSkip(channel.id);
        const entry = [channel.id, group, priority, channel.weight, skipped] as const;
        entries.push(waitMs === undefined ? entry : [...entry, waitMs]);
      }
    }
    const off = unlisted(this.#snapshot, this.#groups, listedName(this.#request.spec.model));
    for (let at = 0; at < off.entries.length && entries.length < MAX_CANDIDATES; at++)
      entries.push(off.entries[at] as CandidateEntry);
    const candidates = { entries, open, total: open + off.count };
    return this.#balanced ? { ...candidates, ...this.#balanced } : candidates;
  }

  #findSkip(channelId: number): readonly [SkipReason | "", number?] {
    if (this.#tried.has(channelId)) return TRIED;
    return this.#skipped?.get(channelId) ?? (this.#isPreferred && this.#tried.size === 1 ? AFFINE : NOT_DRAWN);
  }

  /** Limits and rests change while an answer streams, so the reason is remembered when the channel is skipped. */
  #skip(channelId: number, reason: Skip): void {
    this.#skipped ??= new Map();
    this.#skipped.set(channelId, reason);
  }

  reopen(): RouteTarget | undefined {
    this.#full = undefined;
    this.#hasFull = false;
    this.#stage = 0;
    return this.next();
  }

  lastResort(): RouteTarget | undefined {
    this.#takesResting = true;
    this.#stage = 0;
    return this.next();
  }

  /** Applies the changes that the operator made since the last choice. */
  #follow(): void {
    const { deps } = this.#request;
    const current = deps.current?.() ?? this.#snapshot;
    if (current === this.#snapshot) return;
    this.#snapshot = current;
    this.#stages = listStages(current, this.#groups, this.#request);
    if (this.#keepsLevel) this.#stage = 0;
    for (const [id, { channel }] of this.#again ?? [])
      if (current.channels.get(id) !== channel) this.#again?.delete(id);
  }

  get isExhausted(): boolean {
    return this.#stages.every(({ level }) => level.channels.every(({ id }) => this.#tried.has(id)));
  }

  /** Does not change the stage: if this choice fails, the others are tried as if it had not been made. */
  #preferred(): RouteTarget | undefined {
    const { preferred, spec, deps } = this.#request;
    if (!preferred) return undefined;
    for (const { group, level } of this.#stages) {
      const channel = level.channels.find(({ id }) => id === preferred.channelId);
      if (!channel || !fits(channel, spec)) continue;
      const target = targetOn(channel, group, { ...this.#request, onRest: () => undefined });
      if (!target) this.#skip(channel.id, findSkipReason(channel, this.#request));
      const { keyIndex } = preferred;
      const hasKey =
        isUsable(channel, keyIndex) && restsUntil(channel.id, keyIndex, listedName(spec.model), deps) === 0;
      return target && hasKey ? { ...target, keyIndex } : target;
    }
    return undefined;
  }

  #choose(canRest: boolean): RouteTarget | undefined {
    const onRest = canRest ? undefined : (until: number) => this.#rests(until);
    const full = this.#full;
    const onSkip = (channel: ChannelRecord) => this.#skip(channel.id, findSkipReason(channel, this.#request));
    const criteria = { ...this.#request, onRest, onSkip, full };
    while (this.#stage < this.#stages.length) {
      const { group, level } = this.#stages[this.#stage] as Stage;
      const balance = this.#balance();
      const target = balance
        ? drawBalanced({ group, level, tried: this.#tried }, criteria, balance, this.#observe(balance))
        : draw(level, group, this.#tried, criteria);
      if (target) return target;
      const other = this.#otherKeys && this.#withOtherKeys(level, this.#otherKeys);
      const otherKey = other && draw(other, group, NOT_TRIED, { ...this.#request, onRest, full });
      if (otherKey) return otherKey;
      this.#stage++;
    }
    return undefined;
  }

  /** Undefined if the model's channels are drawn by weight. */
  #balance(): Balance | undefined {
    const { deps, spec } = this.#request;
    const strategy = this.#snapshot.balancing?.strategyFor(spec.model) ?? "weight";
    const { loads, latencies } = deps;
    return strategy === "weight" || !loads || !latencies ? undefined : { strategy, loads, latencies };
  }

  /** Remembers draws and the channels that lost, for the explanation of the call. */
  #observe({ strategy }: Balance): DrawObserver {
    return {
      onDraw: (draw) => (this.#balanced ??= { strategy, draws: [] }).draws.push(draw),
      onNotBetter: ({ id }) => this.#skip(id, NOT_BETTER),
    };
  }

  #withOtherKeys({ priority, channels }: Level, ids: ReadonlySet<number>): Level {
    return { priority, channels: channels.filter(({ id }) => ids.has(id)) };
  }

  #rests(until: number): void {
    const ms = until - this.#request.deps.now();
    this.restsForMs = this.restsForMs === undefined ? ms : Math.min(this.restsForMs, ms);
  }
}

function notSelectable(snapshot: Snapshot, groups: readonly string[], model: string, name: string): AppError {
  const isListed = groups.some((group) => snapshot.listed.get(group)?.has(name));
  return isListed
    ? unavailable(groups, model)
    : new AppError("model_not_found", { param: "model", values: { model, group: groups.join(", ") } });
}
