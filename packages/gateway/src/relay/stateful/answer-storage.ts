import type { Usage } from "../../dialects/core/types.ts";
import type { Delivery } from "../response/delivery.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { RelayRequest } from "../types.ts";
import { IdFinder } from "./id-finder.ts";
import type { ResponseOwners } from "./owners.ts";
import type { ResponseStore } from "./response-store.ts";
import { pendingAnswerOf, type AnswerToStore } from "./store-policy.ts";

export interface AnswerStorageDeps {
  /** Remembers which account stores which answer; absent where no answer is stored. */
  readonly owners?: Pick<ResponseOwners, "remember">;
  /** Stores converted answers; absent where no answer is stored. */
  readonly responseStore?: Pick<ResponseStore, "keep" | "takes">;
}

/** Undefined for a request whose answer is not stored. */
export function answerStorageOf(
  request: RelayRequest,
  target: RouteTarget,
  delivery: Delivery,
  deps: AnswerStorageDeps,
): AnswerStorage | undefined {
  return request.storesAnswer === true ? new AnswerStorage(request, target, delivery, deps) : undefined;
}

/** Makes the answer of one call available to follow-ups: stored by the upstream, or here where it is converted. */
export class AnswerStorage {
  /** Set where this gateway stores the answer. */
  readonly pending: AnswerToStore | undefined;
  readonly #idFinder: IdFinder | undefined;
  readonly #delivery: Delivery;

  constructor(request: RelayRequest, target: RouteTarget, delivery: Delivery, deps: AnswerStorageDeps) {
    const { channel, keyIndex, plan } = target;
    const remember = (id: string) =>
      deps.owners?.remember(id, { userId: request.caller.userId, channelId: channel.id, keyIndex });
    const isAtUpstream = plan.bridges.length === 0;
    this.#idFinder = isAtUpstream ? new IdFinder((id) => delivery.whenAllowed(() => remember(id))) : undefined;
    this.pending = pendingAnswerOf(request, target, deps.responseStore);
    this.#delivery = delivery;
  }

  /** Bytes of the answer as they arrive. */
  feed(chunk: Buffer): void {
    this.#idFinder?.feed(chunk);
  }

  charged(usage: Promise<Usage>): Promise<Usage> {
    return this.pending ? this.pending.charged(usage) : usage;
  }

  /** The whole answer has reached the client. */
  delivered(): void {
    const { pending } = this;
    if (pending) this.#delivery.whenAllowed(() => pending.delivered());
  }
}
