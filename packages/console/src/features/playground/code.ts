import type { Snippet } from "../../ui/content/code-tabs.tsx";
import type { Answer } from "./conversation.ts";

const KEY = "sk-…";

type Body = Readonly<Record<string, unknown>>;

/** Leaves out the group, which applications do not send: their token has one. */
function plain({ group: _group, ...body }: Body): Body {
  return body;
}

function curl(base: string, body: Body): string {
  // A single quote ends the shell string; the text continues after an escaped one.
  const json = JSON.stringify(body, undefined, 2).replaceAll("'", String.raw`'\''`);
  return `curl ${base}/v1/chat/completions \\\n  -H "Authorization: Bearer ${KEY}" \\\n  -H "Content-Type: application/json" \\\n  -d '${json}'`;
}

/** Writes JSON as a Python literal. */
function python(value: unknown, indent = ""): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inner = `${indent}    `;
  const lines = Array.isArray(value)
    ? value.map((item) => `${inner}${python(item, inner)},\n`)
    : Object.entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${python(item, inner)},\n`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join("")}${indent}${close}`;
}

function pythonCode(base: string, body: Body): string {
  const members = Object.entries(body).map(([name, value]) => `    ${name}=${python(value, "    ")},\n`);
  return `from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key="${KEY}")
stream = client.chat.completions.create(
${members.join("")})
for event in stream:
    if event.choices:
        print(event.choices[0].delta.content or "", end="")`;
}

function nodeCode(base: string, body: Body): string {
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${base}/v1", apiKey: "${KEY}" });
const stream = await client.chat.completions.create(${JSON.stringify(body, undefined, 2)});
for await (const event of stream) process.stdout.write(event.choices[0]?.delta?.content ?? "");`;
}

function formatAnswer(message: Answer): string {
  const { text, thought, failure, usage, requestId } = message;
  const known = {
    request_id: requestId,
    ...(failure
      ? { status: failure.status, error: { message: failure.message, code: failure.code } }
      : { content: text, ...(thought === "" ? undefined : { reasoning_content: thought }) }),
    ...(usage ? { usage: { prompt_tokens: usage.input, completion_tokens: usage.output } } : undefined),
  };
  return JSON.stringify(known, undefined, 2);
}

/** Returns the request as an application would send it, and the answer. */
export function buildSnippets(
  base: string,
  body: Body,
  exchange: { readonly answer: Answer | undefined; readonly request: string; readonly response: string },
): Snippet[] {
  const sent = plain(body);
  const answer = exchange.answer
    ? [{ id: "response", label: exchange.response, code: formatAnswer(exchange.answer) }]
    : [];
  return [
    { id: "curl", label: "curl", code: curl(base, sent) },
    { id: "python", label: "Python", code: pythonCode(base, sent) },
    { id: "node", label: "Node.js", code: nodeCode(base, sent) },
    { id: "request", label: exchange.request, code: JSON.stringify(body, undefined, 2) },
    ...answer,
  ];
}
