import { cpus, release } from "node:os";
import { GOAL_MS } from "./calls.ts";
import type { LogsFigures } from "./run.ts";

const SECTIONS = ["Lists", "Histogram", "Facets", "Statistics"] as const;
const QUIET_LOAD = 1;

/** Formats the figures as a page of Markdown: a table per section, a column per database, the goal next to them. */
export function logsDocument(figures: readonly LogsFigures[], calls: number, at: Date): string {
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Linux ${release()}, Node ${process.version}`;
  const noisy = figures.map(({ loadBefore }) => loadBefore).filter((load) => load > QUIET_LOAD);
  return [
    "# What questions to the log cost at size",
    "",
    `Written by \`npm run bench -- --logs\` on ${at.toISOString().slice(0, 10)}: ${machine}. Gateway, database and client share these`,
    `cores. Milliseconds over HTTP, p50 / p95 of up to ${calls} calls, one after the other, each with other names and days.`,
    "",
    ...figures.map(contentsLine),
    ...(noisy.length > 0
      ? [
          "",
          `**Noisy:** other work occupied the cores (load average ${noisy.map((load) => load.toFixed(1)).join(", ")} before the runs).`,
        ]
      : []),
    ...SECTIONS.flatMap((section) => table(figures, section)),
    "",
  ].join("\n");
}

/** Returns the calls that missed the goal, one sentence each. */
export function missedGoals(figures: readonly LogsFigures[]): string[] {
  return figures.flatMap(({ name, calls }) =>
    calls
      .filter(({ p95 }) => p95 >= GOAL_MS)
      .map(({ call, p95 }) => `${name}, ${call.section}, ${call.name}: ${p95.toFixed(0)} ms, goal ${GOAL_MS}`),
  );
}

function contentsLine({ name, contents, partitions }: LogsFigures): string {
  return `- **${name}**: ${contents.logs.toLocaleString("en")} log rows over ${contents.days} days, ${partitions - contents.days} partitions without rows`;
}

function table(figures: readonly LogsFigures[], section: (typeof SECTIONS)[number]): string[] {
  const rows = (figures[0]?.calls ?? []).filter(({ call }) => call.section === section);
  const cell = ({ calls }: LogsFigures, name: string) => {
    const found = calls.find(({ call }) => call.section === section && call.name === name);
    if (!found) return "–";
    const text = `${found.p50.toFixed(1)} / ${found.p95.toFixed(1)}`;
    return found.p95 < GOAL_MS ? text : `**${text}**`;
  };
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    "",
    `## ${section}`,
    "",
    line(["question", "goal, p95", ...figures.map(({ name }) => name)]),
    line(["---", "---:", ...figures.map(() => "---:")]),
    ...rows.map(({ call }) => line([call.name, String(GOAL_MS), ...figures.map((one) => cell(one, call.name))])),
  ];
}
