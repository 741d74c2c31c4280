import { createInterface } from "node:readline/promises";
import type { Resource } from "./lists/resource.ts";
import { createMachine } from "./machine.ts";
import type { Left, Outside } from "./performer.ts";
import type { State } from "./state.ts";
import { renderFrame } from "./view.ts";

export interface PlainUi {
  readonly server: string;
  readonly user: string;
  readonly resources: readonly Resource[];
  readonly state: State;
  readonly width: number;
  readonly outside: Outside;
  out(text: string): void;
}

/** How many rows are read out at once; `n` and `p` turn the page. */
const ROWS = 12;

const WORDS: Readonly<Record<string, string>> = {
  "": "enter",
  esc: "escape",
  space: " ",
  n: "pagedown",
  p: "pageup",
};

/** Returns the keys of a line; where the screen takes text, the line is the text. */
function parseKeys(line: string, { mode, form, pending }: State): readonly string[] {
  const letters = Array.from(line);
  if (line === "esc") return ["escape"];
  if (mode === "form" && form && form.question === "") {
    const next = form.at === form.fields.length - 1 ? "enter" : "tab";
    return line === "" ? [next] : ["ctrl-u", ...letters, next];
  }
  if (mode === "amount" || pending?.wanted !== undefined) return [...letters, "enter"];
  const known = WORDS[line];
  if (known !== undefined) return [known];
  return /^[:/]/.test(line) ? [...letters, "enter"] : letters;
}

/** Shows the same screen as lines for a screen reader: keys are sent with enter, and a frame follows each line. */
export async function showPlain({ server, user, resources, state, width, outside, out }: PlainUi): Promise<Left> {
  let left: Left | undefined;
  // Following would reread the list all the time; here it is read on request.
  const start = { ...state, isFollowing: false };
  const machine = createMachine({ resources, start, outside, leave: (how) => (left = how) });
  const show = () => {
    const frame = renderFrame(machine.state, { server, user, width, height: ROWS + 4 });
    for (const { text } of frame) if (text.trim() !== "") out(text.trimEnd());
  };
  await machine.load();
  show();
  const lines = createInterface({ input: process.stdin, terminal: false });
  for await (const line of lines) {
    for (const key of parseKeys(line.trim(), machine.state)) machine.feed(key, ROWS - 1, width);
    await machine.settled();
    if (left) break;
    show();
  }
  lines.close();
  return left ?? { state: machine.state };
}
