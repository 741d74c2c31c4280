// `npm run bench`: what Fairway costs. One flag chooses what is measured; `--help` lists them.
import { benchAllocations } from "./allocations.ts";
import { benchApi } from "./api.ts";
import { benchBatches } from "./batches.ts";
import { benchBudgets } from "./budgets.ts";
import { benchCalls, benchStreams } from "./calls.ts";
import { benchCli, benchUi } from "./cli.ts";
import { benchCollector } from "./collector.ts";
import { benchConsole } from "./console.ts";
import { benchGrowth } from "./growth.ts";
import { benchLedgers } from "./ledger.ts";
import { benchLogs } from "./logs.ts";
import { benchOutage } from "./outage.ts";
import { benchPlain } from "./plain.ts";
import { benchProfile } from "./profile.ts";
import { benchSoak } from "./soak.ts";
import { benchStrategies } from "./strategies.ts";
import { main } from "../process.ts";

/** By the flag that requests it: what it measures. Each reads its own flags, and refuses others. */
const MODES = [
  ["--plain", "plain calls, each round next to one of nginx", benchPlain],
  ["--at-once", "streams whose chunks come at once", benchPlain],
  ["--spaced", "streams with a chunk every 10 ms", benchPlain],
  ["--streams", "conversions and long streams", benchStreams],
  ["--budgets", "what three budgets add to plain calls", benchBudgets],
  ["--profile", "which parts of the program spend the time of a call", benchProfile],
  ["--allocations", "the bytes that a call allocates", benchAllocations],
  ["--collector", "what garbage collection costs a call", benchCollector],
  ["--strategies", "how channels are chosen", benchStrategies],
  ["--outage", "calls while Redis is away", benchOutage],
  ["--batches", "a batch of 50,000 requests", benchBatches],
  ["--ledger", "reservations and charges, with and without rows", benchLedgers],
  ["--logs", "questions to a log of 10,000,000 rows", benchLogs],
  ["--growth", "many channels and tokens", benchGrowth],
  ["--api", "the management API with many rows", benchApi],
  ["--console", "the web console", benchConsole],
  ["--cli", "the terminal program", benchCli],
  ["--ui", "its screens", benchUi],
  ["--soak", "memory under mixed load, --soak MINUTES", benchSoak],
] as const;

const words = process.argv.slice(2).map((word) => word.split("=", 1)[0]);

if (words.includes("--help")) printModes();
else await main(findMode() ?? benchCalls);

/** The first flag decides: further ones may be those of its mode, such as `--api --logs 3000`. */
function findMode() {
  const first = words.find((word) => MODES.some(([flag]) => flag === word));
  return MODES.find(([flag]) => flag === first)?.[2];
}

function printModes(): void {
  console.log(
    "Without a flag, all kinds of calls are measured next to nginx, in 20 minutes; --quick is a smoke run.\n",
  );
  for (const [flag, about] of MODES) console.log(`${flag.padEnd(14)} ${about}`);
  console.log("\ndocs/performance/README.md has their further flags.");
}
