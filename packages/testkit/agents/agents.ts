import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MARK_TOOL, SERVER } from "./mark.ts";

interface AgentWorkspace {
  /** The folder where the packages are installed. */
  readonly modules: string;
  /** Working folder of one run; also its home folder. */
  readonly folder: string;
  readonly url: string;
  readonly key: string;
}

export interface Agent {
  readonly name: string;
  readonly package: string;
  readonly models: readonly string[];
  start(place: AgentWorkspace, prompt: string): Promise<Ended>;
}

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

const LIMIT_MS = 90_000;

/** The MCP server that every agent starts. */
const MCP = { command: process.execPath, args: [join(import.meta.dirname, "mcp-server.ts")] };

export const AGENTS: readonly Agent[] = [
  {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    models: ["claude-sonnet-4-5", "claude-haiku-4-5"],
    async start(place, prompt) {
      const servers = join(place.folder, "mcp.json");
      await writeFile(servers, JSON.stringify({ mcpServers: { [SERVER]: MCP } }));
      const tools = ["--allowedTools", `Bash,mcp__${SERVER}__${MARK_TOOL}`, "--mcp-config", servers];
      return run(place, "claude", ["-p", prompt, ...tools, "--model", "claude-sonnet-4-5"], {
        ANTHROPIC_BASE_URL: place.url,
        ANTHROPIC_API_KEY: place.key,
        ANTHROPIC_SMALL_FAST_MODEL: "claude-haiku-4-5",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
      });
    },
  },
  {
    name: "Codex",
    package: "@openai/codex",
    models: ["gpt-5"],
    async start(place, prompt) {
      const home = join(place.folder, ".codex");
      await mkdir(home, { recursive: true });
      const provider = `{ name = "gateway", base_url = "${place.url}/v1", env_key = "GATEWAY_KEY", wire_api = "responses" }`;
      const config = [
        'model = "gpt-5"',
        'model_provider = "gateway"',
        `model_providers.gateway = ${provider}`,
        `mcp_servers.${SERVER} = { command = ${JSON.stringify(MCP.command)}, args = ${JSON.stringify(MCP.args)} }`,
      ];
      await writeFile(join(home, "config.toml"), config.join("\n"));
      const options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
      return run(place, "codex", ["exec", ...options, prompt], { CODEX_HOME: home, GATEWAY_KEY: place.key });
    },
  },
  {
    name: "opencode",
    package: "opencode-ai",
    models: ["gpt-4.1"],
    async start(place, prompt) {
      const provider = {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${place.url}/v1`, apiKey: place.key },
        models: { "gpt-4.1": {} },
      };
      const config = {
        model: "gateway/gpt-4.1",
        provider: { gateway: provider },
        mcp: { [SERVER]: { type: "local", command: [MCP.command, ...MCP.args] } },
        autoupdate: false,
      };
      await writeFile(join(place.folder, "opencode.json"), JSON.stringify(config));
      return run(place, "opencode", ["run", prompt], {});
    },
  },
  {
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    models: ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite"],
    async start(place, prompt) {
      const home = join(place.folder, ".gemini");
      await mkdir(home, { recursive: true });
      const settings = {
        security: { auth: { selectedType: "gemini-api-key" } },
        mcpServers: { [SERVER]: { ...MCP, trust: true } },
      };
      await writeFile(join(home, "settings.json"), JSON.stringify(settings));
      return run(place, "gemini", ["--yolo", "--skip-trust", "-m", "gemini-2.5-pro", "-p", prompt], {
        GEMINI_API_KEY: place.key,
        GOOGLE_GEMINI_BASE_URL: place.url,
      });
    },
  },
];

/** An agent sees no settings of this machine: home and working folder belong to the run. */
function run(
  place: AgentWorkspace,
  program: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<Ended> {
  const child = spawn(join(place.modules, "node_modules/.bin", program), args, {
    cwd: place.folder,
    env: { PATH: process.env["PATH"], HOME: place.folder, NO_COLOR: "1", CI: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part: Buffer) => (output += part.toString("utf8")));
  }
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), LIMIT_MS);
  return new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: null, output: error.message }));
    child.once("close", (code) => {
      clearTimeout(timer);
      resolve({ code, output });
    });
  });
}
