import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createGuard } from "./services/guard.ts";

export interface GatewaySettings {
  /** `FAIRWAY_DATABASE_URL`; defaults to a fresh SQLite file. */
  readonly database?: string;
  readonly redis?: string;
  /** Further `FAIRWAY_*` variables; they override the defaults of the launcher, and undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Arguments of Node itself, such as `--cpu-prof`. */
  readonly nodeArgs?: readonly string[];
  /** The program to run; defaults to `FAIRWAY_TEST_GATEWAY`, or else the sources. */
  readonly program?: string;
}

export interface LogLine {
  readonly level?: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** The program that tests run: the built one that `FAIRWAY_TEST_GATEWAY` names, or else the sources. */
export function resolveGatewayProgram(): string {
  return process.env["FAIRWAY_TEST_GATEWAY"] ?? SOURCES;
}

/** A gateway process of its own on free loopback ports. */
export interface GatewayProcess {
  readonly url: string;
  readonly adminUrl: string;
  readonly pid: number;
  /** Every log line so far; text that is not JSON is in `message`. */
  readonly logs: readonly LogLine[];
  /** Resolves with the exit code, or the name of the signal. */
  readonly exited: Promise<number | string>;
  /** Requests an orderly stop (SIGTERM) and waits; returns the same as `exited`. */
  stop(): Promise<number | string>;
  /** Kills it at once, like a crash. */
  kill(): Promise<void>;
  /** Resolves with the first line of that message, past or future. */
  logged(message: string, timeoutMs?: number): Promise<LogLine>;
}

const SOURCES = join(import.meta.dirname, "../../gateway/src/main.ts");
const START_TIMEOUT_MS = 60_000;

/** Password of the super administrator `root` in gateways that a test starts. */
export const ROOT_PASSWORD = "test-root-password";

/**
 * The same for every process, so that replicas and restarts can read what others encrypted. 256 bits: a passphrase would
 * cost each start the quarter of a second that its derivation takes.
 */
export const ENCRYPTION_KEY = "7e57".repeat(16);

export async function startGateway(settings: GatewaySettings = {}): Promise<GatewayProcess> {
  const folder = await mkdtemp(join(tmpdir(), "fairway-gateway-"));
  const child = spawn(process.execPath, [...(settings.nodeArgs ?? []), settings.program ?? resolveGatewayProgram()], {
    cwd: folder,
    env: { ...inherited(), ...defaults(folder, settings), ...settings.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  // If the test process dies, its gateways and their folders are removed.
  const guard = createGuard(folder);
  guard.watch(child.pid ?? 0, "SIGKILL");
  const logs: LogLine[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      logs.push(parseLine(line));
      for (const look of waiting) look();
    });
  }
  const exited = new Promise<number | string>((resolve) => {
    child.once("close", (code, signal) => {
      guard.disarm();
      for (const look of waiting) look();
      void rm(folder, { recursive: true, force: true }).finally(() => resolve(code ?? signal ?? -1));
    });
  });
  const logged = (message: string, timeoutMs = START_TIMEOUT_MS) =>
    waitForLine({ child, logs, waiting }, message, timeoutMs);

  const listening = await logged("listening").catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  return {
    url: String(listening["url"]),
    adminUrl: String(listening["adminUrl"]),
    pid: child.pid ?? 0,
    logs,
    exited,
    stop: () => end("SIGTERM"),
    kill: async () => void (await end("SIGKILL")),
    logged,
  };
}

function defaults(folder: string, settings: GatewaySettings): Record<string, string> {
  return {
    FAIRWAY_HOST: "127.0.0.1",
    FAIRWAY_PORT: "0",
    FAIRWAY_ADMIN_PORT: "0",
    FAIRWAY_LOG_FORMAT: "json",
    FAIRWAY_DATA_DIR: join(folder, "data"),
    FAIRWAY_DATABASE_URL: settings.database ?? `sqlite:${join(folder, "fairway.db")}`,
    FAIRWAY_ROOT_PASSWORD: ROOT_PASSWORD,
    FAIRWAY_ENCRYPTION_KEY: ENCRYPTION_KEY,
    FAIRWAY_DEMO: "off",
    // Tests count the calls that reach an upstream, so those of retries turn retries on.
    FAIRWAY_FIRST_RETRIES: "0",
    FAIRWAY_LIMIT_API: "off",
    FAIRWAY_LIMIT_WEB: "off",
    FAIRWAY_LIMIT_CRITICAL: "off",
    ...(settings.redis && { FAIRWAY_REDIS_URL: settings.redis }),
  };
}

/** Returns the environment without product settings of the caller's shell. */
function inherited(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("FAIRWAY_")));
}

function parseLine(line: string): LogLine {
  if (!line.startsWith("{")) return { message: line };
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { message: line }; // a line of Node itself, or one cut by a kill
  }
}

interface Watched {
  readonly child: ChildProcess;
  readonly logs: readonly LogLine[];
  readonly waiting: Set<() => void>;
}

function waitForLine({ child, logs, waiting }: Watched, message: string, timeoutMs: number): Promise<LogLine> {
  return new Promise((resolve, reject) => {
    const finish = (act: () => void) => {
      clearTimeout(timer);
      waiting.delete(look);
      act();
    };
    const fail = (reason: string) => {
      const tail = logs.slice(-30).map((line) => JSON.stringify(line));
      finish(() => reject(new Error(`the gateway did not log "${message}" (${reason}):\n${tail.join("\n")}`)));
    };
    const look = () => {
      const line = logs.find((candidate) => candidate.message === message);
      if (line) finish(() => resolve(line));
      else if (child.exitCode !== null || child.signalCode !== null)
        fail(`it ended with ${String(child.exitCode ?? child.signalCode)}`);
    };
    const timer = setTimeout(() => fail(`within ${timeoutMs} ms`), timeoutMs);
    waiting.add(look);
    look();
  });
}
