import { cpus, release } from "node:os";
import type { Cpu } from "./measure.ts";
import { LOADS, type Figures, type Plan } from "./run.ts";

type Row = readonly string[];

/** The bench as a page of Markdown: tables, ratios to the first system (the limit), date and machine. */
export function benchDocument(figures: readonly Figures[], plan: Plan, at: Date): string {
  const limit = figures[0];
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Linux ${release()}, Node ${process.version}`;
  const noisy = figures.filter((figure) => figure.othersCores > 0.3);
  return [
    "# What a call costs",
    "",
    `Written by \`npm run bench\` on ${at.toISOString().slice(0, 10)}: ${machine}. All systems were up at once and taken in turn,`,
    `${plan.rounds} round(s) of ${plan.seconds} s a load, after ${plan.warmUpSeconds} s of each to warm up; medians. The upstream and the load generator are processes of their own on the same cores.`,
    ...(noisy.length > 0
      ? ["", `**Noisy:** others used more than 0.3 core during ${noisy.map((figure) => figure.name).join(", ")}.`]
      : []),
    "",
    ...figures.map((figure) => `- **${figure.name}**: ${figure.about}`),
    "",
    "## CPU",
    "",
    "Microseconds of user and system time per good answer, from before the first request until the processes are quiet again,",
    "so work done after the answer counts. In brackets: how many times the limit.",
    "",
    ...table(
      ["system", ...LOADS.map((load) => load.name), "database", "Redis", "plain answers/s"],
      figures.map((figure) => cpuRow(figure, limit)),
    ),
    "",
    "Database and Redis: per plain call, next to the gateway's own.",
    "",
    "## Latency",
    "",
    `Milliseconds added to the upstream alone, open loop, counted from the instant at which each of ${plan.samples} requests was due.`,
    "",
    ...table(
      ["system", ...plan.rates.flatMap((rate) => [`p50 at ${rate}/s`, `p99 at ${rate}/s`])],
      figures.map((figure) => [figure.name, ...plan.rates.flatMap((rate) => latencyCells(figure, rate))]),
    ),
    "",
    "## Memory",
    "",
    `MiB resident before the first call, after the loads above, and with ${plan.streams} streams open; growth of the proportional share per stream.`,
    "",
    ...table(
      ["system", "fresh", "after the loads", `with ${plan.streams} streams`, "KiB a stream"],
      figures.map(memoryRow),
    ),
    "",
    ...goalsSection(figures, plan),
  ].join("\n");
}

function cpuRow(figure: Figures, limit: Figures | undefined): Row {
  const cells = LOADS.map(({ name }) => {
    const own = figure.cpu[name]?.gateway ?? Number.NaN;
    const least = limit?.cpu[name]?.gateway ?? Number.NaN;
    return figure === limit ? microseconds(own) : `${microseconds(own)} (${(own / least).toFixed(1)})`;
  });
  const plain: Cpu | undefined = figure.cpu["plain"];
  const services = [plain?.database ?? 0, plain?.redis ?? 0].map((value) => (value > 0 ? microseconds(value) : "–"));
  return [figure.name, ...cells, ...services, Math.round(figure.plainPerSecond).toLocaleString("en")];
}

function latencyCells(figure: Figures, rate: number): Row {
  const added = figure.added[rate];
  return [added?.p50 ?? Number.NaN, added?.p99 ?? Number.NaN].map((value) => value.toFixed(2));
}

function memoryRow({ name, freshMib, memory }: Figures): Row {
  if (!memory) return [name, freshMib.toFixed(0), "–", "–", "–"];
  return [
    name,
    freshMib.toFixed(0),
    memory.idleMib.toFixed(0),
    memory.openMib.toFixed(0),
    memory.kibPerStream.toFixed(0),
  ];
}

function microseconds(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** The goals for a call, as a multiple of the limit, and for resident memory in MiB, by system. */
const GOALS = [
  { system: "fairway, SQLite", cpu: [9, 3, 2.6], withStores: undefined },
  { system: "fairway, MariaDB + Redis", cpu: [6, 3, 2.6], withStores: 10 },
] as const;
const GOAL_MIB = 200;

/** Returns the goals next to the measured values; none if no gateway was measured. */
function goalsSection(figures: readonly Figures[], { streams }: Plan): string[] {
  const limit = figures[0]?.cpu ?? {};
  const rows = GOALS.flatMap(({ system, cpu, withStores }): Row[] => {
    const figure = figures.find(({ name }) => name === system);
    if (!figure) return [];
    const times = ({ gateway, database, redis }: Cpu, load: string) =>
      (gateway + database + redis) / (limit[load]?.gateway ?? Number.NaN);
    const alone = (used: Cpu) => ({ ...used, database: 0, redis: 0 });
    const calls = LOADS.map(({ name }, at) => {
      const used = figure.cpu[name];
      return goalRow(`${name}, ${system}: times the limit`, cpu[at] ?? Number.NaN, used && times(alone(used), name), 1);
    });
    const plain = figure.cpu["plain"];
    const all =
      withStores && plain ? [goalRow(`plain, ${system}: with both stores`, withStores, times(plain, "plain"), 1)] : [];
    const { idleMib, openMib } = figure.memory ?? {};
    return [
      ...calls,
      ...all,
      goalRow(`${system}: MiB after the loads`, GOAL_MIB, idleMib, 0),
      goalRow(`${system}: MiB with ${streams} streams`, GOAL_MIB, openMib, 0),
    ];
  });
  if (rows.length === 0) return [];
  return ["## Goals", "", ...table(["goal", "at most", "measured", ""], rows), ""];
}

function goalRow(what: string, most: number, measured: number | undefined, digits: number): Row {
  const value = measured ?? Number.NaN;
  return [what, String(most), value.toFixed(digits), Number(value.toFixed(digits)) <= most ? "met" : "missed"];
}

export function table(head: Row, rows: readonly Row[]): string[] {
  const line = (cells: Row) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? "---" : "---:"))), ...rows.map(line)];
}
