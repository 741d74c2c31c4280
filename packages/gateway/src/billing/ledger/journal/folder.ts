import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSegment } from "./segment.ts";

/** Subfolders that belong to one process each, below a folder that processes may share. */

const LOCK = "lock";
const MOST = 1_000;

/** A folder that this process owns, possibly with files of a dead process. */
export interface OwnFolder {
  readonly path: string;
  /** Releases the folder for another process. */
  release(): void;
}

/** Takes the first folder that no running process owns. Throws file system errors. */
export function takeFolder(parent: string): OwnFolder {
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  for (let at = 0; at < MOST; at += 1) {
    const folder = tryFolder(join(parent, String(at)));
    if (folder) return folder;
  }
  throw new Error(`${parent} holds ${MOST} journals of running processes`);
}

/** Takes the folders of all dead processes. */
export function takeOrphans(parent: string): OwnFolder[] {
  return readdirSync(parent).flatMap((name) => {
    const path = join(parent, name);
    if (!/^\d+$/.test(name) || !readdirSync(path).some(isSegment)) return [];
    const folder = tryFolder(path);
    return folder ? [folder] : [];
  });
}

function tryFolder(path: string): OwnFolder | undefined {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const lock = join(path, LOCK);
  if (!createLock(lock) && !(removeDead(lock) && createLock(lock))) return undefined;
  return { path, release: () => rmSync(lock, { force: true }) };
}

/** Creates the lock file with its content atomically; returns false if it exists. */
function createLock(path: string): boolean {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, `${process.pid} ${readProcessStart(process.pid) ?? ""}`, { mode: 0o600 });
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * Removes the lock of a dead process. If two processes find the same dead owner, the slower one restores the lock of
 * the faster one.
 */
function removeDead(path: string): boolean {
  const owner = readOwner(path);
  if (isAlive(owner)) return false;
  const aside = `${path}.dead.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return true; // removed in the meantime; the first process to link owns it
  }
  const isSame = readOwner(aside) === owner;
  if (!isSame) renameSync(aside, path);
  rmSync(aside, { force: true });
  return isSame;
}

function readOwner(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // released in the meantime
  }
}

/** Returns whether the owner runs. A process id alone is ambiguous, because every container may use the same one. */
function isAlive(owner: string): boolean {
  const [pid = "", start] = owner.split(" ");
  if (!/^\d+$/.test(pid)) return false;
  const now = readProcessStart(Number(pid));
  if (now !== undefined) return now === start;
  try {
    process.kill(Number(pid), 0);
    return Number(pid) !== process.pid;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Returns the start time of a process in ticks since boot; undefined on systems without /proc. */
function readProcessStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
