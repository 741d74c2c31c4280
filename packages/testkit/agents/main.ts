// `npm run test:agents [-- pattern]`: coding agents from their own packages, each with one real tool loop through each
// kind of upstream: its shell, then a tool of an MCP server. Installs the agents (several hundred megabytes) into the
// cache of node_modules at its first run.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createChannel, createToken, setOptions, signIn, startGateway, startUpstream } from "../src/index.ts";
import { AGENTS, type Agent } from "./agents.ts";
import { MARK } from "./mark.ts";
import { scriptLoop } from "./tool-loop.ts";

interface Kind {
  readonly name: string;
  readonly group: string;
  readonly channel: Readonly<Record<string, unknown>>;
}

/** Channel types: 1 OpenAI, 43 a compatible server without the Responses API, 14 Anthropic, 24 Gemini. */
const KINDS: readonly Kind[] = [
  { name: "OpenAI", group: "openai", channel: { type: 1 } },
  { name: "OpenAI-compatible", group: "compatible", channel: { type: 43 } },
  { name: "Anthropic", group: "anthropic", channel: { type: 14 } },
  { name: "Gemini", group: "gemini", channel: { type: 24 } },
];
const MODULES = join(import.meta.dirname, "../../../node_modules/.cache/agents");
const PROMPT = "Write the word harbour into the file made.txt with your shell, then tell me that you are done.";
const END = "The file is written. Done.";

const pattern = new RegExp(process.argv[2] ?? "", "i");
const wanted = AGENTS.flatMap((agent) => KINDS.map((kind) => ({ agent, kind }))).filter(({ agent, kind }) =>
  pattern.test(`${agent.name} ${kind.name}`),
);
await install(new Set(wanted.map(({ agent }) => agent)));

const upstream = await startUpstream();
scriptLoop(upstream, { command: "printf harbour > made.txt", end: END });
const gateway = await startGateway();
let failures = 0;
try {
  const root = await signIn(gateway.url);
  const groups = Object.fromEntries(["default", ...KINDS.map(({ group }) => group)].map((group) => [group, 1]));
  const usable = Object.fromEntries(KINDS.map(({ group, name }) => [group, name]));
  await setOptions(root, {
    SelfUseModeEnabled: "true",
    GroupRatio: JSON.stringify(groups),
    UserUsableGroups: JSON.stringify({ default: "Default", ...usable }),
  });
  const models = AGENTS.flatMap((agent) => agent.models).join(",");
  const keys = new Map<string, string>();
  for (const { group, channel } of KINDS) {
    await createChannel(root, { ...channel, group, models, base_url: upstream.url });
    keys.set(group, await createToken(root, { name: group, group }));
  }
  for (const { agent, kind } of wanted) {
    const problem = await loop(agent, keys.get(kind.group) ?? "");
    console.log(`${problem === undefined ? "ok  " : "FAIL"} ${agent.name} through ${kind.name}`);
    if (problem === undefined) continue;
    failures++;
    console.log(problem.replaceAll(/^/gm, "     "));
  }
} finally {
  await gateway.stop();
  await upstream.stop();
}
console.log(`${wanted.length - failures} passed, ${failures} failed`);
process.exitCode = failures === 0 && wanted.length > 0 ? 0 : 1;

/** Returns undefined if the agent ran the command, reported completion, and exited by itself. */
async function loop(agent: Agent, key: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "fairway-agent-"));
  const before = upstream.requests.length;
  try {
    const { code, output } = await agent.start({ modules: MODULES, folder, url: gateway.url, key }, PROMPT);
    const made = await readFile(join(folder, "made.txt"), "utf8").catch(() => undefined);
    const seen = upstream.requests.slice(before).map(({ body }) => body.toString("utf8"));
    const problems = [
      ...(code === 0 ? [] : [`it ended with ${code}`]),
      ...(made === "harbour" ? [] : [`made.txt holds ${made ?? "nothing"}`]),
      ...(seen.some((body) => body.includes(MARK)) ? [] : ["the tool of the MCP server was not called"]),
      ...(output.includes(END) ? [] : ["the last answer was not shown"]),
    ];
    if (problems.length === 0) return undefined;
    const calls = upstream.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    return [problems.join("; "), `upstream saw: ${calls.join(", ") || "nothing"}`, output.slice(-2_000)].join("\n");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function install(agents: ReadonlySet<Agent>): Promise<void> {
  const missing = [...agents].filter((agent) => !existsSync(join(MODULES, "node_modules", agent.package)));
  if (missing.length === 0) return;
  await mkdir(MODULES, { recursive: true });
  console.log(`Installing ${missing.map((agent) => agent.package).join(", ")} …`);
  const names = missing.map((agent) => agent.package);
  execFileSync("npm", ["install", "--prefix", MODULES, "--no-audit", "--no-fund", ...names], {
    stdio: "inherit",
  });
  const installer = join(MODULES, "node_modules/@anthropic-ai/claude-code/install.cjs");
  if (existsSync(installer)) execFileSync(process.execPath, [installer], { stdio: "inherit" });
}
