import { charge } from "../../billing/pricing/price.ts";
import { quota as quotaOf, type Quota } from "../../billing/money/quota.ts";
import { ratio } from "../../billing/money/ratio.ts";
import type { Settlement } from "../../billing/ledger/ledger.ts";
import { NO_USAGE, type Usage } from "../../dialects/core/types.ts";
import { readRealtimeEvent } from "../../dialects/endpoints/openai-realtime.ts";
import type { AppError } from "../../lib/app-error.ts";
import { subjectsOf } from "../admission/request-budgets.ts";
import type { Reservation } from "../pipeline/reservation/reservation.ts";
import {
  reserve,
  type PricedReservation,
  type RequestContext,
  type ReservationDeps,
} from "../pipeline/reservation/reserve.ts";
import { isPriced, type Terms } from "../pipeline/reservation/reservation-terms.ts";
import { chargeOrReserved } from "../pipeline/reservation/charge-fallback.ts";
import { consumptionLog } from "../pipeline/log-row.ts";
import { boundUsage, usageBounds } from "../pipeline/reservation/usage-bound.ts";
import type { RouteTarget } from "../selection/types.ts";
import type { FinishReason, Completion } from "../response/sink.ts";

/** Tokens of a second of sound that no usage covered. */
const AUDIO_TOKENS_PER_SECOND = 200 / 60 / 0.24;
/** Bytes of a second. */
const SOUND_BYTES = { pcm: 48_000, g711: 8_000 };

/**
 * The money of one conversation: reserved before it begins, raised with every answer, settled once when it closes.
 * After each answer, the reservation holds the charge that applies if this process dies.
 */
export class RealtimeBill {
  readonly #context: RequestContext;
  readonly #reservation: Reservation;
  readonly #terms: Terms;
  readonly #deps: ReservationDeps;
  #target: RouteTarget | undefined;
  #usage: Usage = NO_USAGE;
  /** By the model that transcribed the client's speech. */
  readonly #transcribed = new Map<string, Usage>();
  #transcriptionModel = "";
  #bytesPerSecond = SOUND_BYTES.pcm;
  #openText = "";
  #openBytes = 0;
  /** Texts of answers that ended without usage. */
  #untoldText = "";
  #untoldBytes = 0;
  /** By the model that transcribed, where no usage came. */
  readonly #untoldTranscripts = new Map<string, string>();
  #firstContentAt: number | undefined;
  /** Set once the bill is closed. */
  charged: { readonly usage: Usage; readonly quota: Quota; readonly completion: Completion } | undefined;
  /** Called when the balance does not carry another answer. */
  onExhausted: (() => void) | undefined;
  /** Called before the reservation grows; false when a hard budget cannot cover it. Must not reject. */
  extendBudgets: ((amount: Quota) => Promise<boolean>) | undefined;
  /** Called with all tokens so far, after each answer. */
  onUsed: ((tokens: number) => void) | undefined;
  /** Called when a limit of tokens is passed. */
  onLimit: ((refusal: AppError) => void) | undefined;

  private constructor(context: RequestContext, { terms, reservation }: PricedReservation) {
    this.#context = context;
    this.#reservation = reservation;
    this.#terms = terms;
    this.#deps = context.deps;
  }

  static async open(context: RequestContext): Promise<RealtimeBill> {
    return new RealtimeBill(context, await reserve(context));
  }

  /** The channel that serves. */
  serve(target: RouteTarget): void {
    this.#target = target;
  }

