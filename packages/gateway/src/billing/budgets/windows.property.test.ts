import { propertyRuns } from "@fairway/testkit/property-runs";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, eachLedger, NOON, Spending, type BudgetHarness } from "./test-harness.contract.ts";

const HOUR_MS = 3_600_000;
const LENGTH = 5;

/** What happens next: a request begins, or the oldest open one ends with a part of its reservation, or for nothing. */
const step = fc.record({
  pauseMs: fc.oneof(fc.integer({ min: 1, max: 90 * 60_000 }), fc.integer({ min: HOUR_MS, max: 7 * HOUR_MS })),
  action: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("begin" as const), amount: fc.integer({ min: 1, max: 60 }) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("charge" as const), part: fc.nat(100) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("free" as const), part: fc.constant(0) }) },
  ),
});

interface Open {
  readonly spending: Spending;
  readonly amount: number;
}

/** The budgets as one would count them by hand. */
class Model {
  readonly limits = { hours: 100, day: 300, hour: 80 };
  readonly #starts = { hours: 0, day: 0, hour: 0 };
  readonly #used = { hours: 0, day: 0, hour: 0 };
  readonly names = ["hours", "day", "hour"] as const;

  /** Returns what is used in the window of `now`. */
  used(name: (typeof this.names)[number], now: number): number {
    return this.#isOpen(name, now) ? this.#used[name] : 0;
  }

  /** Returns the begin of the window; 0 while none is open. */
  start(name: (typeof this.names)[number], now: number): number {
    return this.#isOpen(name, now) ? this.#starts[name] : 0;
  }

  #isOpen(name: (typeof this.names)[number], now: number): boolean {
    const lengths = { hours: LENGTH * HOUR_MS, day: 24 * HOUR_MS, hour: HOUR_MS };
    return this.#starts[name] > 0 && now < this.#starts[name] * 1000 + lengths[name];
  }

  seen(period: Row["period"], now: number): object {
    return { period, start: this.start(period, now), used: this.used(period, now) };
  }

  open(now: number): void {
    if (!this.#isOpen("hours", now)) this.#begin("hours", Math.floor(now / 1000));
  }

  #begin(name: (typeof this.names)[number], start: number): void {
    this.#starts[name] = start;
    this.#used[name] = 0;
  }

  charge(amount: number, now: number): void {
    if (amount === 0) return;
    this.open(now);
    for (const [name, length] of [
      ["day", 24 * HOUR_MS],
      ["hour", HOUR_MS],
    ] as const)
      if (!this.#isOpen(name, now)) this.#begin(name, (Math.floor(now / length) * length) / 1000);
    for (const name of this.names) this.#used[name] += amount;
  }
}

/** Returns the window and what is used in it; a start of 0 if the last window is over. */
function seen({ period, window_start: start, used }: Row, now: number): object {
  const hours = { hours: LENGTH, day: 24, hour: 1 }[period];
  return now < start * 1000 + hours * HOUR_MS ? { period, start, used } : { period, start: 0, used: 0 };
}

interface Row {
  readonly period: "hours" | "day" | "hour";
  readonly window_start: number;
  readonly used: number;
}

eachLedger("windows of hours, clock hours and days", (open) => {
  let harness: BudgetHarness;
  beforeAll(async () => {
    harness = await open(2);
  });
  afterAll(() => harness.close());

  test("refuse, open and end exactly as one would count by hand", { timeout: 600_000 }, async () => {
    const history = fc.array(step, { minLength: 40, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        await harness.reset();
        const model = new Model();
        const { limits } = model;
        await harness.add("user", "7", limits.hours, { period: "hours", length: LENGTH });
        await harness.add("user", "7", limits.day, { period: "day" });
        await harness.add("user", "7", limits.hour, { period: "hour" });
        const running: Open[] = [];
        for (const [at, { pauseMs, action }] of steps.entries()) {
          harness.now += pauseMs;
          // Reservations end on their own after two minutes without their process, which lives here.
          await play(harness, { at, action, running, model });
          await harness.flush();
          const rows = await harness.raw.rows<Row>("select period, window_start, used from budgets", []);
          for (const row of rows)
            expect({ at, ...seen(row, harness.now) }).toEqual({ at, ...model.seen(row.period, harness.now) });
        }
        for (const { spending } of running) await spending.release();
      }),
      { numRuns: propertyRuns(open.kind === "sqlite" ? 60 : 8), endOnFailure: true },
    );
    expect(harness.now).toBeGreaterThan(NOON);
  });
});

interface Play {
  readonly at: number;
  readonly action: typeof step extends fc.Arbitrary<infer T> ? (T & { action: unknown })["action"] : never;
  readonly running: Open[];
  readonly model: Model;
}

async function play(harness: BudgetHarness, { at, action, running, model }: Play): Promise<void> {
  const held = running.reduce((sum, { amount }) => sum + amount, 0);
  if (action.kind === "begin") {
    const { amount } = action;
    const fits = model.names.every((name) => model.limits[name] - model.used(name, harness.now) - held >= amount);
    const spending = new Spending(harness, `w${at}`, ask, at % harness.replicas.length);
    const refusal = await spending.reserve(amount);
    expect({ at, isGranted: refusal === undefined }).toEqual({ at, isGranted: fits });
    if (refusal) return spending.release();
    model.open(harness.now);
    running.push({ spending, amount });
    return;
  }
  const first = running.shift();
  if (!first) return;
  if (action.kind === "free") return first.spending.release();
  const charged = Math.floor((first.amount * action.part) / 100);
  await first.spending.settle(charged);
  model.charge(charged, harness.now);
}
