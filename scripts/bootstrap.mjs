// Everything that `npm start` and `npm test` need before anything is installed: plain JavaScript, no dependency, Node
// 20 or newer.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

// import.meta.dirname is missing in the first versions of Node 20.
export const ROOT = join(fileURLToPath(import.meta.url), "../..");

const NODE = join(ROOT, "node_modules", ".bin", "node");
const OLDEST_NODE = 20;
const LOCK_POLL_MS = 250;
const TICK_MS = 1_000;
const PARENT_POLL_MS = 250;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

const UNREACHABLE =
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/;

/** `npm start` needs no tests and no linter, and its first answer needs no console: a third of the packages, and of the wait. */
const WORKSPACES = {
  gateway: ["packages/wire", "packages/gateway"],
  start: ["packages/wire", "packages/gateway", "packages/console"],
};

const TITLES = {
  gateway: "Installing packages of the gateway",
  start: "Installing packages of gateway and console",
  all: "Installing packages",
};

/**
 * Installs the packages of the lock file when they are not there, or others are.
 * @param {"gateway" | "start" | "all"} scope what the gateway needs, also what the console needs, or everything
 */
export async function ensureInstalled(scope) {
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
    throw new Error(
      `this is Node.js ${process.versions.node}: install ${OLDEST_NODE} or newer (https://nodejs.org) and try again`,
    );
  }
  if (isInstalled(scope)) return;
  await withLock("install", async () => {
    if (isInstalled(scope)) return; // a parallel run has installed them
    if (hasPackages(scope)) checkPinnedNode();
    // If the tools are already installed, they stay: npm would remove what it is instructed to omit.
    const isPartly = scope !== "all" && !existsSync(join(ROOT, "node_modules", "vitest"));
    await install(TITLES[scope], isPartly ? workspaceArgs(WORKSPACES[scope]) : []);
    checkPinnedNode();
    if (!isInstalled(scope)) throw new Error("npm ended well, but node_modules still differs from package-lock.json");
  });
}

function workspaceArgs(paths) {
  return ["--omit=dev", "--include-workspace-root", ...paths.map((path) => `--workspace=${path}`)];
}

function isInstalled(scope) {
  return hasPackages(scope) && pinnedNodeError() === undefined;
}

/** Returns the error message of the lock file's Node if it does not start; undefined if it does. */
function pinnedNodeError() {
  const { status, stderr, error } = spawnSync(NODE, ["--version"], { encoding: "utf8" });
  return status === 0 ? undefined : (stderr?.trim() ?? "") || error?.message || `it ended with ${status}`;
}

/** A reinstallation cannot repair a Node whose libraries are missing on the machine. */
function checkPinnedNode() {
  if (!existsSync(NODE)) return;
  const said = pinnedNodeError();
  if (said !== undefined) throw new Error(`The Node of this checkout does not start:\n${said}\n${findNodeCure(said)}`);
}

function findNodeCure(said) {
  const [file, name, version] = /\b(lib[\w+.-]+?)\.so\.(\d+)/.exec(said) ?? [];
  if (name === undefined) return "Remove node_modules and try again; Node needs Linux with glibc 2.28, or macOS 13.5.";
  return `Install the package of ${file} and try again: "apt-get install ${name}${version}" on Debian and Ubuntu, "dnf install ${name}" on Fedora and RHEL.`;
}

/** Compares npm's own record of node_modules with the lock file, because a stamp file could be wrong. */
function hasPackages(scope) {
  const record = join(ROOT, "node_modules", ".package-lock.json");
  if (!existsSync(record)) return false;
  const wanted = readPackages(join(ROOT, "package-lock.json"));
  const present = readPackages(record);
  const isSame = (path) =>
    present[path]?.version === wanted[path].version && present[path]?.integrity === wanted[path].integrity;
  const needed = scope === "all" ? allPackages(wanted) : workspacePackages(wanted, WORKSPACES[scope]);
  return (
    needed.every(isSame) &&
    Object.keys(present).every((path) => !(wanted[path]?.version && path.startsWith("node_modules/")) || isSame(path))
  );
}

function readPackages(file) {
  return JSON.parse(readFileSync(file, "utf8")).packages;
}

function workspacePackages(wanted, workspaces) {
  return ["", ...workspaces].flatMap((workspace) =>
    Object.keys(wanted[workspace]?.dependencies ?? {}).flatMap((name) => {
      const own = `${workspace}/node_modules/${name}`;
      return wanted[own] ? [own] : wanted[`node_modules/${name}`]?.version ? [`node_modules/${name}`] : [];
    }),
  );
}

function allPackages(wanted) {
  const isNeeded = ([path, entry]) =>
    path.includes("node_modules/") && entry.version && !(entry.optional || entry.devOptional || entry.peer);
  return Object.entries(wanted)
    .filter(isNeeded)
    .map(([path]) => path);
}

// `npm ci` would refuse a lock file that lacks optional packages for other platforms, which a registry may not have.
async function install(title, scopeArgs) {
  const progress = startProgress(title, unpacked);
  // Without a registry, npm would retry each of those packages for minutes; its cache may have everything.
  const ping = await runNpm(["ping", "--fetch-retries=0", "--fetch-timeout=10000", "--loglevel=error"]);
  const source = UNREACHABLE.test(ping.output) ? "--offline" : "--prefer-offline";
  const args = ["install", "--no-save", source, "--no-audit", "--no-fund", "--loglevel=error", ...scopeArgs];
  const { code, output } = await runNpm(args);
  progress.end(code === 0);
  if (code !== 0)
    throw new Error(`npm install failed with ${code}:\n${output.trim().slice(0, 4_000)}\n${findCure(output)}`);
}

