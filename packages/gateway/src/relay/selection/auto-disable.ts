import { keyNumber } from "@fairway/wire";
import { listedName } from "../../billing/pricing/listed-name.ts";
import type { Logger } from "../../observability/log.ts";
import type { SnapshotStore } from "../../snapshot/types.ts";
import type { AttemptHealth, Breakers } from "./breaker.ts";
import type { Cooldowns } from "./cooldown.ts";
import { DELIVERED, type KeyOutcome, type KeyOutcomes } from "./key-outcomes.ts";
import type { RelayRequest } from "../request/request.ts";
import type { RouteTarget } from "./types.ts";
import type { AttemptResult, FinishReason } from "../upstream/attempt-result.ts";

/** The parts of an attempt that the guard reads. */
export interface Observed {
  readonly target: RouteTarget;
  readonly request: RelayRequest;
  /** Milliseconds of the monotonic clock. */
  readonly startedAt: number;
}

/** Applies the results of attempts to channels: a rest after a 429 or a failure, switched off after a dead key. */
export interface ChannelGuard {
  observe(attempt: Observed, result: AttemptResult): void;
}

export interface ChannelGuardDeps {
  readonly snapshots: SnapshotStore;
  readonly cooldowns: Cooldowns;
  readonly breakers: Breakers;
  readonly keyOutcomes: Pick<KeyOutcomes, "observe">;
  readonly log: Logger;
  /**
   * Sets status 1 to 3 with the reason, switches abilities off, and announces it to all replicas; with `key` it
   * disables that key alone, and the channel with its last key. False if it was no longer enabled.
   */
  readonly disable: (channelId: number, reason: string, key?: string) => Promise<boolean>;
  /** Reports the result of an attempt to the metrics. */
  readonly onAttempt: (attempt: Observed, result: AttemptResult) => void;
}

const REASON_LENGTH = 200;
/** How often a channel without credit that stays on is reported. */
const WARN_AGAIN_MS = 600_000;

export function createChannelGuard(deps: ChannelGuardDeps): ChannelGuard {
  const disabling = new Set<string>();
  const warned = new Map<string, number>();

  const disable = async ({ channel, keyIndex }: RouteTarget, reason: string) => {
    const { id: channelId, name, keys } = channel;
    const key = keys.length > 1 ? { key: keyNumber(keyIndex) } : {};
    const what = `${channelId} ${keyIndex}`;
    if (disabling.has(what)) return;
    disabling.add(what);
    try {
      const isDone = await deps.disable(channelId, reason, keys.length > 1 ? keys[keyIndex] : undefined);
      if (isDone) deps.log.warn("channel disabled", { channelId, name, ...key, reason });
    } catch (error) {
      deps.log.error("a channel could not be disabled", { channelId, ...key, error });
    } finally {
      disabling.delete(what);
    }
  };

  const warn = ({ channel, keyIndex }: RouteTarget, reason: string | undefined) => {
    const what = `${channel.id} ${keyIndex}`;
    const now = performance.now();
    if (now - (warned.get(what) ?? -Infinity) < WARN_AGAIN_MS) return;
    warned.set(what, now);
    deps.log.warn("channel out of credit", {
      channelId: channel.id,
      name: channel.name,
      key: keyNumber(keyIndex),
      reason,
    });
  };

  return {
    observe(attempt, result) {
      deps.onAttempt(attempt, result);
      const { channel, keyIndex } = attempt.target;
      deps.breakers.observe(channel.id, keyIndex, classifyHealth(result));
      const outcome = findKeyOutcome(result);
      if (outcome) deps.keyOutcomes.observe(channel.id, keyIndex, outcome);
      if (result.kind !== "failed") return;
      const { restMs, disable: reason } = result.failure;
      if (restMs !== undefined)
        deps.cooldowns.rest(channel.id, keyIndex, listedName(attempt.request.spec.model), restMs);
      const mayDisable =
        reason !== undefined && channel.autoBan && deps.snapshots.current().options.AutomaticDisableChannelEnabled;
      if (result.failure.isOutOfCredit && !mayDisable) warn(attempt.target, result.failure.disable);
      if (mayDisable) void disable(attempt.target, reason.slice(0, REASON_LENGTH));
    },
  };
}

/** Returns what an attempt shows about its key; undefined if it shows nothing. */
function findKeyOutcome(result: AttemptResult): KeyOutcome | undefined {
  if (result.kind === "delivered") return BY_REASON[result.reason] === "fine" ? DELIVERED : undefined;
  if (result.kind !== "failed" || result.failure.isAccountRefused !== true) return undefined;
  return { kind: "refused", message: result.failure.said ?? "" };
}

/**
 * Classifies what an attempt shows about its upstream: a 429 causes a rest, a refused request nothing. A key that is
 * refused for good fails like an upstream that is down, until it is switched off.
 */
function classifyHealth(result: AttemptResult): AttemptHealth {
  switch (result.kind) {
    case "disconnected":
      return "unknown";
    case "failed": {
      const { isUnsent, isTransient, isLimited, disable } = result.failure;
      if (isUnsent) return "unknown";
      return disable !== undefined || (isTransient && !isLimited) ? "failed" : "fine";
    }
    case "delivered":
      return BY_REASON[result.reason];
  }
}

const BY_REASON: Readonly<Record<FinishReason, AttemptHealth>> = {
  stop: "fine",
  client_abort: "fine",
  quota_exhausted: "fine",
  guardrail: "fine",
  server_shutdown: "unknown",
  internal_error: "unknown",
  upstream_cut: "failed",
  idle_timeout: "failed",
  upstream_error: "failed",
};
