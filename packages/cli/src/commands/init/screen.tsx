import { Box, render, Text, useInput } from "ink";
import { useState, useSyncExternalStore } from "react";
import { CliError, EXIT } from "../../core/exit.ts";
import { printable } from "../../print/printable.ts";
import { resolveAnswer, type Question, type Questions } from "../questions.ts";

interface State {
  readonly said: readonly string[];
  readonly question: Question | undefined;
}

interface Store {
  readonly state: State;
  subscribe(onChange: () => void): () => void;
  answer(text: string): void;
  giveUp(): void;
}

/** Shows the finished steps with one question below them. A choice is selected with the arrows, or typed. */
export function screenQuestions(): Questions {
  let state: State = { said: [], question: undefined };
  let waiting: PromiseWithResolvers<string> | undefined;
  const watchers = new Set<() => void>();
  const change = (next: Partial<State>) => {
    state = { ...state, ...next };
    for (const watch of watchers) watch();
  };
  const store: Store = {
    get state() {
      return state;
    },
    subscribe(onChange) {
      watchers.add(onChange);
      return () => void watchers.delete(onChange);
    },
    answer(text) {
      const { question } = state;
      const shown = question?.isSecret ? "•••" : text;
      change({ question: undefined, said: [...state.said, `${question?.text ?? ""}: ${shown}`] });
      waiting?.resolve(text);
    },
    giveUp: () => waiting?.reject(new CliError("interrupted", EXIT.interrupted)),
  };
  const screen = render(<Wizard store={store} />, { exitOnCtrlC: false, patchConsole: false });
  return {
    ask(question) {
      waiting = Promise.withResolvers<string>();
      change({ question });
      return waiting.promise;
    },
    say: (text) => change({ said: [...state.said, `✓ ${printable(text)}`] }),
    warn: (text) => change({ said: [...state.said, `! ${printable(text)}`] }),
    close: () => screen.unmount(),
  };
}

function Wizard({ store }: { readonly store: Store }) {
  const { said, question } = useSyncExternalStore(store.subscribe, () => store.state);
  useInput((input, key) => {
    if (key.ctrl && input === "c") store.giveUp();
  });
  return (
    <Box flexDirection="column">
      <Text bold>fairway init</Text>
      {said.map((line, at) => (
        // Lines are only appended, so the index is a stable key.
        <Text key={at} dimColor={!/^[✓!]/.test(line)}>
          {line}
        </Text>
      ))}
      {question && <Answering key={said.length} question={question} onAnswer={store.answer} />}
    </Box>
  );
}

/** How many choices are shown at once. */
const MOST = 8;

function Answering({ question, onAnswer }: { readonly question: Question; readonly onAnswer: (text: string) => void }) {
  const [typed, setTyped] = useState("");
  const [place, setPlace] = useState(-1);
  const [problem, setProblem] = useState("");
  const choices = (question.choices ?? []).filter((one) => one.startsWith(typed));
  const finish = (text: string) => {
    const answer = resolveAnswer(question, choices[place] ?? text.trim());
    if (answer.problem === undefined) return onAnswer(answer.text);
    setTyped(text);
    setProblem(answer.problem);
  };
  useInput((input, key) => {
    if (key.ctrl || key.meta || key.escape) return;
    if (key.return) return finish(typed);
    if (key.upArrow || key.downArrow)
      return setPlace((now) => Math.max(-1, Math.min(choices.length - 1, now + (key.downArrow ? 1 : -1))));
    if (key.backspace || key.delete) setTyped((now) => now.slice(0, -1));
    else if (/[\r\n]/.test(input)) return finish(typed + (input.split(/[\r\n]/, 1)[0] ?? ""));
    else setTyped((now) => now + input);
    setPlace(-1);
    setProblem("");
  });
  const first = Math.max(0, place - MOST + 1);
  return (
    <Box flexDirection="column">
      <Text>
        <Text bold>{question.text}</Text>
        {question.usual === undefined ? "" : ` [${question.usual}]`}:{" "}
        {question.isSecret ? "•".repeat(typed.length) : typed}
        <Text inverse> </Text>
      </Text>
      {choices.slice(first, first + MOST).map((one, at) => (
        <Text key={one} inverse={first + at === place}>
          {first + at === place ? "> " : "  "}
          {one}
        </Text>
      ))}
      {choices.length > MOST && <Text dimColor>{choices.length} in all: type the beginning, or use the arrows</Text>}
      {problem !== "" && <Text color="red">! {problem}</Text>}
    </Box>
  );
}