/** No npm may outlive the script that started it: signals wait until npm has finished its cleanup. */
function runNpm(args) {
  const path = process.env["npm_execpath"];
  const [command, own] = path?.endsWith(".js") ? [process.execPath, [path]] : ["npm", []];
  const child = spawn(command, [...own, ...args], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  child.once("error", (error) => (output += error.message));
  let received;
  const forward = (signal) => {
    if (!received) console.log(`\nStopping: npm puts its work in order …`);
    received = signal;
    // A terminal sends SIGINT to the whole group already.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, forward);
  return new Promise((resolve) => {
    child.once("close", (code) => {
      for (const signal of SIGNALS) process.off(signal, forward);
      if (received) process.kill(process.pid, received);
      else resolve({ code, output });
    });
  });
}

function findCure(output) {
  if (output.includes("spawn npm ENOENT")) return "Install npm, which comes with Node.js, then try again.";
  if (UNREACHABLE.test(output))
    return "The registry of `npm config get registry` cannot be reached, and npm's cache does not hold every package: check the network, `npm config set registry URL`, or HTTPS_PROXY behind a proxy, then try again.";
  if (/\b(?:EACCES|EPERM|EROFS)\b/.test(output))
    return `Let this account write ${ROOT} and the folder of \`npm config get cache\`, then try again.`;
  if (/\bENOSPC\b/.test(output)) return `Make room on the disk of ${ROOT} (1 GiB), then try again.`;
  return "Try again; if it stays, remove node_modules and try once more.";
}

/** npm first creates the folders of all packages, and then fills them. */
function unpacked() {
  const folder = join(ROOT, "node_modules");
  const list = (path) => (existsSync(path) ? readdirSync(path).filter((name) => !name.startsWith(".")) : []);
  const packages = list(folder).flatMap((name) =>
    name.startsWith("@") ? list(join(folder, name)).map((own) => join(name, own)) : [name],
  );
  if (packages.length === 0) return "finding what is needed";
  const filled = packages.filter((name) => existsSync(join(folder, name, "package.json")));
  return `${filled.length} of ${packages.length}`;
}

/** Prints one line that is rewritten on a terminal and repeated every ten seconds elsewhere. */
export function startProgress(title, detail = () => "") {
  const started = Date.now();
  const isTerminal = process.stdout.isTTY;
  let ticks = 0;
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const line = () => {
    const text = detail();
    return `${title} … ${seconds()} s${text === "" ? "" : ` (${text})`}`;
  };
  const print = () => {
    if (isTerminal) process.stdout.write(`\r\x1b[K${line()}`);
    else if (++ticks % 10 === 0) console.log(line());
  };
  if (!isTerminal) console.log(`${title} …`);
  const timer = setInterval(print, TICK_MS);
  return {
    end(isDone) {
      clearInterval(timer);
      if (isTerminal) process.stdout.write("\r\x1b[K");
      console.log(`${title}: ${isDone ? "done" : "failed"} in ${seconds()} s`);
    },
  };
}

/**
 * Runs `work` while no other process of this checkout does the same. The lock is a folder with the owner's
 * process id in it; one whose owner has ended is taken over.
 */
export async function withLock(name, work) {
  const id = createHash("sha256").update(ROOT).digest("hex").slice(0, 12);
  const folder = join(tmpdir(), `fairway-${name}-${id}.lock`);
  for (let isReported = false; !tryLock(folder); isReported = true) {
    if (!isReported) console.log(`Waiting for another run to finish: ${name} …`);
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
  try {
    return await work();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tryLock(folder) {
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, "pid"), String(process.pid));
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    freeIfOwnerEnded(folder);
    return false;
  }
}

/** If several processes find a dead owner, only one moves the owner's mark away, and only that one removes the lock. */
function freeIfOwnerEnded(folder) {
  const mark = join(folder, "pid");
  const aside = join(folder, `pid-${process.pid}`);
  try {
    const owner = readFileSync(mark, "utf8");
    if (owner === "" || isAlive(Number(owner))) return;
    renameSync(mark, aside);
    if (readFileSync(aside, "utf8") === owner) rmSync(folder, { recursive: true, force: true });
    else renameSync(aside, mark);
  } catch (error) {
    if (error.code !== "ENOENT") throw error; // its owner is about to write the mark, or has just exited
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH";
  }
}

/** Runs a script under the Node of the lock file and exits with its exit code; signals are passed on. */
export function runPinned(script, args, env = {}) {
  const path = `${join(ROOT, "node_modules", ".bin")}${delimiter}${process.env["PATH"] ?? ""}`;
  const child = spawn(NODE, [join(ROOT, script), ...args], {
    stdio: "inherit",
    env: { ...process.env, PATH: path, ...env },
  });
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      // A terminal sends SIGINT to the whole group already; a second one would mean "at once".
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.once("error", (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  child.once("close", (code, signal) => (process.exitCode = code ?? (signal === "SIGINT" ? 130 : 143)));
}

/**
 * Stops this process when the shell between npm and it has ended: npm signals only that shell, which exits without
 * passing the signal on.
 */
export function stopWithShell() {
  const shell = process.ppid;
  setInterval(() => {
    if (process.ppid !== shell) process.kill(process.pid, "SIGTERM");
  }, PARENT_POLL_MS).unref();
}
