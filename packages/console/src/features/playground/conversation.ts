import { useEffect, useRef, useState } from "react";
import { sendToRelay } from "../../lib/http.ts";
import { OfflineProblem } from "../../lib/problems.ts";
import { problemText } from "../../ui/toaster.ts";
import { stepsOfAnswer, type Failure, type Step, type Usage } from "./answer.ts";
import { bodyOf, type Choice, type Settings, type Turn } from "./request.ts";

/** One turn as it is shown; turns of the user are always complete. */
export interface Message extends Turn {
  readonly id: number;
  readonly state: "loading" | "complete" | "incomplete" | "error";
  readonly thought: string;
  readonly failure: Failure | undefined;
  readonly usage: Usage | undefined;
  /** Milliseconds to the first sign and to the last one. */
  readonly firstMs: number | undefined;
  readonly totalMs: number | undefined;
  readonly requestId: string | undefined;
}

const PATH = "/pg/chat/completions";

let lastId = 0;

function message(role: Turn["role"], text: string, state: Message["state"]): Message {
  lastId += 1;
  const none = { thought: "", failure: undefined, usage: undefined, firstMs: undefined, totalMs: undefined };
  return { id: lastId, role, text, state, requestId: undefined, ...none };
}

function withStep(current: Message, step: Step, elapsed: number): Message {
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

/** Turns that the model is shown: answers that failed before their first sign are none. */
function turnsOf(messages: readonly Message[]): Turn[] {
  return messages.filter(({ text }) => text !== "").map(({ role, text }) => ({ role, text }));
}

function offline(problem: unknown): Failure {
  const lost = problem instanceof OfflineProblem ? problem : new OfflineProblem(problem);
  return { status: 0, message: problemText(lost), code: "", requestId: undefined, retryAfter: undefined };
}

export interface Conversation {
  readonly messages: readonly Message[];
  readonly isBusy: boolean;
  /** The body that was sent last. */
  readonly sent: Record<string, unknown> | undefined;
  send(text: string): void;
  /** Asks again for this answer, without what came after it. */
  again(id: number): void;
  /** Takes back a turn of the user with all that followed; answers its text, to edit it. */
  takeBack(id: number): string;
  remove(id: number): void;
  stop(): void;
  clear(): void;
}

interface Asking {
  readonly body: Record<string, unknown>;
  readonly signal: AbortSignal;
  /** Changes the answer that is being made. */
  change(update: (current: Message) => Message): void;
}

/** Sends the request and passes on what comes, until it ends in one way or another. */
async function receive({ body, signal, change }: Asking): Promise<void> {
  const started = performance.now();
  const pass = (step: Step) => change((one) => withStep(one, step, performance.now() - started));
  try {
    const response = await sendToRelay(PATH, body, signal);
    const requestId = response.headers.get("x-oneapi-request-id") ?? undefined;
    change((one) => ({ ...one, requestId }));
    for await (const step of stepsOfAnswer(response)) pass(step);
  } catch (problem) {
    // Stopped by the user: what came stays, marked as incomplete below.
    if (!signal.aborted) pass({ kind: "failure", failure: offline(problem) });
  }
  const totalMs = performance.now() - started;
  change((one) => (one.state === "loading" ? { ...one, state: "incomplete", totalMs } : one));
}

/** A conversation with a model, kept in memory only. */
export function useConversation(choice: Choice, settings: Settings): Conversation {
  const [messages, setMessages] = useState<readonly Message[]>([]);
  const [sent, setSent] = useState<Record<string, unknown>>();
  const running = useRef<AbortController>(undefined);

  // A request of a page that was left would be paid for nobody.
  useEffect(() => () => running.current?.abort(), []);

  function ask(history: readonly Message[]): void {
    const controller = new AbortController();
    running.current = controller;
    const answer = message("assistant", "", "loading");
    const body = bodyOf(turnsOf(history), choice, settings);
    setSent(body);
    setMessages([...history, answer]);
    const change: Asking["change"] = (update) =>
      setMessages((all) => all.map((one) => (one.id === answer.id ? update(one) : one)));
    void receive({ body, signal: controller.signal, change });
  }

  function before(id: number): readonly Message[] {
    const at = messages.findIndex((one) => one.id === id);
    return messages.slice(0, Math.max(0, at));
  }

  return {
    messages,
    isBusy: messages.some(({ state }) => state === "loading"),
    sent,
    send: (text) => ask([...messages, message("user", text, "complete")]),
    again: (id) => ask(before(id)),
    takeBack(id) {
      running.current?.abort();
      setMessages(before(id));
      return messages.find((one) => one.id === id)?.text ?? "";
    },
    remove: (id) => setMessages(messages.filter((one) => one.id !== id)),
    stop: () => running.current?.abort(),
    clear() {
      running.current?.abort();
      setMessages([]);
    },
  };
}
