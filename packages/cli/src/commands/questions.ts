import { CliError, EXIT } from "../core/exit.ts";
import { ask } from "../terminal/prompt.ts";

export interface Question {
  readonly text: string;
  /** The default answer. */
  readonly usual?: string;
  /** Hides the answer while it is typed. */
  readonly isSecret?: boolean;
  /** The answer is one of these. */
  readonly choices?: readonly string[];
  /** The flag that answers the question in scripts. */
  readonly flag: string;
}

/** How the wizard talks to a person. */
export interface Questions {
  ask(question: Question): Promise<string>;
  /** Reports a finished step. */
  say(text: string): void;
  /** Reports a failed step; the wizard continues. */
  warn(text: string): void;
  /** Restores the terminal; called once, however the wizard ends. */
  close(): void;
}

/** Asks line by line, which a screen reader can follow. */
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

/** Answers for scripts: with the default, or with an error that names the missing flag. */
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

/** Returns the meant choice; a prefix is enough if only one choice begins with it. */
export function resolveAnswer({ usual, choices }: Question, typed: string): { text: string; problem?: string } {
  const text = typed === "" ? (usual ?? "") : typed;
  if (text === "") return { text, problem: "An answer is needed." };
  if (!choices || choices.includes(text)) return { text };
  const begun = choices.filter((one) => one.startsWith(text));
  const [only] = begun;
  if (begun.length === 1 && only !== undefined) return { text: only };
  return { text, problem: begun.length === 0 ? `There is no ${text}.` : `${text} may be ${begun.join(" or ")}.` };
}
