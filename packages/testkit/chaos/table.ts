import { cpus, totalmem } from "node:os";
import { phaseProblems, listProblems, type Phase, type Round } from "./verdict.ts";

export interface Setting {
  readonly command: string;
  readonly at: Date;
  /** Name -> version line. */
  readonly versions: Readonly<Record<string, string>>;
}

/** The page of faults and results. */
export function faultsDocument(rounds: readonly Round[], setting: Setting): string {
  return `${[INTRODUCTION, settingText(setting), ...rounds.map(roundText), BUDGETS, METHOD].join("\n\n")}\n`;
}

const INTRODUCTION = `# Faults and what they cost

Three replicas serve a steady load of plain calls, streams, streams that the client leaves, and calls whose first
channel fails. Meanwhile one part after the other is killed, frozen, slowed or emptied, then two at once. This page is
written by the run itself.`;

const BUDGETS = `## Budgets

Every request of a round counts in budgets of its user, group, model, channel and, for some, key, by months of several
zones. Each must have used exactly what the ledger charged in its window. One hard budget is so small that its requests
compete for it and are refused now and then; no hard one may pass its limit. What holds outside of these rounds:

- The budgets of a Redis Cluster are in one slot, and one script decides over all budgets of a request. Its hold is in
  the slot of its user; what one of both refuses, the other returns.
- With \`FAIRWAY_QUOTA_ON_OUTAGE=sql\`, a hard budget can be exceeded in an outage of Redis by what other replicas had open
  in it when Redis went away: reservations, and charges of the last tenth of a second that were in Redis but not booked.
  That is at most its limit. A replica sees what it had open itself. Running answers continue past their reservation
  meanwhile, as in every outage.
- A charge that comes after its reservation was given up, from the journal of a replica that was down for longer than a
  lease, still counts and may pass a hard limit by its amount.`;

const METHOD = `## How it is counted

- **delivered**: the client has the whole answer. **refused**: it got an error status. **cut**: an answer began and did
  not end, or a stream ended with an error event. **unanswered**: no answer began. **left**: the client went away on
  purpose in the middle of a stream.
- **during**: answers that were complete before the fault was lifted.
- **lost**: delivered answers without a ledger row or without a log row. **twice**: two answers with one request id, two
  ledger rows of one kind for one request, or two log rows. **wrong**: a delivered answer that was not charged exactly
  its price, or a refused one that was charged.
- **unequal**: accounts (users, tokens, channels) where the change of the balance, the used quota, the number of
  requests, the ledger and the log rows do not agree to the unit, budgets that have not used exactly what the ledger
  charged in their window, and hard budgets past their limit. Each is read in one statement under load.
- **back after**: from the end of the fault to the first answer of a request that started after it. **books agree
  after**: from the look at the books that follows the fault until they agree; settlements may be on their way.
- At the end of a round the load stops. Then no reservation may be left, neither in the database nor in Redis, no charge
  may wait in Redis, and every balance and budget that Redis keeps must be the one in the database.
- A fault of Redis counts only if the replicas were connected to Redis; every fault must leave delivered answers.
- Databases commit durably and Redis writes an append-only file before it answers. Clients use a connection per request
  and wait 40 s. The rotation follows \`/readyz\`, asked every 250 ms.`;

function settingText({ command, at, versions }: Setting): string {
  const [processor] = cpus();
  const lines = [
    `- Repeat it: \`${command}\``,
    `- ${at.toISOString().slice(0, 10)}, ${cpus().length} cores (${processor?.model.trim() ?? "unknown"}), ${Math.round(totalmem() / 2 ** 30)} GiB, shared with other work`,
    `- ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", ")}`,
  ];
  return lines.join("\n");
}

const HEADINGS = (
  "Fault | What happens | s | delivered | during | refused | cut | unanswered | left | " +
  "lost | twice | wrong | unequal | back after | books agree after | Result"
).split(" | ");

function roundText(round: Round): string {
  const { database, store, phases, requests, withheld, completions, books, live, quietMs, seconds } = round;
  const problems = listProblems(round);
  const about = [
    `${requests} requests in ${seconds} s: ${completions.delivered} delivered, ${completions.refused} refused, ${completions.cut} cut,`,
    `${completions.unanswered} unanswered, ${completions.left} left on purpose${withheld > 0 ? `; ${withheld} were not sent` : ""}.`,
    `${books.charges} requests were charged ${books.charged} units; ${books.findings.lost.length} lost,`,
    `${books.findings.twice.length} twice, ${books.findings.wrong.length} wrong, ${books.findings.unequal.length} accounts unequal.`,
    `Redis held ${live.accounts} balances, ${live.findings.length} findings. Nothing was reserved ${time(quietMs)} after the load.`,
  ];
  const verdict =
    problems.length === 0 ? "**Passed.**" : `**Failed:**\n\n${problems.map((line) => `- ${line}`).join("\n")}`;
  const table = [row(HEADINGS), row(HEADINGS.map(() => "---")), ...phases.map(phaseRow)].join("\n");
  return [`## ${database} and ${store}`, about.join(" "), table, verdict].join("\n\n");
}

function phaseRow(phase: Phase): string {
  const { fault, about, note, seconds, completions, deliveredDuring, recoveredMs, agreedMs, books } = phase;
  const { lost, twice, wrong, unequal } = books.findings;
  const problems = phaseProblems(phase).length;
  return row([
    fault.name,
    note === "" ? about : `${about}; ${note}`,
    seconds,
    completions.delivered,
    deliveredDuring,
    completions.refused,
    completions.cut,
    completions.unanswered,
    completions.left,
    lost.length,
    twice.length,
    wrong.length,
    unequal.length,
    time(recoveredMs),
    time(agreedMs),
    problems === 0 ? "passed" : `${problems} problems`,
  ]);
}

function row(cells: readonly (string | number)[]): string {
  return `| ${cells.join(" | ")} |`;
}

function time(ms: number): string {
  return Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : "never";
}
