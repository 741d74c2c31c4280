// `npm test [-- --only NAME,NAME]`: installs packages, provides the services that the tests start themselves, runs
// every stage and ends with `N passed, N failed`. Needs Node 20 and npm; as root it installs missing programs through
// apt.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ensureInstalled, runPinned, startProgress, withLock } from "./bootstrap.mjs";

const POLICY = "/usr/sbin/policy-rc.d";

/** Programs that the tests run, with the Debian package that holds each. */
const PROGRAMS = [
  ["redis-server", "redis-server"],
  ["mariadbd", "mariadb-server"],
  ["mariadb-install-db", "mariadb-server"],
  ["libgalera_smm.so", "galera-4"],
  // Nodes of Galera catch up by rsync, and find their ports with ss.
  ["rsync", "rsync"],
  ["ss", "iproute2"],
  ["initdb", "postgresql"],
  ["chromium-headless-shell", "chromium-headless-shell"],
  ["nginx", "nginx-light"],
  ["promtool", "prometheus"],
  ["gpg", "gpg"],
  ["mariadb-dump", "mariadb-client"],
  ["zsh", "zsh"],
  ["fish", "fish"],
  ["man", "man-db"],
  ["unzip", "unzip"],
  ["script", "bsdutils"],
  ["systemd-analyze", "systemd"],
  // The engine of ClickHouse is a module of Python, which the first test of the log installs.
  ["python3", "python3"],
  ["pip3", "python3-pip"],
];

/** Chromium renders Chinese with it; without such a font, the console tests would see empty boxes. */
const CHINESE_FONT = ["a Chinese font", "fonts-noto-cjk"];

/** Programs of real Kubernetes nodes; only `npm run test:cluster` needs them. */
const NODE_PROGRAMS = [
  ["containerd", "containerd"],
  ["runc", "runc"],
  ["nft", "nftables"],
  ["conntrack", "conntrack"],
  ["iptables", "iptables"],
  ["host-local", "containernetworking-plugins"],
];
/** Other browsers and the drivers of all; only `npm run test:engines` needs them. */
const ENGINE_PROGRAMS = [
  ["chromium", "chromium"],
  ["chromedriver", "chromium-driver"],
  ["firefox-esr", "firefox-esr"],
  ["WebKitWebDriver", "webkit2gtk-driver"],
  ["Xvfb", "xvfb"],
];
const wantsEngines = process.argv.some((text) => text.split(",").includes("engines"));
const wantsNodes =
  process.getuid?.() === 0 &&
  !process.env["KUBECONFIG"] &&
  (process.env["FAIRWAY_TEST_CLUSTER"] === "1" || process.argv.some((text) => text.split(",").includes("nodes")));

try {
  await ensurePrograms();
  await ensureInstalled("all");
  runPinned("scripts/stages.ts", process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  console.log("0 passed, 1 failed");
  process.exitCode = 1;
}

async function ensurePrograms() {
  if (missing().length === 0) return;
  if (process.getuid?.() === 0 && hasProgram("apt-get")) {
    await withLock("apt", async () => {
      if (missing().length > 0) await aptInstall([...new Set(missing().map(([, name]) => name))]);
    });
  }
  const rest = missing();
  if (rest.length === 0) return;
  const lines = rest.map(([program, name]) => `  ${program} (Debian package ${name})`);
  const packages = [...new Set(rest.map(([, name]) => name))].join(" ");
  throw new Error(
    `The tests need what is missing here:\n${lines.join("\n")}\nInstall them: apt-get install ${packages}`,
  );
}

function missing() {
  const wanted = [...PROGRAMS, ...(wantsNodes ? NODE_PROGRAMS : []), ...(wantsEngines ? ENGINE_PROGRAMS : [])];
  const programs = wanted.filter(([program]) => !hasProgram(program));
  return hasChineseFont() ? programs : [...programs, CHINESE_FONT];
}

function hasChineseFont() {
  if (existsSync("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")) return true;
  return Boolean(spawnSync("fc-list", [":lang=zh-cn"], { encoding: "utf8" }).stdout);
}

function hasProgram(program) {
  const versions = "/usr/lib/postgresql";
  const folders = existsSync(versions) ? readdirSync(versions).map((version) => join(versions, version, "bin")) : [];
  const places = [
    ...(process.env["PATH"] ?? "").split(delimiter),
    "/usr/sbin",
    "/usr/local/sbin",
    "/usr/lib/cni",
    "/usr/lib/galera",
    ...folders,
  ];
  return places.some((place) => existsSync(join(place, program)));
}

/** Installed packages start no service: the tests run their own servers on free ports. */
async function aptInstall(packages) {
  const isOurPolicy = !existsSync(POLICY);
  if (isOurPolicy) writeFileSync(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    await apt("Reading package lists", ["update", "-q"]);
    await apt(`Installing ${packages.join(", ")}`, ["install", "-y", "-q", "--no-install-recommends", ...packages]);
  } finally {
    if (isOurPolicy) rmSync(POLICY, { force: true });
  }
}

function apt(title, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const child = spawn("apt-get", args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const progress = startProgress(title, () => output.trim().split("\n").at(-1) ?? "");
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      progress.end(code === 0);
      if (code === 0) resolve(undefined);
      else reject(new Error(`apt-get ${args.join(" ")} failed:\n${output.slice(-4_000)}`));
    });
  });
}
