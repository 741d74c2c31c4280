import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram, startServer, type Service } from "./process.ts";

/** The engine of ClickHouse as a module of Python, 26.9.2. */
const ENGINE = "chdb-core==26.9.0";
const CACHE = join(import.meta.dirname, "../../../../node_modules/.cache/fairway");
const FRONT = join(import.meta.dirname, "clickhouse-front.py");

/**
 * Starts the engine of ClickHouse behind its HTTP interface. It has no replicated tables, no Keeper and no accounts: the
 * account `default` needs no password.
 */
export async function startClickhouse(): Promise<Service> {
  const modules = await installEngine();
  return startServer({
    name: "clickhouse",
    command: findProgram("env", "coreutils"),
    account: undefined,
    args: (folder, port) => [`PYTHONPATH=${modules}`, "python3", FRONT, join(folder, "data"), String(port)],
    ready: "ready for statements",
    url: (port) => `clickhouse://127.0.0.1:${port}/default`,
    stopSignal: "SIGKILL",
  });
}

/** Installs the engine once for this checkout; it takes half a gigabyte. */
async function installEngine(): Promise<string> {
  const folder = join(CACHE, ENGINE.replace("==", "-"));
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const fresh = await mkdtemp(join(CACHE, "chdb-"));
  try {
    const command = findProgram("python3", "python3");
    const args = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", fresh, ENGINE];
    await promisify(execFile)(command, args, { maxBuffer: 2 ** 24 });
    // Another process may have been faster.
    await rename(fresh, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
    return folder;
  } catch (cause) {
    throw new Error(
      `the engine of ClickHouse cannot be installed (python3 -m pip install ${ENGINE}): install Python 3.9 or newer with pip (apt-get install python3-pip), and let pip reach its index\n${String(cause)}`,
      { cause },
    );
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}
