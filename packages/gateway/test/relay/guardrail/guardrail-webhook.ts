import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Question } from "../../../src/relay/policies/guardrail/webhook.ts";
import { consumeRows, type ConsumeRow, type RelayBench } from "../../kit/relay-app.ts";

export const SECRET = "a webhook secret";

/** A webhook's reaction: JSON, plain text, a status, or no answer. */
type Reaction = object | string | typeof HANG | typeof CLOSE;
export const HANG = Symbol("hang");
/** Closes the connection instead. */
export const CLOSE = Symbol("close");

interface TestWebhook {
  readonly url: string;
  readonly questions: readonly Question[];
  readonly heads: readonly IncomingHttpHeaders[];
  /** Calls that ended before they were answered. */
  readonly left: number;
  /** True if every call so far was signed with the secret. */
  readonly isSigned: boolean;
  /** Sets the reaction from now on; it is "allow" until then. */
  react(reaction: (question: Question) => Reaction | Promise<Reaction>): void;
  reset(): void;
  close(): Promise<void>;
}

/** Starts an operator's service that judges texts. */
async function startWebhook(): Promise<TestWebhook> {
  const questions: Question[] = [];
  const heads: IncomingHttpHeaders[] = [];
  let reaction: (question: Question) => Reaction | Promise<Reaction> = () => ({ action: "allow" });
  let left = 0;
  let isSigned = true;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    isSigned &&= signs(String(request.headers["x-fairway-signature"]), body);
    const question = JSON.parse(body.toString()) as Question;
    questions.push(question);
    heads.push(request.headers);
    response.on("close", () => {
      if (!response.writableFinished) left += 1;
    });
    answer(response, await reaction(question));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/judge`,
    questions,
    heads,
    get left() {
      return left;
    },
    get isSigned() {
      return isSigned;
    },
    react: (next) => (reaction = next),
    reset() {
      questions.length = heads.length = left = 0;
      reaction = () => ({ action: "allow" });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(response: ServerResponse, reaction: Reaction): void {
  if (reaction === HANG) return;
  if (reaction === CLOSE) return void response.destroy();
  if (typeof reaction === "string") return void response.end(reaction);
  if (!("status" in reaction)) return void response.end(JSON.stringify(reaction));
  const { status, location } = reaction as { readonly status: number; readonly location?: string };
  response.writeHead(status, location === undefined ? {} : { location }).end('{"action":"allow"}');
}

function signs(header: string, body: Buffer): boolean {
  const [, time, given] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  const wanted = createHmac("sha256", SECRET).update(`${time}.${body.toString()}`).digest("hex");
  return given === wanted && Math.abs(Number(time) - Date.now() / 1000) < 60;
}

type Settings = Readonly<Record<string, string | number | boolean>>;

const DEFAULTS: Settings = {
  GuardrailSecret: SECRET,
  GuardrailOnFailure: "block",
  GuardrailPhases: "both",
  GuardrailGroups: "",
  GuardrailModels: "",
  GuardrailTimeoutMs: 3000,
  GuardrailStreamChars: 400,
  GuardrailStreamMs: 1000,
  GuardrailEnabled: true,
};

export interface GuardrailBench {
  readonly webhook: TestWebhook;
  /** Changes options at once. */
  set(options: Settings): Promise<void>;
  /** Returns the consumption row of a request that has ended. */
  findConsumeRow(response: Response): Promise<ConsumeRow | undefined>;
}

/** Registers the hooks: each test begins with a guardrail over both phases that allows everything. */
export function useGuardrail(relay: RelayBench): GuardrailBench {
  let webhook: TestWebhook;
  const set = async (options: Settings) => {
    const changes = Object.entries(options).map(([key, value]) => ({ key, value }));
    await relay.gateway.root.must("PUT", "/api/option/batch", changes);
  };
  beforeAll(async () => {
    webhook = await startWebhook();
  });
  afterAll(() => webhook.close());
  beforeEach(async () => {
    webhook.reset();
    await set({ ...DEFAULTS, GuardrailUrl: webhook.url });
  });
  afterEach(() => set({ GuardrailEnabled: false }));
  return {
    get webhook() {
      return webhook;
    },
    set,
    async findConsumeRow(response) {
      await relay.gateway.settled();
      return (await consumeRows(relay.gateway, response.headers.get("x-request-id") ?? ""))[0];
    },
  };
}

/** Reads the text of a stream as far as it came: a broken connection ends some streams. */
export async function readStreamText(response: Response): Promise<string> {
  let text = "";
  try {
    for await (const chunk of response.body as ReadableStream<Uint8Array>) text += Buffer.from(chunk).toString();
  } catch (error) {
    return `${text}\n(${(error as Error).name})`;
  }
  return text;
}
