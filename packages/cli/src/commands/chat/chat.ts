import { ApiProblem, formatQuota, logGetSelf, type Client } from "@fairway/wire";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { Io } from "../../core/io.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { printable } from "../../print/printable.ts";
import { isForPeople, printOne, type Output } from "../../print/output.ts";
import { formatErrorMessage } from "../../core/problem.ts";
import { readSecret } from "../../terminal/prompt.ts";
import { listModels, streamChat, type Answer, type Asked, type Message } from "../../session/relay.ts";
import type { Session } from "../../session/session.ts";
import type { Transport } from "../../session/transport.ts";
import { keyFor, type KeyOptions } from "./key.ts";

export interface ChatOptions extends KeyOptions {
  readonly system?: string;
}

/** Asks a model with a key of the user: once if there is a question, otherwise turn by turn in a terminal. */
export async function chat(
  session: Session,
  prompt: string | undefined,
  options: ChatOptions,
  { output, io }: { readonly output: Output; readonly io: Io },
): Promise<void> {
  const question = await readQuestion(prompt);
  const { client, profile, transport } = session;
  const token = await keyFor(client, options, io.nowSeconds());
  const key = `sk-${token.key}`;
  const model = options.model ?? (await onlyModel(transport, profile.server, key));
  const head: Message[] = options.system === undefined ? [] : [{ role: "system", content: options.system }];
  const asked: Asked = { transport, server: profile.server, key, model, messages: head };
  const teller = { client, output, io, paidBy: `key ${token.id} (${token.name})` };
  if (question !== undefined) return askOnce({ ...asked, messages: [...head, user(question)] }, teller);
  if (!isForPeople(output))
    throw new CliError(`a conversation has no -o ${output.format}`, EXIT.usage, "give a prompt, or leave -o out");
  output.note(`${model}, paid by ${teller.paidBy}. /exit leaves, Ctrl-C stops an answer.`);
  return converse(asked, teller);
}

interface Teller {
  readonly client: Client;
  readonly output: Output;
  readonly io: Io;
  readonly paidBy: string;
}

function user(content: string): Message {
  return { role: "user", content };
}

/** Returns the argument, the piped text, or both; undefined if a person is to type. */
async function readQuestion(prompt: string | undefined): Promise<string | undefined> {
  if (process.stdin.isTTY) return prompt;
  const piped = (await readSecret("Prompt")).trim();
  const question = [prompt ?? "", piped].filter((part) => part !== "").join("\n\n");
  if (question !== "") return question;
  throw new CliError("there is nothing to ask", EXIT.usage, "give a prompt as argument, or pipe it in");
}

async function onlyModel(transport: Transport, server: string, key: string): Promise<string> {
  const models = await listModels(transport, server, key);
  const [first] = models;
  if (first !== undefined && models.length === 1) return first;
  const some = models.slice(0, 5).join(", ") + (models.length > 5 ? ", …" : "");
  throw new CliError("which model?", EXIT.usage, `name one with --model: ${some || "no channel serves any yet"}`);
}

async function askOnce(asked: Asked, { client, output, io, paidBy }: Teller): Promise<void> {
  const isRead = isForPeople(output) || output.format === "raw";
  const answer = await streamChat(asked, (text) => (isRead ? io.write(text) : undefined));
  if (isRead) io.write("\n");
  const quota = await readChargedQuota(client, answer.requestId);
  if (!isRead) {
    const { text, usage, requestId: request_id } = answer;
    await printOne(
      output,
      { model: asked.model, text, ...usage, quota: quota ?? null, request_id },
      { quotas: ["quota"] },
    );
  }
  output.note(await formatBill(answer, quota, output, paidBy));
}

/** Chats turn by turn until `/exit` or the end of input. */
async function converse(asked: Asked, { client, output, io, paidBy }: Teller): Promise<void> {
  let stop: AbortController | undefined;
  let isLeft = false;
  // Text that is typed during an answer is not echoed into it.
  const echo = new Writable({
    write: (chunk: Buffer, _encoding, done) => (stop ? done() : void process.stderr.write(chunk, done)),
  });
  const lines = createInterface({ input: process.stdin, output: echo, terminal: true, prompt: "> " });
  lines.on("SIGINT", () => {
    if (stop) return stop.abort();
    isLeft = true;
    lines.close();
  });
  const turns = [...asked.messages];
  const answerTo = async (question: string) => {
    stop = new AbortController();
    try {
      const answer = await streamChat({ ...asked, messages: [...turns, user(question)] }, io.write, stop.signal);
      io.write(answer.isStopped ? " …\n" : "\n");
      turns.push(user(question), { role: "assistant", content: answer.text });
      output.note(await formatBill(answer, await readChargedQuota(client, answer.requestId), output, paidBy));
    } catch (error) {
      output.note(`error: ${printable(formatErrorMessage(error))}`);
    } finally {
      stop = undefined;
    }
  };
  lines.prompt();
  for await (const line of lines) {
    const question = line.trim();
    if (question === "/exit") break;
    if (question !== "") await answerTo(question);
    lines.prompt();
  }
  lines.close();
  process.stderr.write("\n");
  if (isLeft) throw new CliError("interrupted", EXIT.interrupted);
}

const MAX_READS = 10;
const READ_EVERY_MS = 150;

/** Returns what the log says the request cost; undefined if its row does not appear soon. */
async function readChargedQuota(client: Client, request: string): Promise<number | undefined> {
  for (let read = 0; request !== "" && read < MAX_READS; read++) {
    if (read > 0) await setTimeout(READ_EVERY_MS);
    try {
      return (await client.call(logGetSelf, { params: { request } })).data.quota;
    } catch (error) {
      // `log_not_found`: the row is not written yet.
      if (!(error instanceof ApiProblem) || error.key !== "log_not_found") return undefined;
    }
  }
  return undefined;
}

async function formatBill(
  { usage, isStopped }: Answer,
  quota: number | undefined,
  output: Output,
  paidBy: string,
): Promise<string> {
  const style = { quotaPerUnit: await output.quotaPerUnit(), inCurrency: true };
  const cost = quota === undefined ? "cost not known yet" : `${quota} quota (${formatQuota(quota, style)})`;
  const tokens = usage ? `${usage.prompt_tokens} tokens in, ${usage.completion_tokens} out` : "";
  return [isStopped ? "stopped" : "", tokens, cost, paidBy].filter((part) => part !== "").join(" · ");
}
