import type { Quota } from "../../billing/money/quota.ts";
import { NO_USAGE, type Usage } from "../../dialects/core/types.ts";
import {
  mergeSettings,
  readClientEvent,
  readRealtimeEvent,
  readSettings,
  type ClientFact,
  type RealtimeFact,
  type RealtimeSettings,
} from "../../dialects/endpoints/realtime-events.ts";
import { AppError } from "../../lib/app-error.ts";
import type { AdmissionController } from "../admission/admission-controller.ts";
import type { BudgetLimits, Reservation } from "../reservation/reservation.ts";
import type { RequestTerms } from "../reservation/reservation-terms.ts";
import { reserve, type RequestContext } from "../reservation/reserve.ts";
import { boundUsage, usageBounds } from "../reservation/usage-bound.ts";
import type { Completion } from "../response/sink.ts";
import type { FinishReason } from "../upstream/attempt-result.ts";
import type { RouteTarget } from "../selection/types.ts";
import { addedBy, checkClientEvent, withTranscriber } from "./client-events.ts";
import { ConversationLength, type InputTokens } from "./conversation-length.ts";
import { OpenResponse } from "./open-response.ts";
import { SessionMoney, type SessionUsage } from "./session-money.ts";
import type { Refused, SessionBill, Verdict } from "./session.ts";
import { Transcripts } from "./transcripts.ts";
import { sum } from "./usage-sum.ts";

type Said = Extract<RealtimeFact, { readonly kind: "said" | "sound" }>;
type Done = Extract<RealtimeFact, { readonly kind: "done" }>;

const PCM = 48_000;
const UNLIMITED = 1_000_000;

/** The limits and hard budgets of a session. None of their calls rejects. */
interface SessionLimits extends BudgetLimits, Pick<AdmissionController, "again" | "spend"> {}

interface OpenedSession {
  readonly terms: RequestTerms;
  readonly reservation: Reservation;
  readonly limits: SessionLimits | undefined;
}

/** An answer that ended without usage, by upper estimate and by an encoder. */
interface Uncounted {
  readonly atMost: Usage;
  readonly counted: Promise<Usage>;
}

/**
 * Tracks what one conversation uses. Each answer is reserved before it begins: the conversation that it reads, and its
 * output step by step while it is spoken.
 */
export class RealtimeBill implements SessionBill {
  readonly #context: RequestContext;
  readonly #money: SessionMoney;
  readonly #length = new ConversationLength();
  readonly #transcripts = new Transcripts();
  #open: OpenResponse[] = [];
  readonly #uncounted: Uncounted[] = [];
  #usage: Usage = NO_USAGE;
  #settings: RealtimeSettings;
  /** The upstream's name of a transcribing model -> the client's. */
  readonly #transcribers = new Map<string, string>();
  #target: RouteTarget | undefined;
  /** True if the last usage had cached tokens. */
  #isCached = false;
  #firstContentAt: number | undefined;
  readonly #counts = { responses: 0, cancelled: 0 };
  charged: { readonly usage: Usage; readonly quota: Quota; readonly completion: Completion } | undefined;
  readonly #limits: SessionLimits | undefined;
  onExhausted: (() => void) | undefined;
  onLimit: ((refusal: AppError) => void) | undefined;

