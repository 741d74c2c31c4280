import type { RawDatabase } from "../../src/storage/engines/raw.ts";
import { type Hold, isRefusal } from "../../src/billing/ledger/ledger.ts";
import { quota } from "../../src/billing/money/quota.ts";
import { requestId, createSettlement } from "../../src/billing/ledger/test-harness.contract.ts";
import { openRedisHarness } from "../../src/billing/ledger/redis/test-harness.contract.ts";

/**
 * A replica with a ledger on Redis. Started with `before` or `after`, it sends `paused` before its settler books a
 * batch, or after that and before Redis knows of it, and continues on `go`. On `hold` it reserves for each user and says
 * `holds`; on `settle` it charges them. Arguments: database URL, Redis URL, prefix, milliseconds after which a settler
 * counts as abandoned, users.
 */
const [url = "", redisUrl = "", prefix = "", abandonedMs = "", users = ""] = process.argv.slice(2);
let stop: "before" | "after" | undefined;

let isGoing = false;
let go = () => {};

const stand = () =>
  new Promise<void>((resolve) => {
    go = resolve;
    if (isGoing) resolve();
    else process.send?.("paused");
  });

const wrap = (raw: RawDatabase): RawDatabase => ({
  ...raw,
  async transaction(work) {
    const where = stop;
    stop = undefined;
    if (where === "before") await stand();
    const answer = await raw.transaction(work);
    if (where === "after") await stand();
    return answer;
  },
});

const { ledger } = await openRedisHarness(url, { redisUrl, prefix, wrap, part: { abandonedMs: Number(abandonedMs) } });

let holds: Hold[] = [];

async function hold(userId: number): Promise<Hold> {
  const answer = await ledger.hold({
    requestId: requestId(),
    userId,
    tokenId: 0,
    amount: quota(100),
    isCharged: true,
  });
  if (isRefusal(answer)) throw new Error(`refused: ${answer.refused}`);
  return answer;
}

async function answer(message: unknown): Promise<void> {
  switch (message) {
    case "before":
    case "after":
      stop = message;
      return;
    case "go":
      isGoing = true;
      return go();
    case "hold":
      holds = await Promise.all(users.split(",").map(Number).map(hold));
      process.send?.("holds");
      return;
    case "settle":
      await Promise.all(holds.map((one) => ledger.settle(createSettlement(one, 7))));
  }
}

process.on("message", (message) => void answer(message));
process.send?.("ready");
