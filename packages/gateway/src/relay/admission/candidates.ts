import type { LimitedChannel } from "../../limits/request-limits.ts";
import type { Gate } from "./admission-controller.ts";

/** An upstream key that may serve. */
export interface Room {
  readonly channel: LimitedChannel;
  readonly group: string;
  readonly keyIndex: number;
}

/** What of a room is full: one key, or the channel with all its keys. */
export type Full = "key" | "channel";

/** Where room is looked for, best first. */
export interface Rooms<R extends Room> {
  next(): R | undefined;
  /** Passed over as if it were not there. */
  full(room: R, what: Full): void;
  /** Everything that was full may be tried again, as far as it still may serve. */
  reopen(): R | undefined;
  /** What is only good enough when nobody waits any longer; the others of its kind come next. */
  lastResort(): R | undefined;
}

/** The room, or the next one of the rooms where the request fits. */
export async function withRoom<R extends Room>(
  room: R | undefined,
  rooms: Rooms<R>,
  gate: Gate | undefined,
): Promise<R | undefined> {
  if (!gate) return room;
  for (let next = room; next; next = rooms.next()) {
    if (await gate.move(next)) return next;
    rooms.full(next, gate.full);
  }
  return undefined;
}

/** Rooms of which there is but one, that was tried already. */
export function onlyRoom<R extends Room>(room: R): Rooms<R> {
  return { next: () => undefined, full: () => undefined, reopen: () => room, lastResort: () => undefined };
}
