import { createInterface } from "node:readline/promises";
import { createMachine, type Left, type Outside } from "./machine.ts";
import type { Resource } from "./resource.ts";
import type { State } from "./state.ts";
import { frameOf } from "./view.ts";

export interface PlainUi {
  readonly server: string;
  readonly user: string;
  readonly resources: readonly Resource[];
  readonly state: State;
  readonly width: number;
  readonly outside: Outside;
  out(text: string): void;
}

/** Rows of a list that are read out at once; `n` and `p` turn the page. */
const ROWS = 12;

const WORDS: Readonly<Record<string, string>> = { "": "enter", esc: "escape", n: "pagedown", p: "pageup" };

/** The same screen as lines that a screen reader follows: keys are typed and sent with enter, a frame follows each. */
export async function showPlain({ server, user, resources, state, width, outside, out }: PlainUi): Promise<Left> {
  let left: Left | undefined;
  // Following reads the list again and again; here it is read when it is asked for.
  const start = { ...state, isFollowing: false };
  const machine = createMachine({ resources, start, outside, leave: (how) => (left = how) });
  const show = () => {
    const frame = frameOf(machine.state, { server, user, width, height: ROWS + 4 });
    for (const { text } of frame) if (text.trim() !== "") out(text.trimEnd());
  };
  await machine.load();
  show();
  const lines = createInterface({ input: process.stdin, terminal: false });
  for await (const line of lines) {
    const typed = line.trim();
    const known = WORDS[typed];
    const letters = Array.from(typed);
    const keys = known !== undefined ? [known] : /^[:/]/.test(typed) ? [...letters, "enter"] : letters;
    for (const key of keys) machine.feed(key, ROWS - 1, width);
    await machine.settled();
    if (left) break;
    show();
  }
  lines.close();
  return left ?? { state: machine.state };
}