  private constructor(context: RequestContext, opened: OpenedSession) {
    this.#context = context;
    this.#limits = opened.limits;
    this.#settings = readSettings(undefined);
    this.#money = new SessionMoney(context, opened, {
      readUsage: (isReserved) => this.#usageSoFar(isReserved),
      onExhausted: () => this.onExhausted?.(),
    });
  }

  /** Reserves the beginning of a session. Throws `insufficient_user_quota` and `insufficient_token_quota`. */
  static async open(context: RequestContext, terms: RequestTerms, limits?: SessionLimits): Promise<RealtimeBill> {
    return new RealtimeBill(context, { terms, limits, reservation: await reserve(context, terms, { limits }) });
  }

  /** Sets the channel that serves. */
  serve(target: RouteTarget): void {
    this.#target = target;
    this.#money.serve(target);
  }

  over(): void {
    this.#money.end();
  }

  /** True while an answer or a transcript is open whose cost the upstream has yet to report. */
  get isOpen(): boolean {
    return this.#open.length > 0 || this.#transcripts.isOpen;
  }

  get openResponses(): readonly (string | undefined)[] {
    return this.#open.map(({ id }) => id);
  }

  /** Takes one text frame of the client, before it is sent. */
  send(frame: Buffer): Verdict {
    const fact = readClientEvent(frame);
    if (!fact || this.#money.isClosed) return true;
    if (fact.kind === "sound") this.#length.sound(fact.bytes);
    else if (fact.kind === "clear") this.#length.clearSound();
    else return this.#checked(fact);
    return true;
  }

  #checked(fact: Exclude<ClientFact, { readonly kind: "sound" | "clear" }>): Verdict {
    try {
      if (this.#target) checkClientEvent(fact, this.#context, this.#target);
    } catch (error) {
      return { refusal: AppError.from(error), eventId: fact.eventId };
    }
    if (fact.kind === "item") this.#length.send(fact.item);
    else if (fact.kind === "update") return this.#update(fact);
    else {
      const added = addedBy(fact.response);
      if (added) this.#length.settings(added);
      return this.#limited(
        () => {
          this.#open.push(this.#newResponse(readSettings(fact.response)));
          return this.#money.carry();
        },
        (refusal) => ({ refusal, eventId: fact.eventId }),
      );
    }
    return true;
  }

  /** Continues if a limit allows another answer. */
  #limited(begin: () => true | Promise<boolean>, refuse: (refusal: AppError) => Refused): Verdict {
    if (!this.#limits) return begin();
    return this.#limits
      .again()
      .then((refusal): boolean | Refused | Promise<boolean> => (refusal ? refuse(refusal) : begin()));
  }

  #update({ type, session, eventId }: Extract<ClientFact, { readonly kind: "update" }>): Verdict {
    const added = addedBy(session);
    if (added) this.#length.settings(added);
    const renamed = this.#target && withTranscriber(session, this.#target);
    if (!renamed) return true;
    this.#transcribers.set(renamed.mapped, renamed.asked);
    const event = { type, ...(eventId !== undefined && { event_id: eventId }) };
    return { frame: Buffer.from(JSON.stringify({ ...event, session: renamed.session })) };
  }

  #newResponse({ outputCap, speaks }: RealtimeSettings): OpenResponse {
    const { snapshot } = this.#context;
    const cap = outputCap ?? this.#settings.outputCap ?? Infinity;
    return new OpenResponse({
      cap: Math.min(cap, UNLIMITED),
      speaks: speaks ?? this.#settings.speaks ?? true,
      step: snapshot.options.RealtimeOutputReserve,
    });
  }

  /** Takes one text frame of the upstream, before it is delivered. */
  take(frame: Buffer): Verdict {
    const fact = readRealtimeEvent(frame);
    if (!fact || this.#money.isClosed) return true;
    switch (fact.kind) {
      case "session":
        this.#settings = mergeSettings(this.#settings, fact.session);
        return true;
      case "created":
        return this.#begin(fact.id, fact.settings);
      case "said":
      case "sound":
        return this.#deliver(fact);
      case "done":
        return this.#end(fact);
      case "item":
        this.#length.confirm(fact.item);
        return true;
      case "error":
        this.#open = removeFirst(this.#open, (one) => one.id === undefined);
        return true;
      default:
        return this.#transcribe(fact);
    }
  }

  #begin(id: string, settings: RealtimeSettings): Verdict {
    this.#counts.responses++;
    const asked = this.#open.find((one) => one.id === undefined);
    const response = asked ?? this.#newResponse(settings);
    if (!asked) this.#open.push(response);
    response.id = id;
    if (settings.outputCap !== undefined) response.cap = Math.min(settings.outputCap, UNLIMITED);
    if (settings.speaks !== undefined) response.speaks = settings.speaks;
    this.#length.read();
    // A response that the client requested is already counted; the upstream also begins answers on its own.
    if (asked) return this.#money.carry();
    return this.#limited(
      () => this.#money.carry(),
      (refusal) => {
        response.isRefused = true;
        return { refusal, eventId: undefined, responseId: id };
      },
    );
  }

  #deliver(fact: Said): Verdict {
    this.#firstContentAt ??= performance.now();
    const rate = this.#outputRate;
    const response = this.#running(fact.id);
    if (fact.kind === "sound") response.sound(fact.bytes);
    else response.say(fact.text, fact.isTranscript);
    if (response.isRefused) return false;
    if (!response.isNearEnd(rate)) return true;
    const isBeyond = response.seenAtMost(rate) > response.reserved;
    response.grow(rate);
    const carried = this.#money.carry();
    return isBeyond ? carried : true;
  }

  /** Returns the response of an event; one that was not announced begins with its first piece. */
  #running(id: string): OpenResponse {
    let response = this.#open.find((one) => one.id === id) ?? this.#open.find((one) => one.id === undefined);
    if (!response) {
      response = this.#newResponse(readSettings(undefined));
      this.#open.push(response);
    }
    response.id = id;
    return response;
  }

  #end({ id, usage, isInConversation, isCancelled }: Done): Verdict {
    const response = this.#open.find((one) => one.id === id);
    if (isCancelled) this.#counts.cancelled++;
    if (usage) {
      const limitedUsage = this.#limitUsage(usage, response?.cap);
      this.#usage = sum(this.#usage, limitedUsage);
      this.#isCached = limitedUsage.cachedInput > 0;
      if (isInConversation) this.#length.report(limitedUsage);
    } else if (response) this.#keepUncounted(response);
    this.#open = this.#open.filter((one) => one !== response);
    const carried = this.#answered();
    if (!response?.isRefused) return carried;
    return carried === true ? false : carried.then(() => false);
  }

  #keepUncounted(response: OpenResponse): void {
    const rate = this.#outputRate;
    const counted = this.#length
      .counted((texts) => this.#countTokens(this.#model, texts))
      .then((input) => response.counted(input, rate, (said) => this.#countTokens(this.#model, said)));
    const input = this.#length.atMost();
    this.#uncounted.push({
      atMost: this.#cached(response.usageAtMost(input, rate)),
      counted: counted.then((usage) => this.#cached(usage)),
    });
    this.#length.keep(response.seenAtMost(rate));
  }

  /** Vendors that cached the last conversation still have it cached. */
  #cached(usage: Usage): Usage {
    return this.#isCached ? { ...usage, cachedInput: Math.min(usage.input, this.#length.reported) } : usage;
  }

  #transcribe(
    fact: Exclude<RealtimeFact, { kind: "session" | "created" | "done" | "said" | "sound" | "item" | "error" }>,
  ) {
    const model = this.#transcriber;
    switch (fact.kind) {
      case "committed": {
        const tokens = this.#length.commit(this.#settings.inputRate ?? PCM);
        if (model !== "") this.#transcripts.begin(fact.itemId, model, tokens);
        return true;
      }
      case "heard":
        this.#transcripts.hear(fact.itemId, fact.text, fact.isSegment, model);
        return this.#money.carry();
      case "untranscribed":
        this.#transcripts.fail(fact.itemId);
        return true;
      case "transcribed": {
        const usage = fact.usage && this.#limitUsage(fact.usage, undefined, model);
        this.#transcripts.complete(fact.itemId, usage, fact.text, model);
        return this.#answered();
      }
    }
  }

  #limitUsage(usage: Usage, cap: number | undefined, transcriber?: string): Usage {
    const { request, snapshot, money } = this.#context;
    const operation = transcriber === undefined ? "realtime" : "audio.transcriptions";
    const tokens = this.#length.atMost().tokens - this.#length.reported;
    const spec = { ...request.spec, operation, promptEstimate: tokens, outputCap: undefined } as const;
    const limits = snapshot.prices.limits(transcriber ?? spec.model);
    const bounds = usageBounds({ spec, limits, bytes: undefined });
    const output = cap === undefined || cap >= UNLIMITED ? bounds.output : Math.min(cap, bounds.output);
    const limitedUsage = boundUsage(usage, { ...bounds, output });
    if (limitedUsage.reported && this.#target) money.onDoubtfulUsage(request, this.#target, limitedUsage);
    return limitedUsage;
  }

  #answered(): true | Promise<boolean> {
    const { input, output } = sumUsage(this.#usageSoFar(false));
    void this.#limits?.spend(input + output).then((refusal) => {
      if (refusal) this.onLimit?.(refusal);
    });
    return this.#money.charge();
  }

  get #model(): string {
    return this.#context.request.spec.model;
  }

  get #transcriber(): string {
    const { transcriptionModel: name = "" } = this.#settings;
    return this.#transcribers.get(name) ?? name;
  }

  get #outputRate(): number {
    return this.#settings.outputRate ?? PCM;
  }

  /** Returns upper estimates, with what is reserved for open answers or with what they have used. */
  #usageSoFar(isReserved: boolean): SessionUsage {
    const input: InputTokens = this.#length.atMost();
    const open = this.#open.flatMap((one) => {
      if (isReserved) return one.reservedUsage(input);
      return one.id === undefined ? [] : this.#cached(one.usageAtMost(input, this.#outputRate));
    });
    const answers = [...this.#uncounted.map(({ atMost }) => atMost), ...open].reduce(sum, this.#usage);
    return { answers, transcripts: this.#transcripts.atMost() };
  }

  /** Keeps the reservation alive. */
  renew(): Promise<void> {
    return this.#money.renew();
  }

  /** Charges what was used; later calls change nothing. */
  async close(reason: FinishReason): Promise<void> {
    for (const response of this.#open) if (response.id !== undefined) this.#keepUncounted(response);
    this.#open = [];
    const estimated = this.#uncounted.length;
    const usage = await this.#counted();
    const completion = this.#completion(reason, sumUsage(usage));
    const { responses, cancelled } = this.#counts;
    const facts = { responses, cancelled, transcriptions: this.#transcripts.completed, estimated };
    const charged = await this.#money.settle(usage, completion, facts);
    if (charged !== undefined) this.charged = { usage: sumUsage(usage), quota: charged, completion };
  }

  async #counted(): Promise<SessionUsage> {
    const counted = await Promise.all(this.#uncounted.map((one) => one.counted.catch(() => one.atMost)));
    const transcripts = await this.#transcripts.counted((model, said) => this.#countTokens(model, said));
    return { answers: counted.reduce(sum, this.#usage), transcripts };
  }

  /** A text that cannot be counted must not prevent the charge of the rest. */
  async #countTokens(model: string, text: string): Promise<number> {
    if (text === "") return 0;
    const [tokens = 0] = await this.#context.money.counter.count(model, [text]).catch(() => []);
    return tokens;
  }

  #completion(reason: FinishReason, usage: Usage): Completion {
    return { reason, usage, countOutput: () => Promise.resolve(usage.output), firstContentAt: this.#firstContentAt };
  }

  /** Ends a session in which nothing began. */
  release(): Promise<void> {
    return this.#money.release();
  }
}

function sumUsage({ answers, transcripts }: SessionUsage): Usage {
  return [...transcripts.values()].reduce(sum, answers);
}

/** Returns the list without the first match. */
function removeFirst<T>(list: readonly T[], matches: (one: T) => boolean): T[] {
  const at = list.findIndex(matches);
  return at < 0 ? [...list] : list.toSpliced(at, 1);
}
