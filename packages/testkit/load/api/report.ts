import { cpus, release } from "node:os";
import { TARGETS } from "./calls.ts";
import type { ApiFigures, ApiPlan } from "./run.ts";

type Row = readonly string[];

const CHUNK_TARGET_MS = 20;
const QUIET_LOAD = 1;
const SECTIONS = [
  { kind: "list", title: "Log" },
  { kind: "day", title: "Statistics of a day" },
  { kind: "channels", title: "Channels" },
  { kind: "other", title: "Wider questions" },
] as const;

/** Formats the figures as a page of Markdown: a table per kind of call, a column per database, date and machine. */
export function apiDocument(figures: readonly ApiFigures[], plan: ApiPlan, at: Date): string {
  const noisy = figures.map(({ loadBefore }) => loadBefore).filter((load) => load > QUIET_LOAD);
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Linux ${release()}, Node ${process.version}`;
  return [
    "# What the management API costs at size",
    "",
    `Written by \`npm run bench -- --api\` on ${at.toISOString().slice(0, 10)}: ${machine}. Gateway, database and client share these`,
    `cores. Milliseconds over HTTP, p50 / p95 of up to ${plan.calls} calls, one after the other, each with other names and days.`,
    "",
    ...figures.map(contentsLine),
    ...(noisy.length > 0
      ? [
          "",
          `**Noisy:** other work occupied the cores (load average ${noisy.map((load) => load.toFixed(1)).join(", ")} before the runs).`,
        ]
      : []),
    ...SECTIONS.flatMap(({ kind, title }) => section(figures, kind, title)),
    "",
    "## Sign-ins next to a stream",
    "",
    `${plan.signInsPerSecond} sign-ins a second (argon2id) for ${plan.signInSeconds} s while one stream with a chunk every 10 ms runs. Delay: from the`,
    `upstream's write to the client. Target: p99 of a chunk under ${CHUNK_TARGET_MS} ms.`,
    "",
    ...table(
      ["database", "sign-ins", "sign-in p50 / p95", "chunks", "delay p50 / p99", "gap p99"],
      figures.map(signInRow),
    ),
    "",
  ].join("\n");
}

/** Returns the figures above their target, one sentence each. */
export function missedTargets(figures: readonly ApiFigures[]): string[] {
  return figures.flatMap(({ name, calls, signIns }) => [
    ...calls.flatMap(({ call, p95 }) => {
      const target = TARGETS[call.kind];
      return target !== undefined && p95 >= target
        ? [`${name}, ${call.kind}, ${call.name}: ${p95.toFixed(0)} ms, target ${target}`]
        : [];
    }),
    ...(signIns.delayP99 >= CHUNK_TARGET_MS
      ? [`${name}, chunk p99: ${signIns.delayP99.toFixed(0)} ms, target ${CHUNK_TARGET_MS}`]
      : []),
  ]);
}

function contentsLine({ name, contents, seedSeconds }: ApiFigures): string {
  const { logs, channels, days } = contents;
  const made = seedSeconds === undefined ? "" : `; \`npm run seed\` made them in ${Math.round(seedSeconds)} s`;
  return `- **${name}**: ${logs.toLocaleString("en")} log rows over ${days} days, as many in the ledger, ${channels.toLocaleString("en")} channels${made}`;
}

function section(figures: readonly ApiFigures[], kind: keyof typeof TARGETS, title: string): string[] {
  const target = TARGETS[kind];
  const names = (figures[0]?.calls ?? []).filter(({ call }) => call.kind === kind).map(({ call }) => call.name);
  const cell = ({ calls }: ApiFigures, name: string) => {
    const found = calls.find(({ call }) => call.kind === kind && call.name === name);
    return found ? `${found.p50.toFixed(1)} / ${found.p95.toFixed(1)}` : "–";
  };
  return [
    "",
    `## ${title}`,
    "",
    ...(target === undefined ? [] : [`Target: p95 under ${target} ms.`, ""]),
    ...table(
      ["call", ...figures.map((figure) => figure.name)],
      names.map((name) => [name, ...figures.map((figure) => cell(figure, name))]),
    ),
  ];
}

function signInRow({ name, signIns }: ApiFigures): Row {
  const { done, signInP50, signInP95, chunks, delayP50, delayP99, gapP99 } = signIns;
  const pair = (a: number, b: number) => `${a.toFixed(1)} / ${b.toFixed(1)}`;
  return [name, String(done), pair(signInP50, signInP95), String(chunks), pair(delayP50, delayP99), gapP99.toFixed(1)];
}

function table(head: Row, rows: readonly Row[]): string[] {
  const line = (cells: Row) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)];
}
