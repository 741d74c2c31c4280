import { ApiProblem, HttpProblem, OfflineProblem, SilentProblem } from "../../lib/problems.ts";
import { createStore } from "../../lib/store.ts";
import { say } from "../texts.ts";

export type ToastKind = "success" | "error" | "info";

export interface Toast {
  readonly id: number;
  readonly kind: ToastKind;
  readonly text: string;
  readonly detail: string | undefined;
  /** How often the same text was reported while it was shown. */
  readonly count: number;
  readonly action: { readonly label: string; run(): void } | undefined;
  /** Infinity = until it is dismissed. */
  readonly durationMs: number;
  /** True if its action undoes a change. */
  readonly isUndo: boolean;
}

const MOST = 3;
const DURATION: Record<ToastKind, number> = { success: 3_000, info: 5_000, error: 8_000 };

let lastId = 0;
export const toasts = createStore<readonly Toast[]>([]);

export function dismissToast(id: number): void {
  toasts.write(toasts.read().filter((toast) => toast.id !== id));
}

interface ToastOptions {
  readonly detail?: string | undefined;
  readonly action?: Toast["action"];
  readonly durationMs?: number;
  readonly isUndo?: boolean;
}

export function toast(kind: ToastKind, text: string, options: ToastOptions = {}): void {
  const shown = toasts.read();
  const same = shown.find((entry) => entry.kind === kind && entry.text === text && !entry.action);
  const entry: Toast = {
    id: ++lastId,
    kind,
    text,
    detail: options.detail,
    count: (same?.count ?? 0) + 1,
    action: options.action,
    durationMs: options.durationMs ?? DURATION[kind],
    isUndo: options.isUndo ?? false,
  };
  toasts.write([...shown.filter((other) => other !== same), entry].slice(-MOST));
}

/** Reports a finished change that can be undone for eight seconds. */
export function toastUndo(text: string, undo: () => void): void {
  toast("success", text, { action: { label: say("undo"), run: undo }, durationMs: 8_000, isUndo: true });
}

/** Undoes the newest change that can still be undone; false if there is none. */
export function undoLast(): boolean {
  const last = toasts.read().findLast(({ isUndo }) => isUndo);
  if (!last?.action) return false;
  dismissToast(last.id);
  last.action.run();
  return true;
}

/** Returns the text of a failure for the user. */
export function problemText(problem: unknown): string {
  if (problem instanceof ApiProblem) return problem.message;
  if (problem instanceof OfflineProblem) return say("offline");
  if (problem instanceof SilentProblem) return say("silent", { minutes: Math.round(problem.silence / 60_000) });
  if (problem instanceof HttpProblem) {
    if (problem.status === 429) return say("tooMany");
    if (problem.status === 500) return say("serverError");
    if (problem.status === 405) return say("demoOnly");
    // The body is not from our server: a proxy answered, or the answer was cut.
    if (problem.status < 400) return say("unreadable");
    return say("otherError", { message: problem.message || String(problem.status) });
  }
  return say("otherError", { message: problem instanceof Error ? problem.message : String(problem) });
}

function problemDetail(problem: unknown): string | undefined {
  if (!(problem instanceof HttpProblem)) return undefined;
  if (problem.retryAfter !== undefined) return say("tooManyWait", { seconds: problem.retryAfter });
  return problem.requestId === undefined ? undefined : say("requestId", { id: problem.requestId });
}

/** Shows a failure once; a lost session shows nothing, because the login page reports it. */
export function toastProblem(problem: unknown): void {
  if (problem instanceof HttpProblem && problem.status === 401) return;
  const kind = problem instanceof HttpProblem && problem.status === 405 ? "info" : "error";
  toast(kind, problemText(problem), { detail: problemDetail(problem) });
}
