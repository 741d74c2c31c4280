// The rows of the grid: the request, the behaviour of the upstream, and what both sides must have seen.
import { DEFAULT_USAGE, NORMAL_TEXT, REFUSAL, SIGNATURE } from "../src/index.ts";
import { at, parsed } from "./json.ts";
import type { Answer, GridRequest, Client, Got, Turn } from "./types.ts";
import type { UpstreamKind } from "./upstreams.ts";
import { CLOCK, PNG, SCHEMA, STOP_TEXT, SYSTEM, THINKING, WEATHER } from "./words.ts";

export interface Cell {
  readonly client: Client;
  readonly upstream: UpstreamKind;
  readonly isStream: boolean;
  /** A text that is unique to this cell. */
  readonly marker: string;
}

/** The outcome of a cell: the answer, and the requests that the upstream received. */
interface Outcome {
  readonly answer: Answer;
  readonly got: Got;
  /** True if the upstream was called in the Responses protocol. */
  readonly isResponses: boolean;
  /** The second round, if there is one. */
  readonly next: { readonly answer: Answer; readonly got: Got } | undefined;
}

/** Expected and actual values, by description. */
export type Findings = Readonly<Record<string, readonly [actual: unknown, expected: unknown]>>;

export interface Case {
  readonly name: string;
  /** Behaviour of the fake upstream. */
  readonly words: string;
  /** True if the upstream fails: the cell then needs a channel that no other cell uses. */
  readonly isFault?: boolean;
  /** Why the cell cannot apply. */
  impossible?(cell: Cell): string | undefined;
  /** The part of the case that the cell cannot show, with the reason. */
  partly?(outcome: Outcome, cell: Cell): string | undefined;
  ask(cell: Cell): GridRequest;
  /** The request that follows the first answer. */
  next?(cell: Cell, first: Answer): GridRequest;
  check(outcome: Outcome, cell: Cell): Findings;
}

const USAGE = { ...DEFAULT_USAGE, cached: 0 };
const user = (text: string): Turn => ({ role: "user", text });
const question = ({ marker }: Cell): Turn => user(`What is the weather in Paris? ${marker}`);
const RESULT = "sunny, 21 degrees";

/** A regular answer with this finish. */
const regular = ({ answer }: Outcome, finish: Answer["finish"], text: string): Findings => ({
  status: [answer.status, 200],
  error: [answer.error, undefined],
  complete: [answer.isComplete, true],
  finish: [answer.finish, finish],
  text: [answer.text, text],
  usage: [answer.usage, USAGE],
});

const called = (outcome: Outcome, calls: readonly (typeof WEATHER | typeof CLOCK)[]): Findings => ({
  ...regular(outcome, "tool_calls", ""),
  calls: [outcome.answer.calls.map(({ name, args }) => ({ name, args })), calls],
  ids: [
    outcome.answer.calls.filter(({ id }, at, all) => id === "" || all.findIndex((call) => call.id === id) === at)
      .length,
    calls.length,
  ],
  tools: [outcome.got.tools, ["get_weather", "get_time"]],
});

const onlyStreams = ({ isStream }: Cell) => (isStream ? undefined : "a plain answer has no events");

const isSigned = ({ isResponses }: Outcome, { upstream }: Cell) =>
  isResponses || upstream.name === "anthropic" || upstream.name === "gemini";

/** A stream that breaks is an error for the client; a plain answer that breaks never becomes one. */
const broken = ({ answer }: Outcome, { isStream }: Cell): Findings => ({
  status: [answer.status, isStream ? 200 : 502],
  "reports the failure": [(answer.error ?? "") !== "", true],
  complete: [answer.isComplete, false],
});

