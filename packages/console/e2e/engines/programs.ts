// Programs of the engines: drivers of WebDriver, and the screen for the one that has no headless mode.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@fairway/testkit";
import { createGuard } from "@fairway/testkit/services/guard";

/** Published on crates.io under the MPL-2.0; Debian has no package of it. */
const GECKODRIVER = "0.37.1";
const CACHE = join(homedir(), ".cache", "fairway-engines", `geckodriver-${GECKODRIVER}`);
const START_MS = 30_000;
const POLL_MS = 50;

export interface RunningProgram {
  readonly port: number;
  stop(): Promise<void>;
}

/** Returns where a program is; throws an error that names its Debian package. */
export function findProgram(name: string, debianPackage: string): string {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/lib/chromium"];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`there is no program ${name}: apt-get install ${debianPackage}`);
  return found;
}

/** MiniBrowser belongs to the library, whose folder has the architecture and the version in its name. */
export function findMiniBrowser(): string {
  const [found] = globSync("/usr/lib/*/webkit2gtk-4.*/MiniBrowser").toSorted().reverse();
  if (found === undefined) throw new Error("there is no MiniBrowser: apt-get install webkit2gtk-driver");
  return found;
}

/** Returns geckodriver of the machine; without one, compiles the published crate once, which takes some minutes. */
export function findGeckodriver(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const built = join(CACHE, "bin");
  const found = [...folders, built].map((folder) => join(folder, "geckodriver")).find((path) => existsSync(path));
  if (found !== undefined) return found;
  console.log(`Compiling geckodriver ${GECKODRIVER} once, into ${CACHE}`);
  const args = ["install", "geckodriver", "--version", GECKODRIVER, "--locked", "--root", CACHE, "--quiet"];
  const { status, stderr, error } = spawnSync("cargo", args, { encoding: "utf8" });
  if (error) throw new Error("there is no geckodriver, and no cargo to compile it: install one of them");
  if (status !== 0) throw new Error(`geckodriver does not compile:\n${stderr.slice(-4_000)}`);
  return join(built, "geckodriver");
}

/** Starts a driver on a free port and waits until it answers. */
export async function startDriver(
  program: string,
  portArgs: (port: number) => readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningProgram> {
  const port = await freePort();
  const running = await startProgram(program, portArgs(port), env);
  try {
    await waitUntil(program, () => isReady(port));
  } catch (error) {
    await running.stop();
    throw error;
  }
  return { port, stop: running.stop };
}

async function isReady(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/status`, { signal: AbortSignal.timeout(POLL_MS * 10) });
    await answer.text();
    return true;
  } catch {
    return false;
  }
}

async function waitUntil(program: string, isDone: () => Promise<boolean> | boolean): Promise<void> {
  const limit = performance.now() + START_MS;
  while (!(await isDone())) {
    if (performance.now() > limit) throw new Error(`${program} did not start within ${START_MS / 1_000} s`);
    await sleep(POLL_MS);
  }
}

/** Starts an invisible screen. */
export async function startScreen(): Promise<{ readonly display: string; stop(): Promise<void> }> {
  const program = findProgram("Xvfb", "xvfb");
  const number = (await freePort()) % 50_000;
  const display = `:${number}`;
  const running = await startProgram(program, [display, "-screen", "0", "1600x1100x24", "-nolisten", "tcp"], {});
  await waitUntil(program, () => existsSync(`/tmp/.X11-unix/X${number}`));
  return { display, stop: running.stop };
}

/** Starts a program with a home of its own, and ends it with everything that it started. */
async function startProgram(program: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const home = await mkdtemp(join(tmpdir(), "fairway-engine-"));
  const child = spawn(program, args, {
    env: { ...process.env, HOME: home, XDG_RUNTIME_DIR: home, ...env },
    stdio: "ignore",
    detached: true,
  });
  const guard = createGuard(home);
  guard.watch(-(child.pid ?? 0), "SIGKILL");
  return {
    async stop() {
      await endGroup(child);
      guard.disarm();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A driver leaves its browser behind when it is killed alone. */
async function endGroup(child: ChildProcess): Promise<void> {
  const closed = new Promise((resolve) => child.once("close", resolve));
  if (child.pid === undefined || child.exitCode !== null) return;
  process.kill(-child.pid, "SIGKILL");
  await closed;
}
