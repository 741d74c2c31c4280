/** A request's place in the queue of a channel. */
export interface Place {
  /** Resolves with true when it is this request's turn to try, with false after `ms`. */
  turn(ms: number): Promise<boolean>;
  /** Out of the queue, for whatever reason; a turn that is waited for ends without one. Later calls change nothing. */
  leave(): void;
}

/**
 * Requests that wait for a channel whose own limits are reached. Users take turns, whatever number of requests each of
 * them has waiting; those of one user keep their order.
 */
export interface Admission {
  /** Undefined when `most` requests wait for the channel already. */
  join(channelId: number, userId: number, most: number): Place | undefined;
  /** True when others wait: who comes now must not overtake them. */
  isWaitedFor(channelId: number): boolean;
  /** A request of the channel has ended here. */
  freed(channelId: number): void;
  readonly waiting: number;
}

/** Other replicas free places too, and minutes end: the first in the queue looks from time to time. */
const LOOK_EVERY_MS = 100;

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

export function createAdmission(lookEveryMs: number = LOOK_EVERY_MS): Admission {
  const queues = new Map<number, Queue>();

  const wakeNext = (queue: Queue) => {
    for (const [userId, waiters] of queue.users) {
      const waiter = waiters.find(({ wake }) => wake !== undefined);
      if (!waiter) continue;
      // The user's next request comes after one of everybody else.
      queue.users.delete(userId);
      queue.users.set(userId, waiters);
      waiter.wake?.(true);
      return;
    }
  };
  const queueOf = (channelId: number): Queue => {
    const known = queues.get(channelId);
    if (known) return known;
    const queue: Queue = { users: new Map(), size: 0, timer: undefined };
    queue.timer = setInterval(() => wakeNext(queue), lookEveryMs).unref();
    queues.set(channelId, queue);
    return queue;
  };
  const leave = (channelId: number, queue: Queue, waiter: Waiter) => {
    const waiters = queue.users.get(waiter.userId) ?? [];
    const at = waiters.indexOf(waiter);
    if (at < 0) return;
    waiters.splice(at, 1);
    if (waiters.length === 0) queue.users.delete(waiter.userId);
    queue.size -= 1;
    waiter.wake?.(false);
    if (queue.size > 0) return;
    clearInterval(queue.timer);
    queues.delete(channelId);
  };

  return {
    join(channelId, userId, most) {
      if ((queues.get(channelId)?.size ?? 0) >= most) return undefined;
      const queue = queueOf(channelId);
      const waiter: Waiter = { userId, wake: undefined };
      queue.users.set(userId, [...(queue.users.get(userId) ?? []), waiter]);
      queue.size += 1;
      return { turn: (ms) => turn(waiter, ms), leave: () => leave(channelId, queue, waiter) };
    },
    isWaitedFor: (channelId) => queues.size > 0 && queues.has(channelId),
    freed(channelId) {
      const queue = queues.get(channelId);
      if (queue) wakeNext(queue);
    },
    get waiting() {
      let sum = 0;
      for (const { size } of queues.values()) sum += size;
      return sum;
    },
  };
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
