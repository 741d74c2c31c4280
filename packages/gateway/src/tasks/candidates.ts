import type { Quota } from "../billing/money/quota.ts";
import { admissionFor, type AdmissionController } from "../relay/admission/admission-controller.ts";
import { NOTHING_USED } from "../limits/claims.ts";
import type { AdmissionRequest } from "../relay/admission/admission-request.ts";
import { firstAdmitted, type Candidates } from "../relay/admission/candidates.ts";
import { whileWaiting } from "../relay/reservation/running.ts";
import type { TaskTarget } from "./channels.ts";
import type { TaskCall, TaskDeps } from "./types.ts";

/** A channel that may serve the task, with its first key. */
interface TaskCandidate extends TaskTarget {
  readonly keyIndex: 0;
}

/** The channels of one task that are below their limits, in the order in which they are tried. */
export class TaskCandidates implements Candidates<TaskCandidate> {
  readonly #candidates: readonly TaskCandidate[];
  readonly admission: AdmissionController | undefined;
  readonly #call: TaskCall;
  readonly #request: AdmissionRequest;
  readonly #deps: TaskDeps;
  #at = 0;
  #first: TaskCandidate | undefined;
  #renewal: NodeJS.Timeout | undefined;

  constructor(call: TaskCall, model: string, targets: readonly TaskTarget[], deps: TaskDeps) {
    const { requestId: id, caller, progress, tags } = call;
    // A task uses no tokens.
    const spec = { model, promptEstimate: 0, outputCap: 0 };
    this.#call = call;
    this.#request = { id, caller, spec, progress, tags };
    this.#deps = deps;
    this.admission = admissionFor(this.#request, deps.snapshots.current(), deps.admission);
    this.#candidates = targets.map((target) => ({ ...target, keyIndex: 0 }));
  }

  /** Takes the limits with the first channel that has capacity. */
  async enter(admission: AdmissionController, amount: Quota): Promise<TaskCandidate | undefined> {
    this.#call.progress.counted();
    const entering = admission.enter(this.next(), this, {
      client: this.#call.response,
      budgetAmounts: () => ({ amount }),
    });
    this.#first = await whileWaiting(this.#deps.running, admission, undefined, entering);
    this.#renewal = setInterval(() => void admission.renew(), RENEW_EVERY_MS).unref();
    return this.#first;
  }

  /** Returns the channels to try, one after the other. */
  async *channels(most: number): AsyncGenerator<TaskTarget> {
    let candidate = this.admission ? this.#first : this.next();
    for (let tried = 0; candidate && tried < most; tried += 1) {
      yield candidate;
      if (tried + 1 < most) candidate = await firstAdmitted(this.next(), this, this.admission);
    }
  }

  /** Called if no channel accepted the task. */
  giveUp(): void {
    clearInterval(this.#renewal);
    this.admission?.end(NOTHING_USED);
  }

  /** Called when the task was charged. */
  end(): void {
    clearInterval(this.#renewal);
    this.admission?.end({ tokens: 0, isSuccess: true });
  }

  /** Skips channels that an operator has disabled in the meantime, and returns the others as they are now. */
  next(): TaskCandidate | undefined {
    const { channels } = this.#deps.snapshots.current();
    for (let candidate = this.#candidates[this.#at++]; candidate; candidate = this.#candidates[this.#at++]) {
      const channel = channels.get(candidate.channel.id);
      if (channel?.status === 1 && channel.type === candidate.channel.type) return { ...candidate, channel };
    }
    return undefined;
  }

  /** Does nothing, because `next` has already moved past the candidate. */
  full(): void {}

  reopen(): TaskCandidate | undefined {
    this.#at = 0;
    return this.next();
  }

  lastResort(): undefined {}
}

const RENEW_EVERY_MS = 10_000;