export const CASES: readonly Case[] = [
  {
    name: "text",
    words: "plain",
    ask: (cell) => ({ turns: [question(cell)] }),
    check: (outcome, cell) => ({
      ...regular(outcome, "stop", NORMAL_TEXT),
      received: [outcome.got.texts, [`What is the weather in Paris? ${cell.marker}`]],
    }),
  },
  {
    name: "system",
    words: "plain",
    ask: (cell) => ({ system: SYSTEM, turns: [question(cell)] }),
    check: (outcome) => ({ ...regular(outcome, "stop", NORMAL_TEXT), system: [outcome.got.system, SYSTEM] }),
  },
  {
    name: "multi-turn",
    words: "plain",
    ask: (cell) => ({ turns: [user("one"), { role: "assistant", text: "two" }, user(`three ${cell.marker}`)] }),
    check: (outcome, cell) => ({
      ...regular(outcome, "stop", NORMAL_TEXT),
      received: [outcome.got.texts, ["one", "two", `three ${cell.marker}`]],
    }),
  },
  {
    name: "tool call",
    words: "tools",
    ask: (cell) => ({ turns: [question(cell)], hasTools: true }),
    check: (outcome) => called(outcome, [WEATHER]),
  },
  {
    name: "two tools",
    words: "two-tools",
    ask: (cell) => ({ turns: [question(cell)], hasTools: true }),
    check: (outcome) => called(outcome, [WEATHER, CLOCK]),
  },
  {
    name: "tool result",
    words: "plain",
    ask(cell) {
      const call = { id: "call_of_the_client", ...WEATHER };
      return {
        hasTools: true,
        turns: [
          question(cell),
          { role: "assistant", text: "I look.", calls: [call] },
          { role: "results", results: [{ call, text: RESULT }] },
        ],
      };
    },
    check: (outcome) => ({
      ...regular(outcome, "stop", NORMAL_TEXT),
      calls: [outcome.got.calls, [WEATHER]],
      results: [outcome.got.results, [RESULT]],
      "text next to the call": [outcome.got.texts.includes("I look."), true],
    }),
  },
  {
    name: "two results",
    words: "plain",
    ask(cell) {
      const weather = { id: "call_of_the_client", ...WEATHER };
      const clock = { id: "another_call", ...CLOCK };
      const results = [
        { call: weather, text: RESULT },
        { call: clock, text: "noon" },
      ];
      const called: Turn = { role: "assistant", text: "", calls: [weather, clock] };
      return { hasTools: true, turns: [question(cell), called, { role: "results", results }] };
    },
    check: (outcome) => ({
      ...regular(outcome, "stop", NORMAL_TEXT),
      calls: [outcome.got.calls, [WEATHER, CLOCK]],
      results: [outcome.got.results, [RESULT, "noon"]],
      "turns with results": [outcome.got.resultTurns, 1],
    }),
  },
  {
    name: "text and tools",
    words: "spoken+two-tools",
    ask: (cell) => ({ turns: [question(cell)], hasTools: true }),
    check: (outcome) => ({ ...called(outcome, [WEATHER, CLOCK]), text: [outcome.answer.text, NORMAL_TEXT] }),
  },
  {
    name: "chosen tool",
    words: "tools",
    ask: (cell) => ({ turns: [question(cell)], hasTools: true, choice: "get_weather" }),
    check: (outcome) => ({ ...called(outcome, [WEATHER]), choice: [outcome.got.choice, "get_weather"] }),
  },
  {
    name: "image",
    words: "plain",
    ask: ({ marker }) => ({ turns: [{ role: "user", text: `What is this? ${marker}`, image: PNG }] }),
    check: (outcome) => ({ ...regular(outcome, "stop", NORMAL_TEXT), images: [outcome.got.images, [PNG]] }),
  },
  {
    name: "structured",
    words: "echo",
    ask: ({ marker }) => ({ schema: SCHEMA, turns: [user(JSON.stringify({ harbour: marker }))] }),
    check: (outcome, { marker }) => ({
      ...regular(outcome, "stop", outcome.answer.text),
      object: [parsed(outcome.answer.text), { harbour: marker }],
      schema: [String(at(outcome.got.schema, "properties", "harbour", "type")).toLowerCase(), "string"],
      required: [at(outcome.got.schema, "required"), ["harbour"]],
    }),
  },
  {
    name: "thinking",
    words: "reasoning+tools",
    ask: (cell) => ({ turns: [question(cell)], hasTools: true, thinks: true }),
    next(cell, { turn, calls }) {
      const [call = { id: "", name: "", args: {} }] = calls;
      return {
        hasTools: true,
        thinks: true,
        turns: [question(cell), { role: "echo", turn }, { role: "results", results: [{ call, text: RESULT }] }],
      };
    },
    partly: (outcome, cell) => (isSigned(outcome, cell) ? undefined : "chat upstreams sign no thinking"),
    check: (outcome, cell) => ({
      ...called(outcome, [WEATHER]),
      thinking: [outcome.answer.thinking, THINKING],
      "calls returned": [outcome.next?.got.calls, [WEATHER]],
      results: [outcome.next?.got.results, [RESULT]],
      ...(isSigned(outcome, cell) && { signature: [outcome.next?.got.signatures, [SIGNATURE]] }),
      ...(cell.upstream.name === "anthropic" && { "thinking returned": [outcome.next?.got.thinking, THINKING] }),
    }),
  },
  {
    name: "stop",
    words: "plain",
    impossible: ({ client }) => (client.hasStopTexts ? undefined : "the protocol has no stop texts"),
    ask: (cell) => ({ turns: [question(cell)], stop: STOP_TEXT }),
    check: (outcome) => ({ ...regular(outcome, "stop", NORMAL_TEXT), stop: [outcome.got.stop, [STOP_TEXT]] }),
  },
  {
    name: "length",
    words: "length",
    ask: (cell) => ({ turns: [question(cell)] }),
    check: (outcome) => regular(outcome, "length", NORMAL_TEXT),
  },
  {
    name: "refusal",
    words: "refusal",
    partly: (_outcome, { upstream }) =>
      upstream.name === "gemini" ? "Gemini blocks a prompt without a word" : undefined,
    ask: (cell) => ({ turns: [question(cell)] }),
    check: ({ answer }, { upstream }) => ({
      status: [answer.status, 200],
      complete: [answer.isComplete, true],
      refused: [answer.finish === "content_filter" || answer.refusal !== "", true],
      ...(upstream.name !== "gemini" && { words: [answer.text + answer.refusal, REFUSAL] }),
      usage: [answer.usage, USAGE],
    }),
  },
  {
    name: "cached tokens",
    words: "cached-8",
    ask: (cell) => ({ turns: [question(cell)] }),
    check: (outcome) => ({
      ...regular(outcome, "stop", NORMAL_TEXT),
      usage: [outcome.answer.usage, { ...USAGE, cached: 8 }],
    }),
  },
  {
    name: "answered as stream",
    words: "sse-for-plain+forced-usage",
    impossible: ({ isStream }) => (isStream ? "the client asked for a stream" : undefined),
    ask: (cell) => ({ turns: [question(cell)] }),
    check: (outcome) => regular(outcome, "stop", NORMAL_TEXT),
  },
  {
    name: "answered whole",
    words: "json-for-stream+two-tools+spoken",
    impossible: ({ isStream }) => (isStream ? undefined : "the client asked for a whole answer"),
    ask: (cell) => ({ turns: [question(cell)], hasTools: true }),
    check: (outcome) => ({ ...called(outcome, [WEATHER, CLOCK]), text: [outcome.answer.text, NORMAL_TEXT] }),
  },
  {
    name: "429",
    words: "retry-after-7",
    isFault: true,
    ask: (cell) => ({ turns: [question(cell)] }),
    check: ({ answer }) => ({
      status: [answer.status, 429],
      "seconds to wait": [Number(answer.retryAfter) >= 5 && Number(answer.retryAfter) <= 7, true],
      "reports the failure": [(answer.error ?? "") !== "", true],
    }),
  },
  {
    name: "error first",
    words: "error-first",
    isFault: true,
    impossible: onlyStreams,
    ask: (cell) => ({ turns: [question(cell)] }),
    check: ({ answer }) => ({
      "an error status": [answer.status >= 500, true],
      "reports the failure": [(answer.error ?? "").includes("failed in the middle"), true],
      complete: [answer.isComplete, false],
    }),
  },
  {
    name: "error later",
    words: "slow-10+error-after-5",
    isFault: true,
    impossible: onlyStreams,
    ask: (cell) => ({ turns: [question(cell)] }),
    check: broken,
  },
  {
    name: "cut",
    words: "slow-10+cut-after-5",
    isFault: true,
    ask: (cell) => ({ turns: [question(cell)] }),
    check: broken,
  },
  {
    name: "reset",
    words: "slow-10+reset-after-5",
    isFault: true,
    ask: (cell) => ({ turns: [question(cell)] }),
    check: broken,
  },
];
