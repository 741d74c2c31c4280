import { CliError, EXIT } from "../core/exit.ts";
import { ask } from "../terminal/prompt.ts";

export interface Question {
  readonly text: string;
  /** Taken where nothing is typed. */
  readonly usual?: string;
  /** Nothing of the answer is shown. */
  readonly isSecret?: boolean;
  /** The answer is one of these. */
  readonly choices?: readonly string[];
  /** The flag that answers it in scripts. */
  readonly flag: string;
}

/** How the wizard speaks with a person. */
export interface Questions {
  ask(question: Question): Promise<string>;
  /** What was done. */
  say(text: string): void;
  /** What could not be done, while the wizard continues. */
  warn(text: string): void;
  /** Gives the terminal back; called once, whatever the end. */
  close(): void;
}

/** Lines that a screen reader follows. */
export function plainQuestions(note: (text: string) => void): Questions {
  return {
    async ask(question) {
      const { text, usual, isSecret, choices } = question;
      if (choices) note(`${text}: ${choices.join(", ")}`);
      for (;;) {
        const typed = (await ask(usual === undefined ? text : `${text} [${usual}]`, isSecret)).trim();
        const answer = resolveAnswer(question, typed);
        if (answer.problem === undefined) return answer.text;
        note(answer.problem);
      }
    },
    say: note,
    warn: note,
    close: () => undefined,
  };
}

/** For scripts: what is usual, or the flag that is missing. */
export function agreedQuestions(note: (text: string) => void): Questions {
  return {
    ask({ text, usual, flag }) {
      if (usual !== undefined) return Promise.resolve(usual);
      throw new CliError(`${text} is needed`, EXIT.usage, `give it with ${flag}`);
    },
    say: note,
    warn: note,
    close: () => undefined,
  };
}

/** What was meant; the beginning of a choice is enough where only one begins like that. */
export function resolveAnswer({ usual, choices }: Question, typed: string): { text: string; problem?: string } {
  const text = typed === "" ? (usual ?? "") : typed;
  if (text === "") return { text, problem: "An answer is needed." };
  if (!choices || choices.includes(text)) return { text };
  const begun = choices.filter((one) => one.startsWith(text));
  const [only] = begun;
  if (begun.length === 1 && only !== undefined) return { text: only };
  return { text, problem: begun.length === 0 ? `There is no ${text}.` : `${text} may be ${begun.join(" or ")}.` };
}
