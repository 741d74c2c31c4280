// One cell: a request of one client protocol through the gateway, judged on both sides.
import { isDeepStrictEqual } from "node:util";
import type { Recorded } from "../src/upstream/recorded.ts";
import type { Case, Cell, Findings } from "./cases.ts";
import { isObject, parsed } from "./json.ts";
import { NOTHING_SEEN, type Answer, type GridRequest, type Got, type Json, type StreamData } from "./types.ts";
import { isNativeResponses, readRequest } from "./upstreams.ts";

export interface Gate {
  readonly url: string;
  readonly key: string;
  /** Requests that the fake upstream received so far. */
  readonly requests: () => readonly Recorded[];
}

const NOTHING_GOT: Got = {
  system: "",
  texts: [],
  images: [],
  tools: [],
  calls: [],
  results: [],
  resultTurns: 0,
  choice: "",
  schema: undefined,
  stop: [],
  thinking: "",
  signatures: [],
};

export interface Judgement {
  /** The problems of the cell, one line each. */
  readonly problems: readonly string[];
  /** The part of the case that the cell cannot show. */
  readonly partly: string | undefined;
}

export async function runCell(gate: Gate, row: Case, cell: Cell, model: string): Promise<Judgement> {
  const answer = await call(gate, cell, row.ask(cell), model);
  const [first] = listRequests(gate, cell);
  const followed = row.next && (await call(gate, cell, row.next(cell, answer), model));
  const second = listRequests(gate, cell).at(1);
  const outcome = {
    answer,
    got: first ? readRequest(first) : NOTHING_GOT,
    isResponses: first !== undefined && isNativeResponses(first),
    next: followed && { answer: followed, got: second ? readRequest(second) : NOTHING_GOT },
  };
  const found = problemsIn(row.check(outcome, cell));
  const problems = found.length > 0 && answer.error !== undefined ? [...found, `answered: ${answer.error}`] : found;
  return { problems, partly: row.partly?.(outcome, cell) };
}

function problemsIn(findings: Findings): string[] {
  return Object.entries(findings)
    .filter(([, [actual, expected]]) => !isDeepStrictEqual(actual, expected))
    .map(([what, [actual, expected]]) => `${what}: ${show(actual)} instead of ${show(expected)}`);
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 300);
}

function listRequests({ requests }: Gate, { marker }: Cell): readonly Recorded[] {
  return requests().filter(({ body }) => body.includes(marker));
}

async function call(
  { url, key }: Gate,
  { client, isStream }: Cell,
  asked: GridRequest,
  model: string,
): Promise<Answer> {
  const { path, body } = client.request(asked, model, isStream);
  const response = await fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { text, isWhole } = await readBody(response);
  const head = { status: response.status, retryAfter: response.headers.get("retry-after") };
  if (response.headers.get("content-type")?.startsWith("text/event-stream"))
    return { ...client.readStream(eventsIn(text), isWhole), ...head };
  const json = parsed(text);
  const whole: Json = isObject(json) ? json : {};
  const error = response.ok && isWhole && !isStream ? undefined : (client.findErrorMessage(whole) ?? "");
  return error === undefined ? { ...client.read(whole), ...head } : { ...NOTHING_SEEN, error, ...head };
}

async function readBody(response: Response): Promise<{ text: string; isWhole: boolean }> {
  const chunks: Uint8Array[] = [];
  let isWhole = true;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) chunks.push(chunk);
  } catch {
    isWhole = false; // the connection broke
  }
  return { text: Buffer.concat(chunks).toString(), isWhole };
}

function eventsIn(text: string): StreamData[] {
  return text.split("\n\n").flatMap((block) => {
    const lines = block.split("\n");
    const findField = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = findField("data");
    if (data === undefined) return [];
    const json = data === "[DONE]" ? data : parsed(data);
    return [{ event: findField("event"), data: json === "[DONE]" || isObject(json) ? (json as Json | "[DONE]") : {} }];
  });
}
