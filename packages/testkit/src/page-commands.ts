// The commands of a page of the documentation, so that a test runs what a reader copies.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");

/** Returns the commands of the blocks `sh` of a page, each on one line and without its comment. */
export function readPageCommands(page: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block = ""]) =>
    block
      .replaceAll(/\\\n\s*/g, "")
      .split("\n")
      .map((line) => line.replace(/(?:^|\s+)#\s.*$/, "").trim())
      .filter((line) => line !== ""),
  );
}

/** Returns the text of the block `yaml` of a page that begins with these words. */
export function readPageFile(page: string, start: string): string {
  const text = readFileSync(join(ROOT, page), "utf8");
  const found = [...text.matchAll(/^```yaml\n([^]*?)^```$/gm)].find(([, block = ""]) => block.startsWith(start));
  if (!found?.[1]) throw new Error(`${page} has no file that begins with ${start}`);
  return found[1];
}

/** The commands of one page: a test runs some, and names the others. */
export class PageCommands {
  readonly #page: string;
  readonly #commands: readonly string[];
  readonly #done = new Set<string>();

  constructor(page: string) {
    this.#page = page;
    this.#commands = readPageCommands(page);
  }

  /** Returns the command of these words, or the only one that begins with them, and counts it as covered. */
  take(start: string): string {
    const isExact = this.#commands.includes(start);
    const found = new Set(this.#commands.filter((one) => (isExact ? one === start : one.startsWith(start))));
    const [command] = found;
    if (command === undefined || found.size > 1)
      throw new Error(`${this.#page} has ${found.size} commands that begin with ${start}`);
    this.#done.add(command);
    return command;
  }

  /** Returns the commands that no call of `take` has named. */
  listOthers(): string[] {
    return this.#commands.filter((command) => !this.#done.has(command));
  }
}
