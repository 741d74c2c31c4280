// Faults that a seed draws. `npm run test:chaos -- --random MINUTES` runs longer.
import { expect, test } from "vitest";
import { runCampaign } from "./campaign.ts";

const LIMIT_MS = 1_200_000;
const DAY_MS = 86_400_000;
/** Each run takes one to three minutes. */
const MINUTES = 2;

test("the books hold under the faults of the day", { timeout: LIMIT_MS }, async () => {
  const seed = Math.floor(Date.now() / DAY_MS);
  const failure = await runCampaign({ seed, minutes: MINUTES, say: console.log });
  // The message names what `--schedule` repeats.
  expect(failure && JSON.stringify(failure)).toBeUndefined();
});
