import { ACCOUNT_KIND, LOG_TYPE, QUOTA_PER_UNIT } from "../../packages/wire/src/core/constants.ts";
import { toRowValues, type LogRowInput } from "../../packages/gateway/src/storage/log-rows.ts";
import { GIFT, type Account, type Actors, type Caller, type Service } from "./actors.ts";
import type { SeedPlan } from "./plan.ts";
import { createRequestIds, createSpread, type Random } from "./random.ts";
import { LEDGER, LOGS, noValues, push, SUMS, type Values } from "./tables.ts";
import { createTimes } from "./times.ts";

/** Rows by column, for the tables with these names. */
export interface Batch {
  readonly logs: Values;
  readonly ledger: Values;
  readonly sums: Values;
}

interface Ask {
  readonly ms: number;
  readonly caller: Caller;
  readonly service: Service;
}

type What = Pick<
  LogRowInput,
  "type" | "content" | "quota" | "prompt_tokens" | "completion_tokens" | "channel_id" | "is_stream" | "other"
>;

interface Sum {
  readonly account: Account;
  readonly model: string;
  tokens: number;
  count: number;
  quota: number;
}

const ERROR_TYPE = 5;
const ERROR_SHARE = 0.015;
const STREAM_SHARE = 0.6;
const FIRST_TOKEN_MS = 400;
/** `frt` of answers without their own first-token time. */
const NO_FIRST_TOKEN = -1_000;
const TOKENS_A_SECOND = 60;
const TOPUPS = [10, 20, 50, 100, 500] as const;
const HOUR = 3_600;
const NOTHING_USED = { prompt_tokens: 0, completion_tokens: 0, is_stream: 0 } as const;
const NO_TOKEN = { token_name: "", model_name: "", token_id: 0, group: "", ip: "" } as const;
const MAX_SERVICES = 1_000;

/**
 * Produces rows in time order: what the users do over the days, and what it costs them. Adds the amounts to the actors.
 */
export class Traffic {
  readonly #actors: Actors;
  readonly #plan: SeedPlan;
  readonly #random: Random;
  readonly #spread: () => number;
  readonly #requestId: (ms: number) => string;
  readonly #times: Iterator<number>;
  readonly #sums = new Map<number, Sum>();
  #hour = 0;
  #left: number;

  constructor(actors: Actors, plan: SeedPlan, random: Random) {
    this.#actors = actors;
    this.#plan = plan;
    this.#random = random;
    this.#left = plan.logs;
    this.#spread = createSpread(random);
    this.#requestId = createRequestIds(random);
    this.#times = createTimes(plan, random);
  }

