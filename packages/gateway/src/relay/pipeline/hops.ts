import type { ServerResponse } from "node:http";
import type { FallbackCause } from "@fairway/wire";
import { AppError } from "../../lib/app-error.ts";
import { NOTHING_USED } from "../../limits/claims.ts";
import { admitModel } from "../admission/model-access.ts";
import type { FallbackList } from "../fallback/fallback-list.ts";
import { nameServingModel } from "../fallback/hop-headers.ts";
import { findRefusalCause, type LeaveCause } from "../fallback/leave-cause.ts";
import type { FallbackHop } from "../request/fallbacks.ts";
import type { RelayRequest } from "../request/request.ts";
import { findConversation } from "../selection/conversation.ts";
import { enterModel, toConversationInput, type Entered, type Carried, type PipelineContext } from "./enter-model.ts";
import type { RetryShare } from "./retry.ts";

/** Most calls of upstreams for one request that may fall back. */
const MAX_ATTEMPTS = 8;
/** Estimates of prompts are upper bounds: only one well above the limit is surely too long. */
const CERTAINLY_TOO_LONG = 1.2;

/**
 * Takes a request from one model of its list to the next. Each is asked as if the client had named it: permission,
 * price, limits, budgets and money; one that refuses is left out, and its refusal never reaches the client. The request
 * has one reservation, which is raised where the next model may cost more.
 */
export class Hops {
  readonly #context: PipelineContext;
  readonly #list: FallbackList;
  readonly #response: ServerResponse;
  readonly #from: string;
  readonly #since = performance.now();
  /** As it names the model that serves, or that was asked first. */
  #request: RelayRequest;
  readonly #carried: Carried = { admission: undefined, session: undefined };
  readonly #hops: FallbackHop[] = [];
  /** Why the request left its first model. */
  #reason = "";
  /** The conversation, if a model of the list would stay with it. */
  readonly #conversation: string | undefined;

  constructor(context: PipelineContext, list: FallbackList, response: ServerResponse) {
    this.#context = context;
    this.#list = list;
    this.#response = response;
    this.#request = context.request;
    this.#from = context.request.spec.model;
    this.#conversation = list.isSticky ? nameConversation(context) : undefined;
  }

  /** The models to which the request may fall back. */
  get models(): readonly string[] {
    return this.#list.models;
  }

  /** True if a further model may serve after this cause, as far as is known before it is asked. */
  has(cause: FallbackCause): boolean {
    return this.#list.has(cause);
  }

  /** Enters the requested model, or the next one that admits the request if that one refuses it. */
  async enterFirst(): Promise<Entered> {
    const { progress } = this.#context.request;
    const sticky = await this.#enterSticky();
    if (sticky) return sticky;
    const early = this.#isTooLong(this.#from) ? await this.next({ on: "context", reason: "context" }) : undefined;
    if (early) return early;
    try {
      return this.#keep(await enterModel(this.#context, this.#response, this.#carried));
    } catch (thrown) {
      const error = AppError.from(thrown);
      const cause = this.#isOver ? undefined : findRefusalCause(error, progress);
      const next = cause && (await this.next(cause));
      if (next) return next;
      await this.end();
      throw error;
    }
  }

