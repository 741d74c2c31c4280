import type { Counter, Gauge, Histogram } from "prom-client";

/** Batches of one provider in one phase. */
export interface BatchCount {
  readonly provider: string;
  readonly phase: string;
  readonly batches: number;
}

/** What the leader knows about batches that are not settled. */
export interface BatchCounts {
  readonly counts: readonly BatchCount[];
  /** The sum of their deposits in quota units. */
  readonly deposit: number;
  /** How long the oldest batch that has ended waits for its settlement. */
  readonly oldestSeconds: number;
  /** Open batches about which nothing can be asked, because the provider refuses the key. */
  readonly keysRefused: number;
}

export interface SettledBatchFigures {
  readonly provider: string;
  /** From the end of the batch to its settlement. */
  readonly seconds: number;
  /** Requests by how they ended. */
  readonly results: Readonly<Record<string, number>>;
  /** True if the charge was above the deposit. */
  readonly isOverDeposit: boolean;
}

export interface BatchMetrics {
  batchSettled(figures: SettledBatchFigures): void;
}

/** Numbers of a process that does not lead. */
export const NO_BATCHES: BatchCounts = { counts: [], deposit: 0, oldestSeconds: 0, keysRefused: 0 };

interface BatchObjects {
  readonly batches: Gauge;
  readonly batchItems: Counter;
  readonly batchSettleSeconds: Histogram;
  readonly batchOldest: Gauge;
  readonly batchOverDeposit: Counter;
  readonly batchKeysRefused: Gauge;
  readonly depositQuota: Gauge;
}

export function batchMetrics(of: BatchObjects): BatchMetrics {
  return {
    batchSettled({ provider, seconds, results, isOverDeposit }) {
      of.batchSettleSeconds.observe(seconds);
      if (isOverDeposit) of.batchOverDeposit.inc();
      for (const [result, items] of Object.entries(results))
        if (items > 0) of.batchItems.inc({ provider, result }, items);
    },
  };
}

export function setBatchGauges(of: BatchObjects, { counts, deposit, oldestSeconds, keysRefused }: BatchCounts): void {
  of.batches.reset();
  for (const { provider, phase, batches } of counts) of.batches.set({ provider, phase }, batches);
  of.depositQuota.set(deposit);
  of.batchOldest.set(oldestSeconds);
  of.batchKeysRefused.set(keysRefused);
}
