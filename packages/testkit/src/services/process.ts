import { spawn, type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { accessSync, constants, existsSync, globSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execFileSync } from "node:child_process";
import { createGuard } from "./guard.ts";

/** One running throw-away server with its own port and data folder. */
export interface Service {
  readonly url: string;
  readonly pid: number;
  readonly port: number;
  /** Removed by `stop()`. */
  readonly folder: string;
  /** Sends a signal and waits until the process has ended; data and port stay reserved for `restart()`. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the server again on the same port and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The account that a server runs under; undefined = the caller's own. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

export interface ServerSpec {
  readonly name: string;
  readonly command: string;
  /** The account to use if the caller is root; servers that refuse root need one. */
  readonly account: Account | undefined;
  /** Prepares the data folder; runs once. */
  prepare?(folder: string): Promise<void>;
  args(folder: string, port: number): readonly string[];
  /** Printed by the server once it accepts connections. */
  readonly ready: string;
  url(port: number): string;
  readonly stopSignal: NodeJS.Signals;
}

const START_TIMEOUT_MS = 60_000;
const END_TIMEOUT_MS = 60_000;
const PORT_TRIES = 5;
const FREE_PORT_TRIES = 100;
const FIRST_PORT = 20_000;
/** Outgoing connections use ports from 32,768 on Linux, and from a higher number elsewhere. */
const LAST_PORT = 32_767;
const LONGEST_PARENT = "/dev/shm".length;

/** Starts the server of `spec` on a free loopback port; if a parallel run takes the port, another one is tried. */
export async function startServer(spec: ServerSpec): Promise<Service> {
  const folder = await makeFolder(spec.name, spec.account);
  const guard = createGuard(folder);
  try {
    await spec.prepare?.(folder);
    for (let attempt = 1; ; attempt++) {
      const port = await freePort();
      try {
        return manage({ spec, folder, guard, port, child: await launch(spec, folder, port) });
      } catch (error) {
        if (attempt === PORT_TRIES || !/in use|could not bind|bind on/i.test(String(error))) throw error;
      }
    }
  } catch (error) {
    guard.disarm();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

interface Managed {
  readonly spec: ServerSpec;
  readonly folder: string;
  readonly guard: ReturnType<typeof createGuard>;
  readonly port: number;
  readonly child: ChildProcess;
}

function manage({ spec, folder, guard, port, child: first }: Managed): Service {
  let child = first;
  guard.watch(child.pid ?? 0, spec.stopSignal);

  const kill = async (signal: NodeJS.Signals = "SIGKILL") => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const gone = new Promise<true>((resolve) => child.once("exit", () => resolve(true)));
    child.kill(signal);
    if (await Promise.race([gone, sleep(END_TIMEOUT_MS, false, { ref: false })])) return;
    child.kill("SIGKILL");
    throw new Error(`${spec.name} did not end within ${END_TIMEOUT_MS} ms of ${signal}`);
  };

  return {
    url: spec.url(port),
    port,
    folder,
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    async restart() {
      await kill();
      child = await launch(spec, folder, port);
      guard.watch(child.pid ?? 0, spec.stopSignal);
    },
    async stop() {
      await kill(spec.stopSignal);
      guard.disarm();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Resolves when the process itself reports that it is ready, because a foreign server may answer on the same port. */
function launch(spec: ServerSpec, folder: string, port: number): Promise<ChildProcess> {
  const child = spawn(spec.command, spec.args(folder, port), {
    ...spec.account,
    cwd: folder,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (reason: string) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(new Error(`${spec.name} did not start (${reason}):\n${output.slice(-4_000)}`));
    };
    const timer = setTimeout(() => fail(`no answer within ${START_TIMEOUT_MS} ms`), START_TIMEOUT_MS);
    const read = (chunk: Buffer) => {
      output = (output + chunk.toString("latin1")).slice(-16_000);
      if (!output.includes(spec.ready)) return;
      clearTimeout(timer);
      child.removeAllListeners("exit");
      child.stdout.removeAllListeners("data").resume();
      child.stderr.removeAllListeners("data").resume();
      child.unref();
      resolve(child);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code, signal) => fail(`it ended with ${String(code ?? signal)}`));
  });
}

/** Runs a preparatory command to its end; its output is part of the error. */
export function run(
  command: string,
  args: readonly string[],
  account: Account | undefined,
  cwd: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...account, cwd, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("latin1")));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString("latin1")));
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ended with ${String(code)}:\n${output.slice(-4_000)}`));
    });
  });
}

/** Finds a program on the path or in the given folders (globs); the error names the Debian package. */
export function findProgram(name: string, debianPackage: string, folders: readonly string[] = []): string {
  const path = (process.env["PATH"] ?? "").split(delimiter);
  const places = [
    ...path,
    "/usr/sbin",
    "/usr/local/sbin",
    ...folders.flatMap((pattern) => globSync(pattern).sort().reverse()),
  ];
  for (const place of places) {
    const file = join(place, name);
    if (!existsSync(file)) continue;
    accessSync(file, constants.X_OK);
    return file;
  }
  throw new Error(`${name} is missing: install the Debian package ${debianPackage} (apt-get install ${debianPackage})`);
}

const accounts = new Map<string, Account>();

/**
 * Returns this account or that of "nobody", whichever exists, if the caller is root; database servers refuse root or
 * advise against it.
 */
export function unprivileged(name: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const account = accounts.get(name) ?? readAccount([name, "nobody"]);
  accounts.set(name, account);
  return account;
}

function readAccount(names: readonly string[]): Account {
  for (const name of names) {
    try {
      const [uid, gid] = ["-u", "-g"].map((flag) =>
        Number(execFileSync("id", [flag, name], { stdio: ["ignore", "pipe", "ignore"] })),
      );
      if (uid !== undefined && gid !== undefined) return { uid, gid };
    } catch {
      continue; // `id` ends with 1 for an unknown name
    }
  }
  throw new Error(`none of the accounts ${names.join(", ")} exists`);
}

/**
 * Returns a port of 127.0.0.1 that was free a moment ago. It is below the range that the system uses for outgoing
 * connections, because one of those could occupy the port before a server listens on it.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; attempt <= FREE_PORT_TRIES; attempt++) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await canListen(port)) return port;
  }
  throw new Error(`no port between ${FIRST_PORT} and ${LAST_PORT} is free`);
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/**
 * Socket paths are limited to 107 bytes, and other accounts must be able to reach the folder. The default temporary
 * folder may be long and private.
 */
async function makeFolder(name: string, account: Account | undefined): Promise<string> {
  const parent = tmpdir().length > LONGEST_PARENT ? "/tmp" : tmpdir();
  const folder = await mkdtemp(join(parent, `fairway-${name}-`));
  if (account) await chown(folder, account.uid, account.gid);
  return folder;
}