  /** One text frame of the upstream. */
  take(frame: string): void {
    const fact = readRealtimeEvent(frame);
    if (!fact || this.#reservation.isClosed) return;
    switch (fact.kind) {
      case "session":
        this.#transcriptionModel = fact.transcriptionModel ?? "";
        this.#bytesPerSecond = /g711|pcmu|pcma/.test(fact.audioFormat) ? SOUND_BYTES.g711 : SOUND_BYTES.pcm;
        return;
      case "delivered":
        this.#firstContentAt ??= performance.now();
        this.#openText += fact.text;
        this.#openBytes += fact.bytes;
        return;
      case "response":
        if (!fact.usage) return this.#keepOpen();
        this.#usage = sum(this.#usage, this.#believed(fact.usage));
        this.#openText = "";
        this.#openBytes = 0;
        return this.#answered();
      case "transcription":
        return this.#transcript(fact.usage, fact.text);
    }
  }

  #transcript(usage: Usage | undefined, text: string): void {
    const model = this.#transcriptionModel;
    if (!usage) return this.#keepTranscript(model, text);
    this.#transcribed.set(model, sum(this.#transcribed.get(model) ?? NO_USAGE, this.#believed(usage, model)));
    this.#answered();
  }

  #believed(usage: Usage, transcriber?: string): Usage {
    const { request, snapshot, deps } = this.#context;
    const operation = transcriber === undefined ? "realtime" : "audio.transcriptions";
    const spec = { ...request.spec, operation, promptEstimate: 0 } as const;
    const limits = snapshot.prices.limits(transcriber ?? spec.model);
    const believed = boundUsage(usage, usageBounds({ spec, limits, bytes: undefined }));
    if (believed.reported && this.#target) deps.onDoubtfulUsage(request, this.#target, believed);
    return believed;
  }

