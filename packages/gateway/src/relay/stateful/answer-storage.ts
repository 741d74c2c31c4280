import { openaiResponses } from "../../dialects/openai-responses/index.ts";
import type { PendingAnswer } from "../../dialects/core/bridge.ts";
import type { AnswerIds, JsonObject, Usage } from "../../dialects/core/types.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { RelayRequest } from "../request/request.ts";
import { AnswerIdReader } from "./answer-id-reader.ts";
import type { ResponseOwners } from "./owners.ts";
import type { ResponseStore } from "./response-store.ts";
import { inputItems } from "./items.ts";

export interface AnswerStorageDeps {
  /** Remembers which account stores which answer; absent if no answer is stored. */
  readonly owners?: Pick<ResponseOwners, "remember">;
  /** Stores converted answers; absent if no answer is stored. */
  readonly responseStore?: Pick<ResponseStore, "keep" | "takes">;
}

/** Says when the client may learn the answer: a guardrail may refuse it until then. */
interface Release {
  whenAllowed(run: () => void): void;
}

/** Undefined for a request whose answer is not stored and that names nothing stored. */
export function createAnswerStorage(
  request: RelayRequest,
  target: RouteTarget,
  delivery: Release,
  deps: AnswerStorageDeps,
): AnswerStorage | undefined {
  const ids = findAnswerIds(request, target);
  if (!ids && request.storesAnswer !== true) return undefined;
  return new AnswerStorage({ request, target, delivery, ids }, deps);
}

/** Returns how to read the ids in the upstream's answer; undefined if it has none that the client could name. */
function findAnswerIds({ body, spec }: RelayRequest, { plan }: RouteTarget): AnswerIds | undefined {
  const { route, bridges, upstreamDialect } = plan;
  const ids = route.answerIds ?? (bridges.length === 0 ? upstreamDialect?.answerIds : undefined);
  return ids?.mayName(body.json(), spec) === true ? ids : undefined;
}

/** One call of a request. */
interface StoredCallContext {
  readonly request: RelayRequest;
  readonly target: RouteTarget;
  readonly delivery: Release;
  readonly ids: AnswerIds | undefined;
}

/**
 * Makes the answer of one call available to follow-ups: stored by the upstream, or by the gateway if it is converted.
 */
export class AnswerStorage {
  /** Set if this gateway stores the answer. */
  readonly pending: AnswerToStore | undefined;
  readonly #ids: AnswerIdReader | undefined;
  readonly #isStream: boolean;
  readonly #delivery: Release;

  constructor({ request, target, delivery, ids }: StoredCallContext, deps: AnswerStorageDeps) {
    const { channel, keyIndex } = target;
    const remember = (id: string) => deps.owners?.remember(id, { userId: request.caller.userId, channel, keyIndex });
    this.#ids = ids && new AnswerIdReader(ids, (id) => delivery.whenAllowed(() => remember(id)));
    this.#isStream = request.spec.stream;
    this.pending = findPendingAnswer(request, target, deps.responseStore);
    this.#delivery = delivery;
  }

  /** Takes bytes of the answer as they arrive. */
  feed(chunk: Buffer): void {
    if (this.#isStream) this.#ids?.feed(chunk);
  }

  /** Called when no further bytes arrive, before the client's stream is closed. */
  ended(): void {
    if (this.#isStream) this.#ids?.end();
  }

  /** Takes the upstream's whole answer, before it reaches the client. */
  answered(answer: JsonObject): void {
    this.#ids?.readAnswer(answer);
  }

  charged(usage: Promise<Usage>): Promise<Usage> {
    return this.pending ? this.pending.charged(usage) : usage;
  }

  /** Called when the whole answer has reached the client. */
  delivered(): void {
    const { pending } = this;
    if (pending) this.#delivery.whenAllowed(() => pending.delivered());
  }
}

/** Stores the answer of one attempt once it was delivered. */
class AnswerToStore implements PendingAnswer {
  readonly previous: string | undefined;
  readonly #request: RelayRequest;
  readonly #responseStore: Pick<ResponseStore, "keep">;
  #answer: JsonObject | undefined;
  #usage: Usage | undefined;

  constructor(request: RelayRequest, responseStore: Pick<ResponseStore, "keep">) {
    this.#request = request;
    this.#responseStore = responseStore;
    this.previous = request.asked?.previous;
  }

  made(answer: JsonObject): void {
    this.#answer = answer;
  }

  /** Passes the charged usage through, because some answers have no other usage. */
  async charged(usage: Promise<Usage>): Promise<Usage> {
    return (this.#usage = await usage);
  }

  delivered(): void {
    const answer = this.#answer;
    if (!answer) return;
    const hasUsage = answer["usage"] !== null || !this.#usage;
    const response = hasUsage ? answer : openaiResponses.withUsage?.(answer, this.#usage as Usage);
    const { asked, body, caller } = this.#request;
    this.#responseStore.keep(
      { input: inputItems((asked?.body ?? body).json()), response: response ?? answer },
      caller.userId,
    );
  }
}

/** Undefined if this gateway does not store the answer: not requested, or stored by the upstream. */
function findPendingAnswer(
  request: RelayRequest,
  { plan }: RouteTarget,
  responseStore: Pick<ResponseStore, "keep" | "takes"> | undefined,
): AnswerToStore | undefined {
  if (request.storesAnswer !== true || !responseStore || plan.bridges.length === 0) return undefined;
  const isOurs =
    request.spec.dialect === "openai-responses" && responseStore.takes(request.asked?.body ?? request.body);
  return isOurs ? new AnswerToStore(request, responseStore) : undefined;
}
