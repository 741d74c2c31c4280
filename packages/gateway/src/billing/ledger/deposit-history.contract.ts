import fc from "fast-check";
import { expect } from "vitest";
import { AppError } from "../../lib/app-error.ts";
import { quota } from "../money/quota.ts";
import type { DepositSettlement, Hold } from "./ledger.ts";
import { createLogDetail, type LedgerHarness } from "./test-harness.contract.ts";

const at = fc.nat(1000);

/** Steps of a history that concern requests which outlive their process. */
export type DepositStep =
  | { readonly does: "deposit"; readonly at: number; readonly percent: number }
  | {
      readonly does: "close";
      readonly at: number;
      readonly parts: readonly { readonly amount: number; readonly items: number; readonly channel: number }[];
      readonly repeats: number;
    };

const part = fc.record({ amount: fc.nat(400), items: fc.integer({ min: 1, max: 50 }), channel: fc.nat(2) });

export const depositStep: fc.Arbitrary<DepositStep> = fc.oneof(
  fc.record({ does: fc.constant("deposit" as const), at, percent: fc.nat(100) }),
  fc.record({
    does: fc.constant("close" as const),
    at,
    parts: fc.array(part, { maxLength: 3 }),
    repeats: fc.nat(2),
  }),
);

/** The deposits of a history, with the settlements that closed them. */
export class PlayedDeposits {
  readonly #harness: LedgerHarness;
  readonly #channels: readonly number[];
  /** A request is a call or a batch: no program settles a batch as a call. */
  readonly #kinds = new Map<string, "call" | "batch">();
  readonly #open = new Map<string, Hold>();
  readonly #closed = new Map<string, readonly DepositSettlement[]>();

  constructor(harness: LedgerHarness, channels: readonly number[]) {
    this.#harness = harness;
    this.#channels = channels;
  }

  /** Returns false if the request is known as the other kind. */
  is(kind: "call" | "batch", { requestId }: Hold): boolean {
    if (!this.#kinds.has(requestId)) this.#kinds.set(requestId, kind);
    return this.#kinds.get(requestId) === kind;
  }

  /** Returns the settlements of a closed request. */
  closed({ requestId }: Hold): readonly DepositSettlement[] | undefined {
    return this.#closed.get(requestId);
  }

  async run(hold: Hold, step: DepositStep): Promise<void> {
    if (step.does === "close") return this.#close(hold, step);
    const amount = quota(Math.floor((hold.amount * step.percent) / 100));
    try {
      await this.#harness.ledger.deposit(hold, { amount, at: this.#harness.clock.now() });
    } catch (error) {
      // The request has ended in another way.
      if (error instanceof AppError) return;
      throw error;
    }
    if (!this.#closed.has(hold.requestId)) this.#open.set(hold.requestId, hold);
  }

  async #close(hold: Hold, { parts, repeats }: Extract<DepositStep, { does: "close" }>): Promise<void> {
    const { requestId, userId, tokenId } = hold;
    if (!this.#open.has(requestId)) return;
    const settlements = parts.map(({ amount, items, channel }): DepositSettlement => {
      const channelId = this.#channels[channel] as number;
      return { quota: quota(amount), items, channelId, log: createLogDetail(channelId) };
    });
    const close = { requestId, userId, tokenId, at: this.#harness.clock.now(), settlements };
    const answers = await Promise.all(
      Array.from({ length: repeats + 1 }, () => this.#harness.ledger.closeDeposit(close)),
    );
    expect(answers.filter(Boolean).length).toBeLessThanOrEqual(1);
    this.#open.delete(requestId);
    if (answers.includes(true)) this.#closed.set(requestId, settlements);
  }

  /** Closes what is still open, each at a charge of its own. */
  async closeAll(): Promise<void> {
    for (const hold of this.#open.values())
      await this.#close(hold, { does: "close", at: 0, parts: [{ amount: 7, items: 3, channel: 0 }], repeats: 1 });
    expect(this.#open.size).toBe(0);
  }
}
