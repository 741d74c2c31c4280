import { openaiResponses } from "../../dialects/openai-responses/index.ts";
import type { PendingAnswer, JsonObject, Usage } from "../../dialects/core/types.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { RelayRequest } from "../request/request.ts";
import { inputItems } from "./items.ts";
import type { ResponseStore } from "./response-store.ts";

/** Stores the answer of one attempt once it was delivered. */
export class AnswerToStore implements PendingAnswer {
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

  /** Passes the charged usage through: some answers have no other usage. */
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

/** Undefined where this gateway does not store the answer: not requested, or stored by the upstream. */
export function pendingAnswerOf(
  request: RelayRequest,
  { plan }: RouteTarget,
  responseStore: Pick<ResponseStore, "keep" | "takes"> | undefined,
): AnswerToStore | undefined {
  if (request.storesAnswer !== true || !responseStore || plan.bridges.length === 0) return undefined;
  const isOurs =
    request.spec.dialect === "openai-responses" && responseStore.takes(request.asked?.body ?? request.body);
  return isOurs ? new AnswerToStore(request, responseStore) : undefined;
}
