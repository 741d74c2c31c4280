import { openaiResponses } from "../../dialects/openai-responses/index.ts";
import type { AnswerKeeping, JsonObject, Usage } from "../../dialects/core/types.ts";
import type { Choice } from "../selection/select.ts";
import type { RelayRequest } from "../types.ts";
import { inputItems } from "./items.ts";
import type { KeptResponses } from "./response-store.ts";

/** Keeps the answer of one attempt once it was delivered. */
export class Keeping implements AnswerKeeping {
  readonly previous: string | undefined;
  readonly #request: RelayRequest;
  readonly #kept: Pick<KeptResponses, "keep">;
  #answer: JsonObject | undefined;
  #usage: Usage | undefined;

  constructor(request: RelayRequest, kept: Pick<KeptResponses, "keep">) {
    this.#request = request;
    this.#kept = kept;
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
    this.#kept.keep({ input: inputItems((asked?.body ?? body).json()), response: response ?? answer }, caller.userId);
  }
}

/** Undefined where the answer is not kept here: not asked for, or kept by the upstream. */
export function keepingOf(
  request: RelayRequest,
  { plan }: Choice,
  kept: Pick<KeptResponses, "keep" | "takes"> | undefined,
): Keeping | undefined {
  if (request.isKept !== true || !kept || plan.bridges.length === 0) return undefined;
  const isOurs = request.ask.dialect === "openai-responses" && kept.takes(request.asked?.body ?? request.body);
  return isOurs ? new Keeping(request, kept) : undefined;
}
