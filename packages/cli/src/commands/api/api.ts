import { nearest } from "@fairway/wire";
import * as wire from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { jsonIn } from "../../core/json.ts";
import { plain } from "../../print/columns.ts";
import { isTemplated } from "../../print/format.ts";
import { documentWriter, printList, printOne, type Output } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import { readStdin, readTextFile } from "../../terminal/prompt.ts";
import type { AnswerHead } from "../../session/request.ts";
import type { SessionClient } from "../../session/session.ts";

export const CALLS: ReadonlyMap<string, wire.Endpoint> = new Map(
  Object.values<unknown>(wire)
    .filter(isEndpoint)
    .map((call) => [call.name, call]),
);

function isEndpoint(value: unknown): value is wire.Endpoint {
  return typeof value === "object" && value !== null && "method" in value && "access" in value && "path" in value;
}

type Call = Pick<wire.Endpoint, "name" | "method" | "path" | "access" | "summary">;

const COLUMNS: readonly Column<Call>[] = [
  plain("CALL", "name"),
  plain("METHOD", "method"),
  plain("PATH", "path"),
  plain("WHO", "access"),
  plain("WHAT", "summary"),
];

export async function listCalls(output: Output): Promise<void> {
  const rows = [...CALLS.values()].map(({ name, method, path, access, summary }): Call => ({
    name,
    method,
    path,
    access,
    summary,
  }));
  await printList(output, { kind: "Call", columns: COLUMNS, name: ({ name }) => `call/${name}`, rows, empty: "" });
}

export interface ApiOptions {
  readonly param?: readonly string[];
  readonly query?: readonly string[];
  readonly body?: string;
  /** A file with the body. */
  readonly input?: string;
  /** Members of the body, as text or JSON. */
  readonly field?: readonly string[];
  readonly jsonField?: readonly string[];
  readonly include?: boolean;
  /** Fetch all pages of a list. */
  readonly paginate?: boolean;
  readonly yes?: boolean;
}

/** Makes any call of the management API as the signed-in user. */
export async function callApi(
  client: SessionClient,
  { call: word, path }: { readonly call: string; readonly path: string | undefined },
  options: ApiOptions,
  output: Output,
): Promise<void> {
  if (output.sort !== undefined)
    throw new CliError("the answer of a call is printed as it is", EXIT.usage, "leave out --sort");
  const { call, given, search } =
    path === undefined ? { call: callNamed(word), given: {}, search: {} } : callAt(word, path);
  const { name } = call;
  const params = { ...given, ...parsePairs(options.param, "--param") };
  for (const [, place = ""] of call.path.matchAll(/\{(\w+)\}/g))
    if (params[place] === undefined)
      throw new CliError(`${name} needs --param ${place}=…`, EXIT.usage, `its path is ${call.path}`);
  const query = { ...search, ...parsePairs(options.query, "--query") };
  if (options.paginate) return (await import("./pages.ts")).printPages(client, call, { params, query }, output);
  const input = { params, query, body: await bodyIn(options) };
  if (call.method === "DELETE")
    await output.confirm(`${name} ${JSON.stringify({ ...params, ...query })}`, 1, options.yes);
  if (call.answer === "stream" || call.answer === "file") return pass(await client.open(call, input), output);
  const onHead = options.include ? (head: AnswerHead) => printHead(head, output) : () => undefined;
  await printAnswer(await client.inspect(call, input, onHead), output);
}

/** Prints the status and headers like `curl --include`, but hides cookies, which are secrets. */
function printHead({ status, headers }: AnswerHead, output: Output): void {
  output.out(`HTTP ${status}`);
  for (const [name, value] of headers.all()) output.out(`${name}: ${name === "set-cookie" ? "REDACTED" : value}`);
  output.out("");
}

async function printAnswer(
  { data, message, total, siblings }: wire.CallAnswer<wire.Endpoint>,
  output: Output,
): Promise<void> {
  const answer = {
    data,
    ...(message === "" ? {} : { message }),
    ...(total === undefined ? {} : { total }),
    ...siblings,
  };
  if (output.format === "jsonl") output.out(JSON.stringify(answer));
  else if (isTemplated(output.format)) await printOne(output, answer);
  else (await documentWriter(output))(answer);
}

function callNamed(name: string): wire.Endpoint {
  const call = CALLS.get(name);
  if (call) return call;
  const isMethod = METHODS.some((method) => method === name);
  const near = nearest(name, [...CALLS.keys()]);
  const hint = near === undefined ? "list them with `fairway api`" : `did you mean ${near}?`;
  if (isMethod) throw new CliError(`${name} needs a path`, EXIT.usage, `write \`fairway api ${name} /api/…\``);
  throw new CliError(`there is no call ${name}`, EXIT.usage, hint);
}

const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH"] as const;

interface CallAt {
  readonly call: wire.Endpoint;
  readonly given: Readonly<Record<string, string>>;
  /** Members of the query in the path. */
  readonly search: Readonly<Record<string, string>>;
}

/** Returns the declared call of a method and a path; an undeclared call is sent as it is. */
function callAt(word: string, text: string): CallAt {
  const [path = "", query = ""] = text.split("?", 2);
  const search = Object.fromEntries(new URLSearchParams(query));
  const method = METHODS.find((one) => one === word.toUpperCase());
  if (!method) throw new CliError(`${word} is not an HTTP method`, EXIT.usage, `choose among ${METHODS.join(", ")}`);
  if (!path.startsWith("/api/"))
    throw new CliError(`${path} is not a path`, EXIT.usage, "write one such as /api/channel/3");
  for (const call of CALLS.values()) {
    const pattern = new RegExp(`^${call.path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/?]+)")}$`);
    const match = call.method === method ? pattern.exec(path) : null;
    if (match) return { call, given: { ...match.groups }, search };
  }
  const summary = "A call that is not declared.";
  return {
    call: wire.endpoint({ name: `${method} ${path}`, method, path, access: "user", summary }),
    given: {},
    search,
  };
}

async function pass({ body }: { readonly body: AsyncIterable<Uint8Array> }, output: Output): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (lines.length > 0) output.out(lines.join("\n"));
  }
  if (rest !== "") output.out(rest);
}

function parsePairs(texts: readonly string[] = [], flag: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf("=");
      if (at < 1) throw new CliError(`${flag} ${text} is not name=value`, EXIT.usage, `write ${flag} id=3`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

async function bodyIn({ body, input, field, jsonField }: ApiOptions): Promise<unknown> {
  const texts = parsePairs(field, "--field");
  const values = Object.entries(parsePairs(jsonField, "--json-field")).map(([name, text]) => [
    name,
    memberIn(text, name),
  ]);
  const whole = await readBody(input === undefined ? body : input === "-" ? input : `@${input}`);
  if (field === undefined && jsonField === undefined) return whole;
  return { ...texts, ...(Object.fromEntries(values) as Readonly<Record<string, unknown>>) };
}

function memberIn(text: string, name: string): unknown {
  const value = jsonIn(text);
  if (value !== undefined) return value;
  throw new CliError(`--json-field ${name} is not JSON`, EXIT.usage, "write a text with --field");
}

async function readBody(text: string | undefined): Promise<unknown> {
  if (text === undefined) return undefined;
  const json =
    text === "-" ? await readStdin("Body") : text.startsWith("@") ? readTextFile(text.slice(1), "--body") : text;
  const value = jsonIn(json);
  if (value !== undefined) return value;
  throw new CliError("--body is not JSON", EXIT.usage, "write it like '{\"id\": 3}', @file, or - for standard input");
}
