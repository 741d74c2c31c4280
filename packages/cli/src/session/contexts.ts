import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { CliError, readErrorCode, EXIT } from "../core/exit.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The context that applies until others are created. */
export const DEFAULT_CONTEXT = "default";

/** Returns the file with the sign-in of the current context. `FAIRWAY_CONFIG` names one file and has no contexts. */
export function configPath(env: Environment): string {
  const { FAIRWAY_CONFIG: named, FAIRWAY_CONTEXT: chosen } = env;
  if (named && chosen)
    throw new CliError(
      "FAIRWAY_CONFIG names the file of one sign-in, a context chooses among several",
      EXIT.usage,
      "leave out one of FAIRWAY_CONFIG and --context (FAIRWAY_CONTEXT)",
    );
  return named || resolveContextPath(env, chosen ? checkedName(chosen) : currentContext(env));
}

/** Returns the folder for everything that this program stores. */
export function resolveConfigFolder(env: Environment): string {
  return join(env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "fairway");
}

export function resolveContextPath(env: Environment, name: string): string {
  const folder = resolveConfigFolder(env);
  return name === DEFAULT_CONTEXT ? join(folder, "credentials.json") : join(folder, "contexts", `${name}.json`);
}

export function checkedName(name: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return name;
  throw new CliError(`${name} cannot name a context`, EXIT.usage, "use letters, digits, dots and dashes");
}

function resolvePointerPath(env: Environment): string {
  return join(resolveConfigFolder(env), "current-context");
}

/** Returns the default context of commands. */
export function currentContext(env: Environment): string {
  try {
    return checkedName(readFileSync(resolvePointerPath(env), "utf8").trim());
  } catch (cause) {
    if (readErrorCode(cause) === "ENOENT" || readErrorCode(cause) === "ENOTDIR") return DEFAULT_CONTEXT;
    throw cause instanceof CliError
      ? new CliError(
          `${resolvePointerPath(env)} names no context`,
          EXIT.failure,
          "choose one with `fairway context use NAME`",
        )
      : cause;
  }
}

export function useContext(env: Environment, name: string): void {
  const pointer = resolvePointerPath(env);
  const draft = `${pointer}.${process.pid}`;
  if (name === DEFAULT_CONTEXT) return rmSync(pointer, { force: true });
  try {
    mkdirSync(dirname(pointer), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${name}\n`, { mode: 0o600 });
    renameSync(draft, pointer);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw new CliError(`${pointer} cannot be written (${readErrorCode(cause)})`, EXIT.failure);
  }
}

export function moveContext(env: Environment, from: string, to: string): void {
  const target = resolveContextPath(env, to);
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    renameSync(resolveContextPath(env, from), target);
  } catch (cause) {
    throw new CliError(`${target} cannot be written (${readErrorCode(cause)})`, EXIT.failure);
  }
}

/** Returns the names of all signed-in contexts, the default first. */
export function contextNames(env: Environment): string[] {
  const names = namesIn(join(resolveConfigFolder(env), "contexts")).toSorted();
  const isSignedIn = namesIn(resolveConfigFolder(env)).includes(
    basename(resolveContextPath(env, DEFAULT_CONTEXT), ".json"),
  );
  return isSignedIn ? [DEFAULT_CONTEXT, ...names] : names;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []);
  } catch {
    return [];
  }
}
