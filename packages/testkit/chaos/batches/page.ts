import { cpus } from "node:os";
import { listBatchProblems, type BatchReport } from "./run.ts";
import type { Setting } from "./world.ts";

const INTRODUCTION = `# Batches whose leader dies

Two replicas follow batches of the fake upstream (one on SQLite). SIGKILL ends the one that creates batches, or the one
that leads, exactly while batches are at the steps below: the upstream withholds an answer, or a lock of the test holds a
row. Each batch has a user of its own, so that balance, used quota, number of requests, ledger and log can be compared to
the unit. Then \`ledger audit\` compares everything, with the live balances of Redis. This page is written by the run
itself: \`npm run test:chaos -- --batches --write\`. [What happens inside](batches.md).`;

const METHOD = `## What must hold

- A batch that its upstream has is charged once for each model: one row \`deposit\`, one \`return\`, one \`consume\`, one row
  of the log.
- A batch that its upstream does not have costs nothing: what was deposited is returned.
- The times that the leader waits before it polls again are shortened for the run: 15 minutes until an upstream without
  the batch is believed, and the pauses between polls.
- SQLite has no locks of single rows, so the steps within the database are tried on servers only.`;

const HEADINGS = ["A batch at the time of the kill", "What was booked", "Charged", "Result"];

/** The page with one table for each place of the books. */
export function batchFaultsDocument(reports: readonly BatchReport[], at: Date): string {
  const [processor] = cpus();
  const where = `${at.toISOString().slice(0, 10)}, ${cpus().length} cores (${processor?.model.trim() ?? "unknown"}), shared with other work, Node ${process.versions.node}.`;
  return `${[INTRODUCTION, where, ...reports.map(describeReport), METHOD].join("\n\n")}\n`;
}

function describeReport(report: BatchReport): string {
  const { setting, batches, audit, seconds } = report;
  const rows = batches.map(({ step, booked, charged, problems }) => [
    step,
    booked === "" ? "nothing" : booked,
    charged,
    problems.length === 0 ? "as it must" : problems.join("; "),
  ]);
  const table = [HEADINGS, HEADINGS.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  const verdict = listBatchProblems(report).length === 0 ? "**Passed**" : "**Failed**";
  return [`## ${nameSetting(setting)}`, table, `${verdict} in ${seconds} s. \`ledger audit\`: ${audit}`].join("\n\n");
}

const REDIS = {
  none: "without Redis",
  present: "and Redis",
  emptied: "and Redis, which loses everything with each kill",
};

export function nameSetting({ database, redis }: Setting): string {
  return `${database} ${REDIS[redis]}`;
}
