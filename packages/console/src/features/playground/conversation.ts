import { useEffect, useRef } from "react";
import { useUser } from "../../session/session.ts";
import { sendToRelay } from "../../lib/http.ts";
import { OfflineProblem, SilentProblem } from "../../lib/problems.ts";
import { createStore, useStore } from "../../lib/store.ts";
import { problemText } from "../../ui/feedback/toaster.ts";
import { readSteps, type Failure, type Step, type Usage } from "./answer.ts";
import { buildRequestBody, NO_SETTINGS, type Settings, type Turn } from "./request.ts";

/** The answer of one model to a question. */
export interface Answer {
  readonly id: number;
  readonly model: string;
  readonly state: "loading" | "complete" | "incomplete" | "error";
  readonly text: string;
  readonly thought: string;
  readonly failure: Failure | undefined;
  readonly usage: Usage | undefined;
  /** Milliseconds to the first event and to the last one. */
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
  readonly requestId: string | undefined;
}

/** A question, with the answer of each column; a column that was added later has none. */
export interface Round {
  readonly id: number;
  readonly question: string;
  readonly answers: readonly Answer[];
}

/** State that survives a visit to another page, in the memory of this tab. */
interface TabState {
  readonly owner: number | undefined;
  readonly rounds: readonly Round[];
  readonly draft: string;
  readonly settings: Settings;
  /** The last request body of the first column. */
  readonly sent: Record<string, unknown> | undefined;
}

const PATH = "/pg/chat/completions";

let lastId = 0;

function newAnswer(model: string): Answer {
  lastId += 1;
  const none = { failure: undefined, usage: undefined, firstMs: undefined, totalMs: undefined, requestId: undefined };
  return { id: lastId, model, state: "loading", text: "", thought: "", ...none };
}

function withStep(current: Answer, step: Step, elapsed: number): Answer {
  const firstMs = current.firstMs ?? elapsed;
  switch (step.kind) {
    case "text":
      return { ...current, text: current.text + step.text, firstMs };
    case "thought":
      return { ...current, thought: current.thought + step.text, firstMs };
    case "usage":
      return { ...current, usage: step.usage };
    case "failure":
      return { ...current, state: "error", failure: step.failure, totalMs: elapsed };
    case "end":
      return { ...current, state: "complete", totalMs: elapsed };
    default:
      return step satisfies never;
  }
}

/**
 * Returns the turns that the model of a column sees: failures before the first event are left out, and a column that
 * was added later continues from the first.
 */
export function buildTurns(rounds: readonly Round[], column: number): Turn[] {
  return rounds.flatMap(({ question, answers }): Turn[] => {
    const text = (answers[column] ?? answers[0])?.text ?? "";
    return [{ role: "user", text: question }, ...(text === "" ? [] : [{ role: "assistant" as const, text }])];
  });
}

/** Returns why the answer is missing or incomplete: the connection failed, unless it was open but silent. */
function lostAnswer(problem: unknown): Failure {
  const isSilent = problem instanceof SilentProblem;
  const lost = isSilent || problem instanceof OfflineProblem ? problem : new OfflineProblem(problem);
  return { status: 0, message: problemText(lost), code: "", requestId: undefined, retryAfter: undefined };
}

export interface Conversation extends Pick<TabState, "rounds" | "draft" | "settings" | "sent"> {
  readonly isBusy: boolean;
  setDraft(text: string): void;
  setSettings(change: Partial<Settings>): void;
  /** Asks the model of every column. */
  send(text: string): void;
  /** Asks one column again, and drops what came after it. */
  again(round: number, column: number): void;
  /** Removes a question and everything after it; the question becomes the draft. */
  takeBack(round: number): void;
  remove(round: number): void;
  removeColumn(column: number): void;
  stop(): void;
  clear(): void;
}

interface Asking {
  readonly body: Record<string, unknown>;
  readonly signal: AbortSignal;
  /** Changes the answer in progress. */
  change(update: (current: Answer) => Answer): void;
}

/** Time between two renders of an answer in progress: each lays out the whole text. */
const SHOW_MS = 50;

/** Passes changes on together if they arrive within a moment. */
function paced(change: Asking["change"]) {
  let waiting: ((current: Answer) => Answer)[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const updates = waiting;
    waiting = [];
    if (updates.length > 0) change((one) => updates.reduce((current, update) => update(current), one));
  };
  return {
    add(update: (current: Answer) => Answer) {
      waiting.push(update);
      timer ??= setTimeout(flush, SHOW_MS);
    },
    flush,
  };
}