  #keepOpen(): void {
    this.#untoldText += this.#openText;
    this.#untoldBytes += this.#openBytes;
    this.#openText = "";
    this.#openBytes = 0;
  }

  #keepTranscript(model: string, text: string): void {
    if (text === "") return;
    this.#untoldTranscripts.set(model, `${this.#untoldTranscripts.get(model) ?? ""}${text}\n`);
  }

  #answered(): void {
    void this.#raise();
    if (!this.onUsed) return;
    const { input, output } = this.#total();
    this.onUsed(input + output);
  }

  /** Keeps the reservation alive. */
  async renew(): Promise<void> {
    if (!this.#reservation.isClosed) await this.#reservation.renew(this.#settlement("server_shutdown"));
  }

  /** Charges what was used; later calls change nothing. */
  async close(reason: FinishReason): Promise<void> {
    const { request } = this.#context;
    const charged = await this.#reservation.settle(async () => {
      await this.#countOpen();
      const onFailure = (error: unknown) => this.#deps.onUncomputable(request.id, this.#reservation.amount, error);
      return { settlement: this.#settlement(reason, onFailure) };
    });
    if (!charged) return;
    this.charged = { usage: this.#total(), quota: charged.settlement.quota, completion: this.#completion(reason) };
  }

  /** Nothing was begun. */
  release(): Promise<void> {
    return this.#reservation.release();
  }

  async #raise(): Promise<void> {
    const settlement = this.#settlement("server_shutdown");
    const { hold, amount } = this.#reservation;
    const isFixed = this.#terms.price.kind === "call" || !isPriced(this.#terms);
    const wanted = isFixed ? hold.amount : chargeOrReserved(amount, () => quotaOf(settlement.quota + hold.amount));
    const isInBudget = this.extendBudgets === undefined || (await this.extendBudgets(wanted));
    // Redis or the database may be away; the next answer raises again.
    const isCarried = isInBudget && (await this.#reservation.raise(settlement, wanted).catch(() => true));
    if (isInBudget && !isCarried) this.#context.request.usedUp = "balance";
    if (!isCarried && !this.#reservation.isClosed) this.onExhausted?.();
  }

  /** Counts answers and transcripts that came without usage. */
  async #countOpen(): Promise<void> {
    for (const [model, transcript] of this.#untoldTranscripts) {
      const known = this.#transcribed.get(model) ?? NO_USAGE;
      const output = await this.#tokensOf(model, transcript);
      this.#transcribed.set(model, sum(known, { ...NO_USAGE, output, source: "counted" }));
    }
    this.#keepOpen();
    if (this.#untoldText === "" && this.#untoldBytes === 0) return;
    const tokens = await this.#tokensOf(this.#context.request.spec.model, this.#untoldText);
    const audioOutput = Math.ceil((this.#untoldBytes / this.#bytesPerSecond) * AUDIO_TOKENS_PER_SECOND);
    this.#usage = sum(this.#usage, { ...NO_USAGE, output: tokens + audioOutput, audioOutput, source: "counted" });
  }

  /** A text that cannot be counted must not prevent the charge of the rest. */
  async #tokensOf(model: string, text: string): Promise<number> {
    const [tokens = 0] = await this.#deps.counter.count(model, [text]).catch(() => []);
    return tokens;
  }

  #total(): Usage {
    return [...this.#transcribed.values()].reduce(sum, this.#usage);
  }

  #quota(): Quota {
    const { request, snapshot } = this.#context;
    const { price } = this.#terms;
    const terms = { groupRatio: this.#groupRatio(), quotaPerUnit: ratio(snapshot.options.QuotaPerUnit) };
    let total = charge(this.#usage, price, { ...terms, spec: request.spec }) as number;
    for (const [model, usage] of this.#transcribed) {
      const ask = { model, operation: "audio.transcriptions" } as const;
      total += charge(usage, snapshot.prices.find(model) ?? price, { ...terms, spec: ask });
    }
    return quotaOf(total);
  }

  #groupRatio(): string {
    const { snapshot, groups } = this.#context;
    return snapshot.prices.groupRatio(this.#target?.group ?? groups[0] ?? "default");
  }

  #completion(reason: FinishReason): Completion {
    const usage = this.#total();
    return { reason, usage, countOutput: () => Promise.resolve(usage.output), firstContentAt: this.#firstContentAt };
  }

  #settlement(reason: FinishReason, onFailure?: (error: unknown) => void): Settlement {
    const { request, snapshot } = this.#context;
    const quota = chargeOrReserved(this.#reservation.amount, () => this.#quota(), onFailure);
    const target = this.#target;
    const counting = target && this.#deps.budgets.counting(subjectsOf(request, target));
    const channelId = target?.channel.id ?? 0;
    const base = { hold: this.#reservation.hold, quota, channelId, at: this.#deps.now(), ...counting };
    if (!target || !snapshot.options.LogConsumeEnabled) return base;
    const attempt = { target, upstreamRequestId: undefined };
    return {
      ...base,
      log: consumptionLog(request, {
        usage: this.#total(),
        quota,
        price: this.#terms.price,
        groupRatio: this.#groupRatio(),
        reserved: this.#reservation.amount,
        completion: this.#completion(reason),
        built: undefined,
        attempt,
        tried: [attempt],
      }),
    };
  }
}

function sum(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cachedInput: one.cachedInput + other.cachedInput,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    cacheWrite1h: one.cacheWrite1h + other.cacheWrite1h,
    reasoning: one.reasoning + other.reasoning,
    audioInput: one.audioInput + other.audioInput,
    audioOutput: one.audioOutput + other.audioOutput,
    imageInput: one.imageInput + other.imageInput,
    ...(one.units === undefined && other.units === undefined ? {} : { units: (one.units ?? 0) + (other.units ?? 0) }),
    source: one.source === other.source || one === NO_USAGE ? other.source : "mixed",
    ...reportedBy(one, other),
  };
}

/** The sum of the reported numbers, once one of them was out of bounds. */
function reportedBy(one: Usage, other: Usage): Pick<Usage, "reported"> | undefined {
  if (!one.reported && !other.reported) return undefined;
  const [a, b] = [one.reported ?? one, other.reported ?? other];
  const units = (a.units ?? 0) + (b.units ?? 0);
  return { reported: { input: a.input + b.input, output: a.output + b.output, units } };
}
