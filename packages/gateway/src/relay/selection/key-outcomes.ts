import { isAccountRefused } from "../upstream/failure.ts";
import type { UpstreamError } from "../../providers/core/failed-answer.ts";

/** The latest outcome that shows whether an upstream serves a key. */
export interface KeyOutcome {
  /** `refused`: the key or its account caused a refusal. `failed`: a test failed for another reason. */
  readonly kind: "delivered" | "refused" | "failed";
  /** The upstream's own message, masked; "" after a delivered answer. */
  readonly message: string;
}

/** The latest outcomes by upstream key. Holds local state only: callers report what happens. */
export interface KeyOutcomes {
  find(channelId: number, keyIndex: number): KeyOutcome | undefined;
  observe(channelId: number, keyIndex: number, outcome: KeyOutcome): void;
  /** Another replica observed the outcome. Not announced again. */
  applyRemote(channelId: number, keyIndex: number, outcome: KeyOutcome): void;
  /** Called when the keys of the channel have changed. */
  forget(channelId: number): void;
}

export const DELIVERED: KeyOutcome = { kind: "delivered", message: "" };

const KINDS: readonly KeyOutcome["kind"][] = ["delivered", "refused", "failed"];
const MAX_MESSAGE = 200;

/** Calls `onChange` only when the kind differs from that of the last outcome, so that equal outcomes cost nothing. */
export function createKeyOutcomes(
  onChange?: (channelId: number, keyIndex: number, outcome: KeyOutcome) => void,
): KeyOutcomes {
  const byChannel = new Map<number, Map<number, KeyOutcome>>();
  const applyRemote: KeyOutcomes["applyRemote"] = (channelId, keyIndex, { kind, message }) => {
    const keys = byChannel.get(channelId) ?? new Map<number, KeyOutcome>();
    byChannel.set(channelId, keys.set(keyIndex, { kind, message: message.slice(0, MAX_MESSAGE) }));
  };
  return {
    find: (channelId, keyIndex) => byChannel.get(channelId)?.get(keyIndex),
    observe(channelId, keyIndex, outcome) {
      if (byChannel.get(channelId)?.get(keyIndex)?.kind === outcome.kind) return;
      applyRemote(channelId, keyIndex, outcome);
      onChange?.(channelId, keyIndex, outcome);
    },
    applyRemote,
    forget: (channelId) => void byChannel.delete(channelId),
  };
}

/** Returns an outcome that another replica sent; undefined if it is none. */
export function parseKeyOutcome(kind: unknown, message: unknown): KeyOutcome | undefined {
  const known = KINDS.find((one) => one === kind);
  return known && typeof message === "string" ? { kind: known, message } : undefined;
}

/** The parts of a test's result that are read. */
interface Tested {
  readonly isOk: boolean;
  readonly message: string;
  /** Set if the message is the gateway's own. */
  readonly key: string | undefined;
  readonly upstreamError: Pick<UpstreamError, "class" | "status"> | undefined;
}

/** Returns what a test shows about its key; undefined for a model that no test can ask. */
export function describeTest({ isOk, message, key, upstreamError }: Tested): KeyOutcome | undefined {
  if (isOk) return DELIVERED;
  if (key === "channel_test_unsuitable") return undefined;
  return { kind: upstreamError && isAccountRefused(upstreamError) ? "refused" : "failed", message };
}
