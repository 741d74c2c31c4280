// Runs `go build`, shows how far it is, and ends a build that hangs or never ends: by its processor time, because a
// machine that others use may take an hour for the work of ten minutes.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export interface GoBuild {
  /** The folder of `go.mod`. */
  readonly folder: string;
  readonly args: readonly string[];
  /** What is built, for the lines of progress. */
  readonly title: string;
  /** What helps where there is no Go, besides installing it. */
  readonly instead?: string;
  readonly limits?: GoLimits;
  readonly say?: (line: string) => void;
}

export interface GoLimits {
  /** Most processor time of the build and its compilers. */
  readonly cpuSeconds: number;
  /** Longest time without processor time and without a line of output, as while a download hangs. */
  readonly quietSeconds: number;
  readonly everyMs: number;
}

const LIMITS: GoLimits = { cpuSeconds: 60 * 60, quietSeconds: 10 * 60, everyMs: 1_000 };
const SAY_EVERY_MS = 15_000;
/** Clock ticks of /proc in a second, on every Linux that Node supports. */
const TICKS_PER_SECOND = 100;
const LAST_LINES = 12;
const BUSY_SECONDS = 0.05;

/** Resolves when the build is complete. Throws an error that says what failed, and what to do. */
export async function runGoBuild(build: GoBuild): Promise<void> {
  const { folder, args, title, instead = "", limits = LIMITS, say = console.log } = build;
  const child = spawn("go", ["build", "-v", ...args], {
    cwd: folder,
    env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const progress = new Progress(child, title);
  const closed = once(child, "close") as Promise<[number | null]>;
  let stopped: string | undefined;
  const timer = setInterval(() => {
    stopped ??= progress.findOverrun(limits);
    if (stopped !== undefined) child.kill("SIGKILL");
  }, limits.everyMs);
  const talk = setInterval(() => say(progress.describe()), SAY_EVERY_MS);
  try {
    const [code] = await closed;
    if (code !== 0) throw new Error(progress.explain(stopped ?? `go build ended with ${code}`));
    say(`${progress.describe()}, done`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new Error(`${title}: there is no program go: install Go 1.26${instead}`, { cause: error });
  } finally {
    clearInterval(timer);
    clearInterval(talk);
  }
}

/** Counts what a build prints and what it costs. */
class Progress {
  readonly #pid: number | undefined;
  readonly #title: string;
  readonly #lines: string[] = [];
  #downloads = 0;
  #packages = 0;
  #cpuSeconds = 0;
  /** When it last did something. */
  #activeAt = performance.now();

  constructor(child: ChildProcess, title: string) {
    this.#pid = child.pid;
    this.#title = title;
    if (child.stderr) createInterface(child.stderr).on("line", (line) => this.#note(line));
  }

  #note(line: string): void {
    this.#activeAt = performance.now();
    if (line.startsWith("go: downloading ")) this.#downloads += 1;
    else if (/^[\w.~-]+(?:\/[\w.~-]+)*$/.test(line)) this.#packages += 1;
    this.#lines.push(line);
    if (this.#lines.length > LAST_LINES) this.#lines.shift();
  }

  describe(): string {
    const downloads = this.#downloads === 0 ? "" : `${this.#downloads} modules downloaded, `;
    return `${this.#title}: ${downloads}${this.#packages} packages compiled, ${Math.round(this.#cpuSeconds)} s of processor time`;
  }

  /** Returns why the build must end; undefined = it continues. */
  findOverrun({ cpuSeconds, quietSeconds }: GoLimits): string | undefined {
    const used = readCpuSeconds(this.#pid);
    if (used - this.#cpuSeconds > BUSY_SECONDS) this.#activeAt = performance.now();
    this.#cpuSeconds = Math.max(this.#cpuSeconds, used);
    if (used > cpuSeconds) return `it used more than ${cpuSeconds} s of processor time`;
    const quiet = (performance.now() - this.#activeAt) / 1_000;
    return quiet > quietSeconds ? `nothing happened for ${quietSeconds} s: is the module proxy reachable?` : undefined;
  }

  explain(reason: string): string {
    const last = this.#lines.map((line) => `  ${line}`).join("\n");
    return `${this.describe()}, then ${reason}.\n${last}\nWhat is compiled already is stored: run the same command again. Go needs disk for it, about 8 GB for a cluster, and GOPROXY for downloads.`;
  }
}

/** Returns the processor time of a process and of its children that have ended. */
function readCpuSeconds(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // utime, stime, cutime and cstime: the fields 14 to 17. Two fields come before the parenthesis.
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND;
  } catch {
    // The process has ended.
    return 0;
  }
}