/** Sends the request and passes on the events until the answer ends, in whatever way. */
async function receive({ body, signal, change }: Asking): Promise<void> {
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  const shown = paced(change);
  const pass = (step: Step) => {
    const at = elapsed();
    shown.add((one) => withStep(one, step, at));
  };
  try {
    const response = await sendToRelay(PATH, body, signal);
    const requestId = response.headers.get("x-oneapi-request-id") ?? undefined;
    shown.add((one) => ({ ...one, requestId }));
    for await (const step of readSteps(response)) pass(step);
  } catch (problem) {
    // If the user stopped it, the text stays, marked as incomplete below.
    if (!signal.aborted) pass({ kind: "failure", failure: lostAnswer(problem) });
  }
  const totalMs = elapsed();
  shown.add((one) => (one.state === "loading" ? { ...one, state: "incomplete", totalMs } : one));
  shown.flush();
}

function nothing(owner: number | undefined): TabState {
  return { owner, rounds: [], draft: "", settings: NO_SETTINGS, sent: undefined };
}

const tabState = createStore<TabState>(nothing(undefined));

function change(update: Partial<TabState>): void {
  tabState.write({ ...tabState.read(), ...update });
}

function changeAnswer(id: number, update: (current: Answer) => Answer): void {
  const touched = (round: Round): Round => ({
    ...round,
    answers: round.answers.map((one) => (one.id === id ? update(one) : one)),
  });
  change({
    rounds: tabState
      .read()
      .rounds.map((round) => (round.answers.some((one) => one.id === id) ? touched(round) : round)),
  });
}

/** Returns the conversation of this tab; each user has their own. */
function useTabState(): TabState {
  const owner = useUser()?.id;
  const now = useStore(tabState);
  useEffect(() => {
    if (tabState.read().owner !== owner) tabState.write(nothing(owner));
  }, [owner]);
  return now.owner === owner ? now : nothing(owner);
}

/** Returns the rounds before this one. */
function before(id: number): readonly Round[] {
  const { rounds } = tabState.read();
  const at = rounds.findIndex((round) => round.id === id);
  return rounds.slice(0, Math.max(0, at));
}

/** Edits that need no model. */
const edits = {
  setDraft: (draft: string) => change({ draft }),
  setSettings: (update: Partial<Settings>) => change({ settings: { ...tabState.read().settings, ...update } }),
  remove: (id: number) => change({ rounds: tabState.read().rounds.filter((round) => round.id !== id) }),
  removeColumn(column: number) {
    const removeAnswer = (round: Round) => ({ ...round, answers: round.answers.filter((_, at) => at !== column) });
    change({ rounds: tabState.read().rounds.map(removeAnswer) });
  },
};

interface Request {
  readonly round: Round;
  readonly columns: readonly number[];
  readonly group: string;
  readonly signal: AbortSignal;
}

/** Appends a round and requests the answers of these columns. */
function askFor({ round, columns, group, signal }: Request, history: readonly Round[]): void {
  const asked = columns.flatMap((column) => {
    const answer = round.answers[column];
    if (!answer) return [];
    const turns: Turn[] = [...buildTurns(history, column), { role: "user", text: round.question }];
    return [{ id: answer.id, body: buildRequestBody(turns, { model: answer.model, group }, tabState.read().settings) }];
  });
  change({ rounds: [...history, round], sent: asked[0]?.body });
  for (const { id, body } of asked) void receive({ body, signal, change: (update) => changeAnswer(id, update) });
}

/** A conversation with one model or several side by side, stored only in the memory of this tab. */
export function useConversation(models: readonly string[], group: string): Conversation {
  const { rounds, draft, settings, sent } = useTabState();
  const running = useRef<AbortController>(undefined);
  const stop = () => running.current?.abort();
  const start = () => (running.current = new AbortController()).signal;

  // Aborts on leaving the page: the user would be charged for an unread answer.
  useEffect(() => () => running.current?.abort(), []);

  return {
    ...edits,
    rounds,
    draft,
    settings,
    sent,
    stop,
    isBusy: rounds.some(({ answers }) => answers.some(({ state }) => state === "loading")),
    send(question) {
      lastId += 1;
      const round = { id: lastId, question, answers: models.map((model) => newAnswer(model)) };
      change({ draft: "" });
      askFor({ round, columns: [...models.keys()], group, signal: start() }, rounds);
    },
    again(id, column) {
      const round = rounds.find((one) => one.id === id);
      if (!round) return;
      const answers = round.answers.map((one, at) => (at === column ? newAnswer(models[column] ?? one.model) : one));
      askFor({ round: { ...round, answers }, columns: [column], group, signal: start() }, before(id));
    },
    takeBack(id) {
      stop();
      change({ rounds: before(id), draft: rounds.find((round) => round.id === id)?.question ?? "" });
    },
    clear() {
      stop();
      change({ rounds: [], sent: undefined });
    },
  };
}
