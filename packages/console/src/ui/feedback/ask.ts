import type { ReactNode } from "react";
import { createStore } from "../../lib/store.ts";

export interface Question {
  readonly title: string;
  readonly body: ReactNode;
  readonly confirm: string;
  readonly cancel?: string;
  readonly isDangerous?: boolean;
}

interface Pending extends Question {
  answer(isConfirmed: boolean): void;
}

export const pendingQuestion = createStore<Pending | undefined>(undefined);

/** Asks before something that cannot be undone; resolves to the answer. */
export function ask(question: Question): Promise<boolean> {
  pendingQuestion.read()?.answer(false);
  return new Promise((resolve) => {
    pendingQuestion.write({
      ...question,
      answer(isConfirmed) {
        pendingQuestion.write(undefined);
        resolve(isConfirmed);
      },
    });
  });
}