  /** Returns ledger rows for the starting balance of every account. */
  gifts(): Values {
    const at = (this.#plan.until - this.#plan.days * 86_400) * 1_000;
    const values = noValues(LEDGER);
    for (const { id, isWallet } of this.#actors.accounts) {
      const what = isWallet ? ["adjust", "First balance of the team"] : ["gift", "Gift for new users"];
      push(values, [`account-${id}-0`, what[0] ?? "", id, 0, 0, GIFT, what[1] ?? "", at]);
    }
    return values;
  }

  /** Returns the next rows; undefined after the last. */
  next(rows: number): Batch | undefined {
    if (this.#left === 0) return undefined;
    const batch: Batch = { logs: noValues(LOGS), ledger: noValues(LEDGER), sums: noValues(SUMS) };
    const count = Math.min(rows, this.#left);
    for (let i = 0; i < count; i++) this.#row(batch, Number(this.#times.next().value));
    this.#left -= count;
    if (this.#left === 0) this.#closeHour(batch);
    return batch;
  }

  #row(batch: Batch, ms: number): void {
    const hour = Math.floor(ms / 1_000 / HOUR) * HOUR;
    if (hour !== this.#hour) {
      this.#closeHour(batch);
      this.#hour = hour;
    }
    const caller = this.#actors.drawCaller();
    const spec: Ask = { ms, caller, service: caller.drawService() };
    if (this.#random() < ERROR_SHARE) this.#fail(batch, spec);
    else this.#call(batch, spec);
  }

  #call(batch: Batch, spec: Ask): void {
    const { ms, caller, service } = spec;
    const [input, output] = service.usage;
    const prompt_tokens = Math.ceil(input * this.#spread());
    const completion_tokens = Math.ceil(output * this.#spread());
    const quota = Math.round((prompt_tokens + completion_tokens * service.completionRatio) * service.ratio);
    if (caller.account.balance < quota) return this.#topUp(batch, spec);
    const upstream = service.drawUpstream();
    const is_stream = this.#random() < STREAM_SHARE ? 1 : 0;
    const frt = is_stream === 1 ? Math.ceil(FIRST_TOKEN_MS * this.#spread()) : NO_FIRST_TOKEN;
    const other = `${service.otherHead}${frt}${service.otherMiddle}${upstream.id}"]}}`;
    const used = { prompt_tokens, completion_tokens, is_stream };
    const what = { type: LOG_TYPE.consume, quota, channel_id: upstream.id, content: service.content, other };
    const requestId = this.#log(batch, spec, { ...used, ...what });
    push(batch.ledger, [requestId, "consume", caller.account.id, caller.id, upstream.id, 0 - quota, "", ms]);
    upstream.used += quota;
    this.#count(spec, quota, prompt_tokens + completion_tokens);
  }

  #count({ ms, caller, service }: Ask, quota: number, tokens: number): void {
    const { account } = caller;
    account.balance -= quota;
    account.used += quota;
    account.calls += 1;
    caller.used += quota;
    caller.seenAt = Math.floor(ms / 1_000);
    const key = account.id * MAX_SERVICES + service.place;
    const sum = this.#sums.get(key);
    if (!sum) {
      this.#sums.set(key, { account, model: service.name, tokens, count: 1, quota });
      return;
    }
    sum.tokens += tokens;
    sum.count += 1;
    sum.quota += quota;
  }

  #fail(batch: Batch, spec: Ask): void {
    const { id } = spec.service.drawUpstream();
    const other = `{"admin_info":{"use_channel":["${id}"]},"status_code":429}`;
    const what = { type: ERROR_TYPE, quota: 0, channel_id: id, content: "The upstream is overloaded", other };
    this.#log(batch, spec, { ...NOTHING_USED, ...what });
  }

  /** The account is empty, so its owner pays before the next call. */
  #topUp(batch: Batch, spec: Ask): void {
    const { account } = spec.caller;
    const dollars = TOPUPS[Math.floor(this.#random() * TOPUPS.length)] ?? TOPUPS[0];
    const quota = dollars * QUOTA_PER_UNIT;
    const content = `Topped up $${dollars}.00`;
    const what = { type: LOG_TYPE.topup, quota, channel_id: 0, content, other: "" };
    const requestId = this.#log(batch, spec, { ...NOTHING_USED, ...what });
    push(batch.ledger, [requestId, "topup", account.id, 0, 0, quota, content, spec.ms]);
    account.balance += quota;
  }

  #log(batch: Batch, { ms, caller, service }: Ask, what: What): string {
    const { account, name, id, ip, actor, tags } = caller;
    const request_id = this.#requestId(ms);
    const token =
      what.type === LOG_TYPE.topup
        ? NO_TOKEN
        : { token_name: name, model_name: service.name, token_id: id, group: account.group, ip };
    const ofTeam = account.isWallet ? { actor, account_kind: ACCOUNT_KIND.wallet } : {};
    const tagged = tags === "" || what.type === LOG_TYPE.topup ? {} : { tags };
    const who = { user_id: account.id, username: account.username, ...ofTeam, ...tagged };
    const when = { created_at: Math.floor(ms / 1_000), use_time: Math.ceil(what.completion_tokens / TOKENS_A_SECOND) };
    push(batch.logs, toRowValues({ ...what, ...token, ...who, ...when, request_id }));
    return request_id;
  }

  #closeHour({ sums }: Batch): void {
    for (const { account, model, tokens, count, quota } of this.#sums.values())
      push(sums, [account.id, account.username, model, this.#hour, tokens, count, quota]);
    this.#sums.clear();
  }
}
