import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { drawSchedule } from "./draw.ts";
import { runSchedule } from "./run.ts";
import { nameSetting, type Schedule, type Setting } from "./schedule.ts";
import { shorten } from "./shorten.ts";

const MINUTE_MS = 60_000;
const TRIES = 8;

export interface Campaign {
  readonly seed: number;
  readonly minutes: number;
  /** Undefined = the settings in turn. */
  readonly setting?: Setting | undefined;
  /** A folder for the logs of a run that failed; "" = none. */
  readonly logs?: string;
  readonly say: (line: string) => void;
}

export interface Failure {
  readonly problems: readonly string[];
  /** The shortest schedule that was found to fail, for `--schedule`. */
  readonly schedule: Schedule;
}

/** Runs the seeds from `seed` on for as long as it may, at least one; ends at the first failure. */
export async function runCampaign({ seed, minutes, setting, logs = "", say }: Campaign): Promise<Failure | undefined> {
  const until = performance.now() + minutes * MINUTE_MS;
  for (let next = seed; next === seed || performance.now() < until; next += 1) {
    const failure = await runOne(drawSchedule(next, setting), { logs, say });
    if (failure) return failure;
  }
  return undefined;
}

/** Runs a schedule; one that fails is shortened. */
export async function runOne(
  schedule: Schedule,
  { logs = "", say, tries = TRIES }: Pick<Campaign, "logs" | "say"> & { readonly tries?: number },
): Promise<Failure | undefined> {
  const { problems, requests, delivered, seconds, rounds, logs: lines } = await runSchedule(schedule, say);
  const setting = nameSetting(schedule.setting);
  say(
    `  ${delivered} of ${requests} requests delivered in ${rounds} rounds, ${seconds} s, ${problems.length} problems`,
  );
  if (problems.length === 0) return undefined;
  for (const problem of problems) say(`  ${problem}`);
  if (logs !== "") await writeLogs(join(logs, `seed-${schedule.seed}`), lines);
  say(`seed ${schedule.seed} fails on ${setting}; looking for a shorter schedule`);
  const fails = async (shorter: Schedule) => (await runSchedule(shorter, () => {})).problems.length > 0;
  return { problems, schedule: await shorten(schedule, fails, tries) };
}

async function writeLogs(folder: string, logs: Readonly<Record<string, readonly object[]>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, lines] of Object.entries(logs))
    await writeFile(join(folder, `${name}.log`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}
