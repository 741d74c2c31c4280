import type { Quota } from "../billing/quota.ts";
import { gateFor, NOTHING_USED, type Gate } from "../relay/gate.ts";
import { withRoom, type Rooms } from "../relay/rooms.ts";
import type { TaskChoice } from "./channels.ts";
import type { TaskCall, TaskDeps } from "./types.ts";

/** A channel that has room for the task; tasks use its first key. */
interface TaskRoom extends TaskChoice {
  readonly keyIndex: 0;
}

/** The channels of one task as far as they have room, in the order in which they are tried. */
export class TaskRooms implements Rooms<TaskRoom> {
  readonly #rooms: readonly TaskRoom[];
  readonly gate: Gate | undefined;
  readonly #call: TaskCall;
  #at = 0;
  #first: TaskRoom | undefined;
  #renewal: NodeJS.Timeout | undefined;

  constructor(call: TaskCall, model: string, choices: readonly TaskChoice[], deps: TaskDeps) {
    const { requestId: id, caller } = call;
    // What a task uses is no tokens.
    const ask = { model, promptEstimate: 0, outputCap: 0 };
    this.#call = call;
    this.gate = gateFor({ id, caller, ask }, deps.snapshots.current(), deps.gate);
    this.#rooms = choices.map((choice) => ({ ...choice, keyIndex: 0 }));
  }

  /** Takes the limits with the first channel that has room. */
  async enter(gate: Gate, amount: Quota): Promise<TaskRoom | undefined> {
    this.#call.isCounted = true;
    this.#first = await gate.enter(this.next(), this, { visitor: this.#call.response, amount: () => amount });
    this.#renewal = setInterval(() => void gate.renew(), RENEW_EVERY_MS).unref();
    return this.#first;
  }

  /** The channels to try, one after the other. */
  async *channels(most: number): AsyncGenerator<TaskChoice> {
    let room = this.gate ? this.#first : this.next();
    for (let tried = 0; room && tried < most; tried += 1) {
      yield room;
      if (tried + 1 < most) room = await withRoom(this.next(), this, this.gate);
    }
  }

  /** What the task was charged; undefined when no channel took it. */
  end(quota: Quota | undefined): void {
    clearInterval(this.#renewal);
    this.gate?.end(quota === undefined ? NOTHING_USED : { tokens: 0, quota, isSuccess: true });
  }

  next(): TaskRoom | undefined {
    return this.#rooms[this.#at++];
  }

  /** It is behind already. */
  full(): void {}

  reopen(): TaskRoom | undefined {
    this.#at = 0;
    return this.next();
  }

  lastResort(): undefined {}
}

const RENEW_EVERY_MS = 10_000;
