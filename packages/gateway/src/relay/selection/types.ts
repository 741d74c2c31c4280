import type { Body, RequestSpec } from "../../dialects/core/types.ts";
import type { Caller } from "../../identity/authentication/caller.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import type { Snapshot } from "../../snapshot/types.ts";
import type { Plan } from "./plan.ts";
import type { TracedCandidates } from "../request/traced-route.ts";
import type { SharedIds } from "../request/shared-ids.ts";
import type { Preferred } from "./affinity.ts";
import type { Breakers } from "./breaker.ts";
import type { ChannelLatencies } from "./channel-latencies.ts";
import type { ChannelLoads } from "./channel-loads.ts";
import type { Cooldowns } from "./cooldown.ts";

/** A channel chosen for one attempt, with everything that the choice implies. */
export interface RouteTarget {
  readonly channel: ChannelRecord;
  readonly group: string;
  readonly plan: Plan;
  readonly upstreamModel: string;
  readonly keyIndex: number;
}

/** The scope that is at its limit: one key, or the whole channel. */
export type LimitScope = "key" | "channel";

export interface Selection {
  /** Returns the next channel to try; undefined if none is left. */
  next(): RouteTarget | undefined;
  /**
   * Remembers how an attempt failed: after a transient failure, the target may be tried again if nothing else is left;
   * if the key is to blame, other keys of the channel come after its untried peers.
   */
  failed(target: RouteTarget, how: { readonly isTransient: boolean; readonly isOfKey: boolean }): void;
  /** The target's key or channel has reached its limits: it is skipped until `reopen`. */
  full(target: RouteTarget, what: LimitScope): void;
  /** Targets that were full may be tried again, if they may still serve. */
  reopen(): RouteTarget | undefined;
  /** Allows resting keys, which are good enough once the wait for a full one is over. */
  lastResort(): RouteTarget | undefined;
  /** Called if the request was refused before the last choice was used: the next request may probe its key. */
  unused(): void;
  /** Ends the count of the last choice as a running request of its channel; called when the request has ended. */
  leave(): void;
  /** Returns the channels of the model, and why each was skipped so far. */
  candidates(): TracedCandidates;
  /** True if every channel that may serve was tried. */
  readonly isExhausted: boolean;
  /** Milliseconds until the first resting key may be used again; undefined if none rests. */
  readonly restsForMs: number | undefined;
}

export interface SelectionDeps {
  readonly cooldowns: Cooldowns;
  readonly breakers: Breakers;
  /** Both are read only if a strategy other than `weight` is set. */
  readonly loads?: ChannelLoads;
  readonly latencies?: ChannelLatencies;
  /** 0 <= x < 1. */
  readonly random: () => number;
  /** The clock of cooldowns and breakers. */
  readonly now: () => number;
  /** Channels may change while a request waits or retries; undefined = they do not. */
  readonly current?: () => Snapshot;
  /** Position of polling channels; owned by the caller so that it survives requests. */
  readonly polling: Map<number, number>;
}

/** The request that needs a channel; some routes depend on its body. */
export interface SelectionCriteria {
  readonly spec: RequestSpec;
  /** A team may be limited to some channels. */
  readonly caller: Pick<Caller, "team">;
  readonly body?: Body | undefined;
  /** Only channels that list them may serve. */
  readonly sharedIds?: SharedIds | undefined;
  /** Tried first, unless it rests. */
  readonly preferred?: Preferred | undefined;
}
