import { openaiResponses } from "../../dialects/openai-responses/index.ts";
import type { AnswerKeeping, JsonObject, Usage } from "../../dialects/core/types.ts";
import type { RouteTarget } from "../selection/select.ts";
import type { RelayRequest } from "../types.ts";
import { inputItems } from "./items.ts";
import type { ResponseStore } from "./response-store.ts";

/** Keeps the answer of one attempt once it was delivered. */
export class Keeping implements AnswerKeeping {
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

  /** Passes on what was charged: some answers tell no other usage. */
  async charged(usage: Promise<Usage>): Promise<Usage> {
    return (this.#usage = await usage);
  }

  delivered(): void {
    const answer = this.#answer;
    if (!answer) return;
    const isToldUsage = answer["usage"] !== null || !this.#usage;
    const response = isToldUsage ? answer : openaiResponses.withUsage?.(answer, this.#usage as Usage);
    const { asked, body, caller } = this.#request;
    this.#responseStore.keep(
      { input: inputItems((asked?.body ?? body).json()), response: response ?? answer },
      caller.userId,
    );
  }
}

/** Undefined where the answer is not kept here: not asked for, or kept by the upstream. */
export function keepingOf(
  request: RelayRequest,
  { plan }: RouteTarget,
  responseStore: Pick<ResponseStore, "keep" | "takes"> | undefined,
): Keeping | undefined {
  if (request.isKept !== true || !responseStore || plan.bridges.length === 0) return undefined;
  const isOurs =
    request.spec.dialect === "openai-responses" && responseStore.takes(request.asked?.body ?? request.body);
  return isOurs ? new Keeping(request, responseStore) : undefined;
}
