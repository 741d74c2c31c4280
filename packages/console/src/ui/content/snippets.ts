import type { Snippet } from "./code-tabs.tsx";

/** The address that applications outside of this browser should use. */
export function baseAddress(serverAddress: string): string {
  const isLocal = serverAddress === "" || /^https?:\/\/(localhost|127\.)/.test(serverAddress);
  return (isLocal ? location.origin : serverAddress).replace(/\/+$/, "");
}

export function maskKey(key: string): string {
  return `sk-…${key.slice(-4)}`;
}

interface SnippetInput {
  readonly base: string;
  /** With the `sk-` prefix. */
  readonly key: string;
  readonly model: string;
}

function curl({ base, key, model }: SnippetInput): string {
  return `curl ${base}/v1/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`;
}

function python({ base, key, model }: SnippetInput): string {
  return `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${key}")
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`;
}

function node({ base, key, model }: SnippetInput): string {
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${base}/v1", apiKey: "${key}" });
const answer = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(answer.choices[0].message.content);`;
}

function claudeCode({ base, key }: SnippetInput): string {
  return `export ANTHROPIC_BASE_URL="${base}"
export ANTHROPIC_AUTH_TOKEN="${key}"
claude`;
}

const WRITERS = [
  ["curl", "curl", curl],
  ["python", "Python", python],
  ["node", "Node.js", node],
  ["claude-code", "Claude Code", claudeCode],
] as const;

/** Examples that show `shown.key` and copy `realKey`. */
export function snippetsFor(shown: SnippetInput, realKey: string): Snippet[] {
  return WRITERS.map(([id, label, write]) => ({
    id,
    label,
    code: write(shown),
    copied: write({ ...shown, key: realKey }),
  }));
}
