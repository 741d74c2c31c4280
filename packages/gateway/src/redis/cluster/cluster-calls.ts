import { setTimeout as pause } from "node:timers/promises";
import type { Answer } from "../connection.ts";
import { RedisUnavailable } from "../redis-unavailable.ts";
import type { Call } from "../script.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { NodeConnection, NodeConnections } from "./node-connections.ts";
import { parseRedirect, type Redirect } from "./redirect.ts";
import { findRoutingKey, calculateSlot } from "./slots.ts";

/** Sends calls to the nodes of a cluster, each to the primary of its key. */
export interface ClusterCalls {
  /**
   * Sends one write to each node; the calls of an unavailable node get RedisUnavailable as their answer. Never throws
   * that.
   */
  sendEach(calls: readonly Call[], timeoutMs: number): Promise<Answer[]>;
  /** Sends one call; throws its error. */
  sendOne(call: Call, timeoutMs: number): Promise<unknown>;
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;
/** Redirects of a call that are followed without a pause between two tries. */
const AT_ONCE = 2;

/**
 * Creates the calls. A node that does not have the slot of a call says so before it does anything, so the call is sent
 * again until its time is over. No other call is repeated, because a call without an answer may have run.
 */
export function createClusterCalls(state: ClusterState, nodes: NodeConnections): ClusterCalls {
  return new RoutedCalls(state, nodes);
}

/** An answer, or an Error in its place. */
type NodeAnswer = readonly [answer: Answer, by: NodeConnection | undefined];

class RoutedCalls implements ClusterCalls {
  readonly #state: ClusterState;
  readonly #nodes: NodeConnections;

  constructor(state: ClusterState, nodes: NodeConnections) {
    this.#state = state;
    this.#nodes = nodes;
  }

  async sendEach(calls: readonly Call[], timeoutMs: number): Promise<Answer[]> {
    const deadline = performance.now() + timeoutMs;
    const answers: Answer[] = Array.from({ length: calls.length });
    const places = Map.groupBy(calls.keys(), (at) => this.#findNode(calls[at] as Call));
    const sendTo = async (node: NodeConnection | undefined, of: readonly number[]) => {
      const some = of.map((at) => calls[at] as Call);
      const got = await sendSome(node, some, timeoutMs, this.#state);
      const again = of.map(async (at, index) => {
        const redirect = parseRedirect(got[index], node?.at);
        answers[at] = redirect ? await this.#follow(calls[at] as Call, redirect, deadline) : got[index];
      });
      await Promise.all(again);
    };
    await Promise.all([...places].map(([node, of]) => sendTo(node, of)));
    return answers;
  }

  async sendOne(call: Call, timeoutMs: number): Promise<unknown> {
    const node = this.#findNode(call);
    if (!node) throw unowned(this.#state);
    const sentAt = performance.now();
    try {
      return await node.sendOne(call, timeoutMs);
    } catch (error) {
      doubtSilent(error, this.#state);
      const redirect = parseRedirect(error, node.at);
      if (!redirect) throw error;
      const answer = await this.#follow(call, redirect, sentAt + timeoutMs);
      if (answer instanceof Error) throw answer;
      return answer;
    }
  }

  #findNode(call: Call): NodeConnection | undefined {
    const key = findRoutingKey(call);
    const at = key === undefined ? anywhere(this.#state, this.#nodes) : this.#state.findOwner(calculateSlot(key));
    return at && this.#nodes.to(at);
  }

  /** Follows redirects; returns the error of the call instead of throwing it. */
  async #follow(call: Call, first: Redirect, deadline: number): Promise<Answer> {
    let redirect = first;
    let ms = FIRST_PAUSE_MS;
    for (let tries = 1; ; tries += 1) {
      if (redirect.kind === "moved") this.#state.moved(redirect.slot, redirect.to);
      if (redirect.kind === "wait") this.#state.doubt();
      if (redirect.kind === "wait" || tries > AT_ONCE) {
        if (performance.now() + ms >= deadline) return givenUp(redirect);
        await pause(ms);
        ms = Math.min(2 * ms, LONGEST_PAUSE_MS);
      }
      const isReceiving = redirect.kind === "ask";
      const node = redirect.kind === "ask" ? this.#nodes.to(redirect.to) : this.#findNode(call);
      const [answer, by] = await this.#ask(call, node, { isReceiving, deadline });
      const next = parseRedirect(answer, by?.at);
      if (!next) return answer;
      redirect = next;
    }
  }

  async #ask(
    call: Call,
    node: NodeConnection | undefined,
    { isReceiving, deadline }: { readonly isReceiving: boolean; readonly deadline: number },
  ): Promise<NodeAnswer> {
    if (!node) return [unowned(this.#state), undefined];
    await node.ready(calculateRemainingMs(deadline));
    const answer = isReceiving
      ? node.asking(call, calculateRemainingMs(deadline))
      : node.sendOne(call, calculateRemainingMs(deadline));
    return [await answer.catch((error: unknown) => error), node];
  }
}

async function sendSome(
  node: NodeConnection | undefined,
  calls: readonly Call[],
  timeoutMs: number,
  state: ClusterState,
): Promise<readonly Answer[]> {
  try {
    if (!node) throw unowned(state);
    return await node.send(calls, timeoutMs);
  } catch (error) {
    if (!(error instanceof RedisUnavailable)) throw error;
    doubtSilent(error, state);
    return calls.map(() => error);
  }
}

/**
 * Checks the topology after a timeout: another node may have replaced one that hangs, and its connection alone does not
 * show it.
 */
function doubtSilent(error: unknown, state: ClusterState): void {
  if (error instanceof RedisUnavailable && error.mayHaveRun) state.doubt();
}

/** Returns a usable primary, if there is one. */
function anywhere({ topology }: ClusterState, nodes: NodeConnections) {
  const { primaries = [] } = topology ?? {};
  return primaries.find((primary) => nodes.to(primary).isUsable) ?? primaries[0];
}

function calculateRemainingMs(deadline: number): number {
  return Math.max(1, Math.ceil(deadline - performance.now()));
}

function unowned({ lastError }: ClusterState): RedisUnavailable {
  return new RedisUnavailable(lastError?.message ?? "no node of the Redis Cluster has answered yet", false);
}

function givenUp(redirect: Redirect): RedisUnavailable {
  if (redirect.kind !== "wait") return new RedisUnavailable("the nodes of the Redis Cluster name each other", false);
  const cure = redirect.reason.startsWith("TRYAGAIN")
    ? ": its slot is moving; if that does not end, run redis-cli --cluster fix"
    : "";
  return new RedisUnavailable(`the Redis Cluster cannot run it now (${redirect.reason})${cure}`, false);
}
