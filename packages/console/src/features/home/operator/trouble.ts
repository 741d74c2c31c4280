import type { Channel, ChannelHealth, UsageSubject } from "@fairway/wire";
import { statusInfo } from "../../../lib/text/status-info.ts";

export interface TroubleInput {
  readonly disabled: readonly Pick<Channel, "id" | "name" | "other_info">[];
  readonly health: readonly ChannelHealth[];
  /** By channel, of the last day. */
  readonly usage: readonly Pick<UsageSubject, "subject" | "name" | "calls" | "errors">[];
}

/** Worst first. */
const KINDS = ["disabled", "open", "failing", "errors", "resting"] as const;
export type TroubleKind = (typeof KINDS)[number];

export interface Trouble {
  readonly id: number;
  readonly name: string;
  readonly kind: TroubleKind;
  /** The reason given by the upstream or the system; "" if there is none. */
  readonly reason: string;
  /** When it began, Unix seconds. */
  readonly at: number | undefined;
  /** How many keys are affected. */
  readonly keys: number;
  /** How long until the first key is tried again. */
  readonly waitMs: number;
  readonly calls: number;
  readonly errors: number;
}

/** The smallest share and number of failures that are reported. */
const LEAST_SHARE = 0.05;
const LEAST_ERRORS = 3;

const OF_HEALTH: Partial<Record<ChannelHealth["state"], TroubleKind>> = {
  open: "open",
  "half-open": "open",
  failing: "failing",
  resting: "resting",
};

/** Returns the channels that need an operator, the worst first, each once with its worst reason. */
export function findTrouble({ disabled, health, usage }: TroubleInput): Trouble[] {
  const sums = new Map(usage.map((one) => [Number(one.subject), one]));
  const found = new Map<number, Trouble>();
  const add = (id: number, trouble: Pick<Trouble, "kind"> & Partial<Trouble>) => {
    const known = found.get(id);
    if (known && KINDS.indexOf(known.kind) <= KINDS.indexOf(trouble.kind)) return;
    const { name = `#${id}`, calls = 0, errors = 0 } = sums.get(id) ?? {};
    found.set(id, { id, name, reason: "", at: undefined, keys: 0, waitMs: 0, calls, errors, ...trouble });
  };
  for (const { id, name, other_info: info } of disabled) add(id, { kind: "disabled", name, ...statusInfo(info) });
  for (const [id, rows] of grouped(health)) {
    for (const kind of ["open", "failing", "resting"] as const) {
      const keys = rows.filter(({ state }) => OF_HEALTH[state] === kind);
      if (keys.length === 0) continue;
      const waitMs = Math.min(...keys.map(({ wait_ms: wait }) => wait));
      add(id, { kind, keys: new Set(keys.map(({ key_index: index }) => index)).size, waitMs });
    }
  }
  for (const { subject, calls, errors } of usage) {
    if (errors >= LEAST_ERRORS && errors / calls >= LEAST_SHARE) add(Number(subject), { kind: "errors" });
  }
  return [...found.values()].toSorted(
    (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || b.errors - a.errors || a.id - b.id,
  );
}

function grouped(health: readonly ChannelHealth[]): Map<number, ChannelHealth[]> {
  return Map.groupBy(health, ({ channel_id: id }) => id);
}