  /** The answer was delivered: its conversation stays with a model that it fell back to, for the time of the list. */
  delivered(): void {
    if (this.#conversation === undefined) return;
    const { model } = this.#request.spec;
    const { sticky } = this.#context.deps.routing;
    const known = sticky.find(this.#conversation);
    if (known?.model === model) return;
    const lifeMs = this.#stickyMs(model);
    // A model that failed its conversation loses it, at every replica.
    if (known || lifeMs > 0) sticky.served(this.#conversation, { model, reason: this.#reason }, lifeMs);
  }

  #stickyMs(model: string): number {
    return this.#list.stickySeconds(model) * 1000;
  }

  /** Enters the model with which the conversation stays; undefined if there is none, or it does not admit the request. */
  async #enterSticky(): Promise<Entered | undefined> {
    if (this.#conversation === undefined) return undefined;
    const found = this.#context.deps.routing.sticky.find(this.#conversation);
    if (!found || this.#stickyMs(found.model) === 0) return undefined;
    const { model, reason } = found;
    const entered = await this.#tryModel(model);
    if (entered instanceof AppError) return undefined;
    this.#list.beginWith(model, this.#from);
    this.#reason = reason;
    this.#note([{ model: this.#from, outcome: "sticky", isSkipped: true }], { model });
    return entered;
  }

  /** Enters the next model that may serve after this cause; undefined if none is left. */
  async next({ on, reason }: LeaveCause): Promise<Entered | undefined> {
    const { deps } = this.#context;
    if (performance.now() - this.#since > deps.routing.retry.totalMs) return undefined;
    const left: FallbackHop = { model: this.#request.spec.model, outcome: reason, isSkipped: false };
    const skipped: FallbackHop[] = [];
    for (let model = this.#list.take(on); model !== undefined; model = this.#list.take(on)) {
      const entered = await this.#tryModel(model);
      if (!(entered instanceof AppError)) {
        if (this.#reason === "") this.#reason = reason;
        this.#note([left, ...skipped], { model });
        deps.telemetry.metrics.fellBack({ from: left.model, to: model, reason });
        return entered;
      }
      skipped.push({ model, outcome: entered.code ?? "", isSkipped: true });
    }
    if (skipped.length > 0) this.#note(skipped, { reason });
    return undefined;
  }

  /** How the attempts of a model are counted, so that eight reach the end of the list. */
  share(attempts: number): RetryShare {
    const { left } = this.#list;
    return { since: this.#since, most: Math.max(0, MAX_ATTEMPTS - attempts - left - 1), repeats: left === 0 };
  }

  /** True if the request has had all its attempts. */
  isUsedUp(attempts: number): boolean {
    return attempts >= MAX_ATTEMPTS;
  }

  /** Releases what the request holds; later calls change nothing. */
  async end(): Promise<void> {
    this.#carried.admission?.end(NOTHING_USED);
    await this.#carried.session?.release();
  }

  get #isOver(): boolean {
    return this.#context.request.progress.stopped !== undefined || this.#response.closed;
  }

  /** Returns the refusal of a model that does not admit the request, which then has the model of before. */
  async #tryModel(model: string): Promise<Entered | AppError> {
    const before = this.#request;
    const { progress } = before;
    const request = { ...before, spec: { ...before.spec, model } };
    const restore = progress.askedModel();
    this.#carried.admission?.changeModel(request);
    try {
      admitModel(request.caller, request.spec);
      if (this.#isTooLong(model)) throw new AppError("unsupported_parameter", { values: { param: "messages" } });
      return this.#keep(await enterModel({ ...this.#context, request }, this.#response, this.#carried));
    } catch (error) {
      restore();
      this.#carried.admission?.changeModel(before);
      if (this.#isOver || !(error instanceof AppError)) throw progress.stopped ?? error;
      return error;
    }
  }

  /** True if the prompt certainly exceeds what the model takes. */
  #isTooLong(model: string): boolean {
    const { request, snapshot } = this.#context;
    const { contextTokens } = snapshot.prices.limits(model);
    return contextTokens !== undefined && request.spec.promptEstimate > contextTokens * CERTAINLY_TOO_LONG;
  }

  #keep(entered: Entered): Entered {
    this.#request = entered.request;
    this.#carried.admission = entered.admission;
    this.#carried.session = entered.session;
    return entered;
  }

  #note(more: readonly FallbackHop[], { model, reason = this.#reason }: { model?: string; reason?: string }): void {
    this.#hops.push(...more);
    const fallback = { from: this.#from, reason: this.#reason || reason, hops: [...this.#hops] };
    this.#request.progress.lookedFurther(fallback, model);
    if (this.#reason !== "") nameServingModel(this.#response, this.#request.spec.model, fallback);
  }
}

/** Undefined if no rule of the operator names the conversation. The model is part of the name, because its list is. */
function nameConversation({ request, snapshot }: PipelineContext): string | undefined {
  const input = toConversationInput(request, snapshot.prices);
  const found = findConversation(input, snapshot.options.ChannelAffinityRules);
  return found && `${found.name} ${request.spec.model}`;
}
