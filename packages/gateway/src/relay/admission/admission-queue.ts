/** A request's place in the queues of channels. */
export interface QueuePosition {
  /** Resolves with true when it is this request's turn to try, with false after `ms`. */
  turn(ms: number): Promise<boolean>;
  /** True if it waits for this channel. */
  isIn(channelId: number): boolean;
  /** Leaves all queues; a pending `turn` resolves with false. Later calls change nothing. */
  leave(): void;
}

/**
 * Requests that wait for channels whose own limits are reached. Users take turns, however many requests each of them
 * has waiting; the requests of one user stay in order. A request that waits for several channels is in each of their
 * queues: it takes the first that becomes free, and no later request overtakes it at one of the others.
 */
export interface AdmissionQueue {
  /** Joins the queues that have fewer than `most` requests; undefined if all are full. */
  join(channelIds: Iterable<number>, userId: number, most: number): QueuePosition | undefined;
  /** True if others wait: a new request must not overtake them. */
  isWaitedFor(channelId: number): boolean;
  /** Called when a place in the channel may be free. */
  freed(channelId: number): void;
  readonly waiting: number;
}

/** Other replicas free places too, and minutes end, so the first in the queue polls. */
const POLL_MS = 100;

interface Waiter {
  readonly userId: number;
  wake: ((isTurn: boolean) => void) | undefined;
}

interface Queue {
  /** In the order of their turns. */
  readonly users: Map<number, Waiter[]>;
  size: number;
  timer: NodeJS.Timeout | undefined;
}

/** `pollMs`: how often the first request of each queue tries without being woken. */
export function createAdmissionQueue(pollMs: number = POLL_MS): AdmissionQueue {
  return new ChannelQueues(pollMs);
}

class ChannelQueues implements AdmissionQueue {
  readonly #queues = new Map<number, Queue>();
  readonly #pollMs: number;
  waiting = 0;

  constructor(pollMs: number) {
    this.#pollMs = pollMs;
  }

  join(channelIds: Iterable<number>, userId: number, most: number): QueuePosition | undefined {
    const hasSpace = (channelId: number) => (this.#queues.get(channelId)?.size ?? 0) < most;
    const joined = new Set([...channelIds].filter(hasSpace));
    if (joined.size === 0) return undefined;
    const waiter: Waiter = { userId, wake: undefined };
    this.waiting += 1;
    for (const channelId of joined) {
      const queue = this.#ensureQueue(channelId);
      queue.users.set(userId, [...(queue.users.get(userId) ?? []), waiter]);
      queue.size += 1;
    }
    return this.#createPosition(waiter, joined);
  }

  isWaitedFor(channelId: number): boolean {
    return this.#queues.has(channelId);
  }

  freed(channelId: number): void {
    const queue = this.#queues.get(channelId);
    if (queue) wakeNext(queue);
  }

  #createPosition(waiter: Waiter, joined: ReadonlySet<number>): QueuePosition {
    let hasLeft = false;
    return {
      turn: (ms) => turn(waiter, ms),
      isIn: (channelId) => !hasLeft && joined.has(channelId),
      leave: () => {
        if (hasLeft) return;
        hasLeft = true;
        this.waiting -= 1;
        for (const channelId of joined) this.#leave(channelId, waiter);
        waiter.wake?.(false);
      },
    };
  }

  #ensureQueue(channelId: number): Queue {
    const known = this.#queues.get(channelId);
    if (known) return known;
    const queue: Queue = { users: new Map(), size: 0, timer: undefined };
    queue.timer = setInterval(() => wakeNext(queue), this.#pollMs).unref();
    this.#queues.set(channelId, queue);
    return queue;
  }

  #leave(channelId: number, waiter: Waiter): void {
    const queue = this.#ensureQueue(channelId);
    const waiters = (queue.users.get(waiter.userId) ?? []).filter((other) => other !== waiter);
    if (waiters.length === 0) queue.users.delete(waiter.userId);
    else queue.users.set(waiter.userId, waiters);
    queue.size -= 1;
    if (queue.size > 0) return;
    clearInterval(queue.timer);
    this.#queues.delete(channelId);
  }
}

function wakeNext(queue: Queue): void {
  for (const [userId, waiters] of queue.users) {
    const waiter = waiters.find(({ wake }) => wake !== undefined);
    if (!waiter) continue;
    // The user's next request comes after one request of each other user.
    queue.users.delete(userId);
    queue.users.set(userId, waiters);
    waiter.wake?.(true);
    return;
  }
}

function turn(waiter: Waiter, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => waiter.wake?.(false), ms);
    waiter.wake = (isTurn) => {
      waiter.wake = undefined;
      clearTimeout(timer);
      resolve(isTurn);
    };
  });
}
