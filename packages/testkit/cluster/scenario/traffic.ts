import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { send, type Ask, type Completion, type Outcome, type Target } from "../../chaos/client.ts";

/** 20 seconds of events. */
const SLOW: Ask = { kind: "long", model: "slow-200+long-100", isStream: true };
const SHORT: Ask = { kind: "plain", model: "plain", isStream: false };
/** The same call over a connection that is persistent. */
const PERSISTENT: Ask = { ...SHORT };
export const SCENARIO_MODELS = [SLOW.model, SHORT.model];
const SHORT_EVERY_MS = 100;
/** Clients that keep a connection, such as those of an SDK, and how long each waits between two calls. */
const PERSISTENT_CLIENTS = 5;
const PERSISTENT_EVERY_MS = 250;
const HEAD_START_MS = 2_000;
/** A client that was cut or refused retries after a moment. */
const RETRY_AFTER_MS = 1_000;

export interface Traffic {
  readonly outcomes: readonly Outcome[];
  /** How many slow streams, short calls, and calls over persistent connections ended in each way. */
  readonly slow: Readonly<Record<Completion, number>>;
  readonly short: Readonly<Record<Completion, number>>;
  readonly persistent: Readonly<Record<Completion, number>>;
  readonly seconds: number;
}

/**
 * Keeps `streams` slow streams open, sends ten short calls a second, and calls over persistent connections while `event`
 * happens.
 */
export async function during(target: Target, streams: number, event: () => Promise<unknown>): Promise<Traffic> {
  const outcomes: Outcome[] = [];
  let isOver = false;
  const agent = new Agent({ keepAlive: true, maxSockets: PERSISTENT_CLIENTS });
  const follow = async (ask: Ask) => {
    const outcome = await send(ask, target, ask === PERSISTENT && agent);
    outcomes.push(outcome);
    return outcome.completion;
  };
  const stream = async () => {
    do if ((await follow(SLOW)) !== "delivered") await sleep(RETRY_AFTER_MS);
    while (!isOver);
  };
  const keep = async () => {
    do await follow(PERSISTENT).then(() => sleep(PERSISTENT_EVERY_MS));
    while (!isOver);
  };
  const open: Promise<unknown>[] = Array.from({ length: streams }, stream);
  open.push(...Array.from({ length: PERSISTENT_CLIENTS }, keep));
  const timer = setInterval(() => void open.push(follow(SHORT)), SHORT_EVERY_MS);
  await sleep(HEAD_START_MS);
  const started = performance.now();
  try {
    await event();
  } finally {
    isOver = true;
    clearInterval(timer);
  }
  const seconds = (performance.now() - started) / 1_000;
  await Promise.all(open);
  agent.destroy();
  const count = (ask: Ask) => countCompletions(outcomes, ask);
  return { outcomes, slow: count(SLOW), short: count(SHORT), persistent: count(PERSISTENT), seconds };
}

/** Counts requests that were not delivered completely. */
export function countLosses({ outcomes }: Traffic): number {
  return outcomes.filter(({ completion }) => completion !== "delivered").length;
}

function countCompletions(outcomes: readonly Outcome[], ask: Ask): Record<Completion, number> {
  const count = { delivered: 0, refused: 0, cut: 0, unanswered: 0, left: 0 };
  for (const outcome of outcomes) if (outcome.ask === ask) count[outcome.completion] += 1;
  return count;
}

/** Returns one line for the page that reports the run. */
export function report(title: string, { slow, short, persistent, seconds, outcomes }: Traffic): void {
  const counted = (counts: Readonly<Record<Completion, number>>) =>
    Object.entries(counts)
      .filter(([, number]) => number > 0)
      .map(([completion, number]) => `${number} ${completion}`)
      .join(", ");
  const calls = `short calls: ${counted(short)}; persistent connections: ${counted(persistent)}`;
  console.log(`${title}: ${seconds.toFixed(0)} s; slow streams: ${counted(slow)}; ${calls}`);
  const failed = outcomes.filter(({ completion }) => completion !== "delivered");
  const reasons = Map.groupBy(failed, ({ completion, status, reason }) => `${completion} ${status} ${reason}`);
  for (const [reason, { length }] of reasons) console.log(`  ${length} times: ${reason}`);
}
