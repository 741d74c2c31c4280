import type { AppError } from "../../lib/app-error.ts";
import type { ChannelRecord } from "../../providers/core/types.ts";
import { UnorderedSet, type Member } from "../../lib/unordered-set.ts";
import type { Runnable } from "../../lib/async/runnable.ts";

interface ServingKey {
  readonly channel: Pick<ChannelRecord, "id" | "keys">;
  readonly keyIndex: number;
}

/** A request between its reservation and its charge. */
export interface RunningRequest extends Member {
  readonly isStream: boolean;
  /** The calls of upstreams, the current one last; absent if none is called. */
  readonly tried?: readonly { readonly target: ServingKey }[];
  /** Milliseconds of the monotonic clock; set by the list of running requests. */
  renewAt?: number;
  /** Keeps the reservation alive and updates what was delivered so far. */
  renew(): Promise<void>;
  /** Ends the request from the gateway's side; what was delivered is billed. */
  stop(error: AppError): void;
}

/** A call from its head to the last byte of its answer, whether or not it reserves something. */
export interface OpenCall extends Member {
  /** Answers a call that is still being read. */
  giveUp(error: AppError): void;
}

/** All requests that this process is serving: it renews their leases, and waits for them when the process drains. */
export interface RunningRequests extends Runnable {
  arrived(call: OpenCall): void;
  left(call: OpenCall): void;
  /** Calls that are not over: a body may still be arriving, or an answer be on its way to a slow client. */
  calls(): readonly OpenCall[];
  add(request: RunningRequest): void;
  remove(request: RunningRequest): void;
  readonly requests: number;
  readonly streams: number;
  /** Requests by the id of the channel that serves them; those that wait for a channel are not included. */
  byChannel(): ReadonlyMap<number, number>;
  all(): readonly RunningRequest[];
  /** Resolves when no request is left, or after `ms`. */
  drained(ms: number): Promise<void>;
  /** Resolves when neither a request nor a call is left, or after `ms`. */
  idle(ms: number): Promise<void>;
}

const POLL_MS = 1_000;
/** After a crash, this much of a new request may be unbilled; most requests are shorter. */
const FIRST_RENEWAL_MS = 3_000;
const RENEW_EVERY_MS = 10_000;

export function createRunningRequests(onRenewFailure: (error: unknown) => void): RunningRequests {
  const running = new UnorderedSet<RunningRequest>();
  const calls = new UnorderedSet<OpenCall>();
  const waiting = new Set<() => void>();
  const idlers = new Set<() => void>();
  let streams = 0;
  let timer: NodeJS.Timeout | undefined;

  const renewAll = () => {
    const now = performance.now();
    for (const request of running.all()) {
      if ((request.renewAt ?? 0) > now) continue;
      request.renewAt = now + RENEW_EVERY_MS;
      request.renew().catch(onRenewFailure);
    }
  };

  const wakeIdlers = () => {
    if (running.size + calls.size === 0) for (const wake of idlers) wake();
  };

  return {
    name: "running requests",
    start() {
      timer = setInterval(renewAll, POLL_MS).unref();
    },
    stop: () => clearInterval(timer),
    add(request) {
      request.renewAt = performance.now() + FIRST_RENEWAL_MS;
      running.add(request);
      if (request.isStream) streams++;
    },
    remove(request) {
      if (!running.delete(request)) return;
      if (request.isStream) streams--;
      if (running.size === 0) for (const wake of waiting) wake();
      wakeIdlers();
    },
    arrived(call) {
      calls.add(call);
    },
    left(call) {
      calls.delete(call);
      wakeIdlers();
    },
    calls: () => calls.all(),
    get requests() {
      return running.size;
    },
    get streams() {
      return streams;
    },
    byChannel: () => countByChannel(running.all()),
    all: () => running.all(),
    async drained(ms) {
      if (running.size > 0) await waitOrTimeout(waiting, ms);
    },
    async idle(ms) {
      if (running.size + calls.size > 0) await waitOrTimeout(idlers, ms);
    },
  };
}

function countByChannel(requests: readonly RunningRequest[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { tried } of requests) {
    const id = tried?.at(-1)?.target.channel.id;
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

function waitOrTimeout(waiting: Set<() => void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      waiting.delete(done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    waiting.add(done);
  });
}

/** A request that may wait for a channel. */
interface Waiter {
  giveUp(reason: AppError): void;
  /** Renews the claims that were taken before the wait. */
  renew?(): Promise<void>;
}

/**
 * Renews what `opening` reserves and the claims of `waiter` while a request waits for a channel. A draining process
 * waits for the request, and refuses it when its time is over.
 */
export async function whileWaiting<T>(
  running: Pick<RunningRequests, "add" | "remove">,
  waiter: Waiter,
  opening: Promise<{ renew(): Promise<void> }> | undefined,
  work: Promise<T>,
): Promise<T> {
  const waiting: RunningRequest = {
    isStream: false,
    renew: async () => void (await Promise.all([waiter.renew?.(), opening?.then((money) => money.renew())])),
    stop: (error) => waiter.giveUp(error),
  };
  return keepRunning(running, waiting, () => work);
}

/** Lists a request as running while its work lasts: its lease is renewed, and a draining process waits for it. */
export async function keepRunning<T>(
  running: Pick<RunningRequests, "add" | "remove">,
  request: RunningRequest,
  work: () => Promise<T>,
): Promise<T> {
  running.add(request);
  try {
    return await work();
  } finally {
    running.remove(request);
  }
}
