import { propertyRuns } from "@fairway/testkit/property-runs";
import { OTHER_VALUE } from "@fairway/wire";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ask, eachLedger, MOST_VALUES, Spending, type BudgetHarness } from "./test-harness.contract.ts";

const LIMIT = 60;
const PREFIX = `${ask.userId}/`;

const call = fc.record({
  /** More values than a template may have. */
  user: fc.nat(MOST_VALUES + 6),
  amount: fc.integer({ min: 1, max: 40 }),
  /** The part of the reservation that is charged, in percent; 0 = it is released. */
  part: fc.nat(100),
  replica: fc.nat(2),
  /** The replica reads all budgets between reservation and charge. */
  rereads: fc.boolean(),
});

eachLedger("budgets of values", (open) => {
  let harness: BudgetHarness;
  beforeAll(async () => {
    harness = await open(3);
  });
  afterAll(() => harness.close());

  test("have exactly what their calls were charged, never more than the limit, and their number is bounded", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(call, { minLength: 1, maxLength: 12 }), { maxLength: 4 }), async (rounds) => {
        await harness.reset();
        await harness.add("end_user", `${PREFIX}*`, LIMIT);
        let charged = 0;
        for (const [round, calls] of rounds.entries()) {
          await Promise.all(
            calls.map(async ({ user, amount, part, replica, rereads }, at) => {
              const subjects = { ...ask, tags: { text: "", endUser: `u${user}` } };
              const one = new Spending(harness, `${round}-${at}`, subjects, replica);
              if (await one.reserve(amount)) return one.release();
              if (rereads) await harness.replicas[replica]?.budgets.reload();
              const cost = Math.floor((amount * part) / 100);
              if (cost === 0) return one.release();
              await one.settle(cost);
              charged += cost;
            }),
          );
        }
        await harness.flush();
        const rows = await harness.raw.rows<{ subject: string; used: number }>(
          "select subject, used from budgets where template_id <> 0",
          [],
        );
        expect(rows.reduce((sum, { used }) => sum + Number(used), 0)).toBe(charged);
        for (const { used } of rows) expect(Number(used)).toBeLessThanOrEqual(LIMIT);
        const own = rows.filter(({ subject }) => subject !== `${PREFIX}${OTHER_VALUE}`);
        expect(own.length).toBeLessThanOrEqual(MOST_VALUES);
      }),
      { numRuns: propertyRuns(6) },
    );
  });
});
