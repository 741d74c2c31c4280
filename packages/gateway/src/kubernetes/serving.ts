import { CHANNEL_STATUS } from "@fairway/wire";
import { parseObject } from "../lib/text/json.ts";
import type { ChannelRecord } from "../providers/core/types.ts";
import { providerByType } from "../providers/registry.ts";
import { findCondition, type Verdict } from "./conditions.ts";
import type { Resource } from "./resources.ts";

/** What this replica knows about upstreams, from its own calls and those of the others. */
export interface UpstreamHealth {
  readonly breakers: {
    states(): readonly { readonly channelId: number; readonly keyIndex: number; readonly state: string }[];
  };
  readonly keyOutcomes: {
    /** Returns the latest outcome that shows whether the upstream serves the key. */
    find(
      channelId: number,
      keyIndex: number,
    ): { readonly kind: "delivered" | "refused" | "failed"; readonly message: string } | undefined;
  };
}

export interface ServingDeps {
  readonly health: UpstreamHealth;
  readonly snapshots: { current(): { readonly channels: ReadonlyMap<number, ChannelRecord> } };
  /** Returns the member `other_info` of a channel, which holds the reason of its status. */
  readonly findStatusInfo: (channelId: number) => Promise<string>;
}

export interface Asked {
  readonly resource: Resource;
  readonly channelId: number;
  /** True if the gateway's channel was just changed, so that earlier refusals say nothing about it. */
  readonly isChanged: boolean;
}

const SERVING: Verdict = { status: "True", reason: "Serving", message: "The channel takes calls." };
/** Reasons that only a later outcome ends: a new leader keeps them until it knows one. */
const HELD: ReadonlySet<string> = new Set(["KeyRefused", "TestFailed"]);

/** Finds out whether a channel takes calls now, whatever its resource says. */
export class Serving {
  readonly #deps: ServingDeps;

  constructor(deps: ServingDeps) {
    this.#deps = deps;
  }

  async check(asked: Asked): Promise<Verdict> {
    const channel = this.#deps.snapshots.current().channels.get(asked.channelId);
    if (!channel)
      return createFault("Unreadable", "The gateway has no usable channel of this number; its log says why.");
    const off = await this.#findSwitchedOff(asked.resource, channel);
    return off ?? this.#findRefused(asked, channel) ?? this.#findBroken(channel) ?? SERVING;
  }

  async #findSwitchedOff({ object }: Resource, channel: ChannelRecord): Promise<Verdict | undefined> {
    const { id, status } = channel;
    const isDisabled = status === CHANNEL_STATUS.disabledByHand;
    if (isDisabled && isDisabledBySpec(object.spec)) return createFault("Disabled", "spec.enabled is false.");
    const lack = findLack(channel);
    if (lack) return lack;
    if (status === CHANNEL_STATUS.enabled) return undefined;
    const { status_reason: reason, status_until: until } = parseObject(await this.#deps.findStatusInfo(id)) ?? {};
    const why = typeof reason === "string" && reason !== "" ? `: ${reason}` : "";
    if (!isDisabled) return createFault("DisabledBySystem", `The gateway switched the channel off${why}.`);
    const end = typeof until === "number" ? ` until ${new Date(until * 1000).toISOString()}` : "";
    return createFault("DisabledByHand", `The channel is switched off by hand${end}${why}.`);
  }

  /** Finds a channel whose usable keys were all refused, or failed their tests, since their last delivered answers. */
  #findRefused({ resource, isChanged }: Asked, channel: ChannelRecord): Verdict | undefined {
    const outcomes = listUsableKeys(channel).map((key) => this.#deps.health.keyOutcomes.find(channel.id, key));
    if (outcomes.every((one) => one === undefined) && !isChanged) return findHeld(resource);
    const [first] = outcomes;
    if (!first || outcomes.some((one) => one === undefined || one.kind === "delivered")) return undefined;
    const said = first.message === "" ? "" : `: ${first.message}`;
    return first.kind === "refused"
      ? createFault("KeyRefused", `The provider refused the key or its account${said}. A delivered answer ends this.`)
      : createFault("TestFailed", `The last test failed${said}. A delivered answer ends this.`);
  }

  #findBroken(channel: ChannelRecord): Verdict | undefined {
    const broken = new Set(
      this.#deps.health.breakers
        .states()
        .flatMap(({ channelId, keyIndex, state }) =>
          channelId === channel.id && state !== "failing" ? [keyIndex] : [],
        ),
    );
    if (broken.size === 0 || !listUsableKeys(channel).every((key) => broken.has(key))) return undefined;
    return createFault("BreakerOpen", "Too many calls failed in a row, so the channel is skipped until one succeeds.");
  }
}

function isDisabledBySpec(spec: unknown): boolean {
  return (spec as { readonly enabled?: unknown } | undefined)?.enabled === false;
}

/** Finds what a channel needs for every call and does not have. */
function findLack({ type, keys, baseUrl }: ChannelRecord): Verdict | undefined {
  const provider = providerByType(type);
  if (provider?.isKeyOptional !== true && keys.every((key) => key === ""))
    return createFault("NoKey", "The channel has no key, so it stays off until it gets one.");
  if (baseUrl !== "" || !provider || provider.baseUrl !== "" || provider.base !== undefined) return undefined;
  return createFault(
    "NoAddress",
    "The provider has no address of its own, so the channel takes no calls until spec.baseUrl names one.",
  );
}

function findHeld({ object }: Resource): Verdict | undefined {
  const known = findCondition(object.status, "Ready");
  return known && HELD.has(known.reason) ? createFault(known.reason, known.message) : undefined;
}

function listUsableKeys({ keys, usableKeys = [...keys.keys()] }: ChannelRecord): readonly number[] {
  return usableKeys.length > 0 ? usableKeys : [0];
}

function createFault(reason: string, message: string): Verdict {
  return { status: "False", reason, message };
}
