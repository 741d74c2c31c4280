import type { Snippet } from "../../ui/content/code-tabs.tsx";

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

function openaiPython({ base, key, model }: SnippetInput): string {
  return `# pip install openai
from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${key}")
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`;
}

function openaiNode({ base, key, model }: SnippetInput): string {
  return `// npm install openai
import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${base}/v1", apiKey: "${key}" });
const answer = await client.chat.completions.create({
  model: "${model}",
  messages: [{ role: "user", content: "Hello" }],
});
console.log(answer.choices[0].message.content);`;
}

function anthropicPython({ base, key, model }: SnippetInput): string {
  return `# pip install anthropic
from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key="${key}")
message = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}],
)
print(message.content[0].text)`;
}

function anthropicNode({ base, key, model }: SnippetInput): string {
  return `// npm install @anthropic-ai/sdk
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: "${base}", apiKey: "${key}" });
const message = await client.messages.create({
  model: "${model}",
  max_tokens: 1024,
  messages: [{ role: "user", content: "Hello" }],
});
console.log(message.content[0].text);`;
}

function googlePython({ base, key, model }: SnippetInput): string {
  return `# pip install google-genai
from google import genai
from google.genai import types

client = genai.Client(api_key="${key}", http_options=types.HttpOptions(base_url="${base}"))
answer = client.models.generate_content(model="${model}", contents="Hello")
print(answer.text)`;
}

function googleNode({ base, key, model }: SnippetInput): string {
  return `// npm install @google/genai
import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({ apiKey: "${key}", httpOptions: { baseUrl: "${base}" } });
const answer = await client.models.generateContent({ model: "${model}", contents: "Hello" });
console.log(answer.text);`;
}

function claudeCode({ base, key, model }: SnippetInput): string {
  return `export ANTHROPIC_BASE_URL="${base}"
export ANTHROPIC_AUTH_TOKEN="${key}"
export ANTHROPIC_MODEL="${model}"
export ANTHROPIC_SMALL_FAST_MODEL="${model}"
claude`;
}

function codex({ base, key, model }: SnippetInput): string {
  return `# ~/.codex/config.toml
model = "${model}"
model_provider = "fairway"

[model_providers.fairway]
name = "Fairway"
base_url = "${base}/v1"
env_key = "FAIRWAY_KEY"
wire_api = "responses"

# In the shell:
# export FAIRWAY_KEY="${key}"
# codex`;
}

function geminiCli({ base, key, model }: SnippetInput): string {
  return `export GOOGLE_GEMINI_BASE_URL="${base}"
export GEMINI_API_KEY="${key}"
gemini -m "${model}"`;
}

function cursor({ base, key, model }: SnippetInput): string {
  return `# Cursor: Settings → Models → API Keys
# Cursor calls from its own servers: the address must be reachable from the internet.
OpenAI API Key             ${key}
Override OpenAI Base URL   ${base}/v1
Add model                  ${model}`;
}

function continueDev({ base, key, model }: SnippetInput): string {
  return `# ~/.continue/config.yaml
name: Fairway
version: 1.0.0
schema: v1
models:
  - name: ${JSON.stringify(model)}
    provider: openai
    model: ${JSON.stringify(model)}
    apiBase: ${base}/v1
    apiKey: ${key}
    roles: [chat, edit, apply]`;
}

type Writer = (input: SnippetInput) => string;

const WRITERS: readonly (readonly [id: string, label: string, write: Writer, variant?: string])[] = [
  ["curl", "curl", curl],
  ["openai-python", "OpenAI", openaiPython, "Python"],
  ["openai-node", "OpenAI", openaiNode, "Node.js"],
  ["anthropic-python", "Anthropic", anthropicPython, "Python"],
  ["anthropic-node", "Anthropic", anthropicNode, "Node.js"],
  ["google-python", "Google", googlePython, "Python"],
  ["google-node", "Google", googleNode, "Node.js"],
  ["claude-code", "Claude Code", claudeCode],
  ["codex", "Codex", codex],
  ["gemini-cli", "Gemini CLI", geminiCli],
  ["cursor", "Cursor", cursor],
  ["continue", "Continue", continueDev],
];

/** Returns examples that show `shown.key` and copy `realKey`. */
export function snippetsFor(shown: SnippetInput, realKey: string): Snippet[] {
  return WRITERS.map(([id, label, write, variant]) => ({
    id,
    label,
    ...(variant === undefined ? {} : { variant }),
    code: write(shown),
    copied: write({ ...shown, key: realKey }),
  }));
}

/** Words in the names of models that do not chat. */
const NO_CHAT =
  /embed|whisper|tts|speech|audio|dall-e|image|imagen|moderation|rerank|realtime|transcribe|video|sora|mj_|suno/i;
const FAVOURITES = ["gpt-4o-mini", "gpt-4.1-mini"];

/** Returns a chat model for examples and first requests; the first of the list if none seems to be one. */
export function exampleModel(models: readonly string[]): string | undefined {
  const favourite = FAVOURITES.find((name) => models.includes(name));
  return favourite ?? models.find((name) => !NO_CHAT.test(name)) ?? models[0];
}
