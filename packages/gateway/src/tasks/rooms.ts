import type { Quota } from "../billing/money/quota.ts";
import { chargeNewBudgets } from "../relay/admission/budget-check.ts";
import {
  admissionFor,
  NOTHING_USED,
  type AdmissionRequest,
  type AdmissionController,
} from "../relay/admission/admission-controller.ts";
import { firstAdmitted, type Candidates } from "../relay/admission/candidates.ts";
import { whileWaiting } from "../relay/pipeline/running.ts";
import type { TaskChoice } from "./channels.ts";
import type { TaskCall, TaskDeps } from "./types.ts";

/** A channel that has room for the task; tasks use its first key. */
interface TaskRoom extends TaskChoice {
  readonly keyIndex: 0;
}

/** The channels of one task as far as they have room, in the order in which they are tried. */
export class TaskRooms implements Candidates<TaskRoom> {
  readonly #rooms: readonly TaskRoom[];
  readonly admission: AdmissionController | undefined;
  readonly #call: TaskCall;
  readonly #request: AdmissionRequest;
  readonly #deps: TaskDeps;
  #at = 0;
  #first: TaskRoom | undefined;
  #renewal: NodeJS.Timeout | undefined;

  constructor(call: TaskCall, model: string, choices: readonly TaskChoice[], deps: TaskDeps) {
    const { requestId: id, caller } = call;
    // What a task uses is no tokens.
    const ask = { model, promptEstimate: 0, outputCap: 0 };
    this.#call = call;
    this.#request = { id, caller, spec: ask };
    this.#deps = deps;
    this.admission = admissionFor(this.#request, deps.snapshots.current(), deps.admission);
    this.#rooms = choices.map((choice) => ({ ...choice, keyIndex: 0 }));
  }

  /** Takes the limits with the first channel that has room. */
  async enter(admission: AdmissionController, amount: Quota): Promise<TaskRoom | undefined> {
    this.#call.isCounted = true;
    const entering = admission.enter(this.next(), this, { client: this.#call.response, amount: () => amount });
    this.#first = await whileWaiting(this.#deps.running, admission, undefined, entering);
    this.#renewal = setInterval(() => void admission.renew(), RENEW_EVERY_MS).unref();
    return this.#first;
  }

  /** The channels to try, one after the other. */
  async *channels(most: number): AsyncGenerator<TaskChoice> {
    let room = this.admission ? this.#first : this.next();
    for (let tried = 0; room && tried < most; tried += 1) {
      yield room;
      if (tried + 1 < most) room = await firstAdmitted(this.next(), this, this.admission);
    }
  }

  /** No channel took the task. */
  giveUp(): void {
    clearInterval(this.#renewal);
    this.admission?.end(NOTHING_USED);
  }

  /** What the task was charged on the channel that took it. */
  end(choice: TaskChoice, quota: Quota): void {
    clearInterval(this.#renewal);
    if (this.admission) this.admission.end({ tokens: 0, quota, isSuccess: true, isRefundable: true });
    else chargeNewBudgets(this.#request, choice, quota, { ...this.#deps.admission, isRefundable: true });
  }

  /** What an operator has switched off meanwhile is passed over, what was changed serves as it is now. */
  next(): TaskRoom | undefined {
    const { channels } = this.#deps.snapshots.current();
    for (let room = this.#rooms[this.#at++]; room; room = this.#rooms[this.#at++]) {
      const channel = channels.get(room.channel.id);
      if (channel?.status === 1 && channel.type === room.channel.type) return { ...room, channel };
    }
    return undefined;
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
