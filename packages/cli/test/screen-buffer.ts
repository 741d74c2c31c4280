/** What a terminal shows after the output of a program; it supports only the sequences that the screens use. */
export interface ScreenBuffer {
  write(text: string): void;
  resize(columns: number, rows: number): void;
  /** Returns the lines without trailing blanks. */
  lines(): string[];
}

const ESC = "\u001B";
const BELL = "\u0007";
const SEQUENCE = new RegExp(
  `${ESC}\\[([?>=<]?)([\\d;:]*)([@-~])|${ESC}[()][A-Z0-9]|${ESC}[78=>cM]|${ESC}\\][^${BELL}${ESC}]*(?:${BELL}|${ESC}\\\\)`,
  "y",
);

export function createScreenBuffer(columns: number, rows: number): ScreenBuffer {
  let width = columns;
  let height = rows;
  let grid: string[][] = [];
  let x = 0;
  let y = 0;
  let rest = "";
  const blank = () => Array.from({ length: width }, () => " ");
  const clear = () => void (grid = Array.from({ length: height }, blank));
  clear();
  const moveTo = (column: number, row: number) => {
    x = Math.max(0, Math.min(width - 1, column));
    y = Math.max(0, Math.min(height - 1, row));
  };
  const newLine = () => {
    if (y < height - 1) y += 1;
    else grid = [...grid.slice(1), blank()];
  };
  const put = (letter: string) => {
    if (x >= width) {
      x = 0;
      newLine();
    }
    const line = grid[y];
    if (line) line[x] = letter;
    x += 1;
  };
  const eraseLine = (mode: number) => {
    const line = grid[y] ?? [];
    const [from, to] = mode === 0 ? [x, width] : mode === 1 ? [0, x + 1] : [0, width];
    line.fill(" ", from, to);
  };
  const eraseScreen = (mode: number) => {
    if (mode >= 2) return clear();
    eraseLine(mode);
    grid.forEach((line, at) => (mode === 0 ? at > y : at < y) && line.fill(" "));
  };
  const run = (mark: string, numbers: readonly number[], kind: string) => {
    const [first = 0, second = 0] = numbers;
    const count = Math.max(1, first);
    if (mark === "?" && first === 1049) {
      clear();
      moveTo(0, 0);
    }
    if (mark !== "") return;
    const moves: Readonly<Record<string, () => void>> = {
      A: () => moveTo(x, y - count),
      B: () => moveTo(x, y + count),
      C: () => moveTo(x + count, y),
      D: () => moveTo(x - count, y),
      E: () => moveTo(0, y + count),
      F: () => moveTo(0, y - count),
      G: () => moveTo(count - 1, y),
      H: () => moveTo(Math.max(1, second) - 1, count - 1),
      J: () => eraseScreen(first),
      K: () => eraseLine(first),
      m: () => undefined,
    };
    const move = moves[kind];
    if (!move) throw new Error(`a sequence that this terminal does not know: CSI ${numbers.join(";")} ${kind}`);
    move();
  };
  return {
    write(text) {
      const all = rest + text;
      rest = "";
      for (let at = 0; at < all.length;) {
        const letter = String.fromCodePoint(all.codePointAt(at) ?? 0);
        if (letter === ESC) {
          SEQUENCE.lastIndex = at;
          const found = SEQUENCE.exec(all);
          if (!found) return void (rest = all.slice(at));
          at += found[0].length;
          if (found[3] !== undefined) run(found[1] ?? "", (found[2] ?? "").split(";").map(Number), found[3]);
          continue;
        }
        at += letter.length;
        if (letter === "\r") x = 0;
        else if (letter === "\n") newLine();
        else if (letter >= " ") put(letter);
      }
    },
    resize(newColumns, newRows) {
      const old = grid;
      width = newColumns;
      height = newRows;
      grid = Array.from({ length: height }, (_, at) => [...(old[at] ?? []), ...blank()].slice(0, width));
      moveTo(x, y);
    },
    lines: () => grid.map((line) => line.join("").trimEnd()),
  };
}
