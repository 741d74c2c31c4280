import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../bootstrap.mjs";
import { code, page, table } from "./markdown.ts";

/** Sections of the page, in this order. */
const SECTIONS = [
  "Money",
  "Sessions and permissions",
  "Credentials",
  "Providers' keys",
  "Leaks",
  "Injection and parsing",
  "Exhaustion",
  "Network",
  "Console",
];

interface Weakness {
  readonly section: string;
  readonly text: string;
  readonly file: string;
}

const MARK = /^\s*\/\/ @weakness ([^:]+): (.+)$/;
/** The title is on the line of the call or, if the call is wrapped, a few lines below. */
const TITLE_LINES = 6;

/** Every test that a `// @weakness Section: sentence` line marks. Throws for a mark without a section or a test. */
export function weaknesses(): string {
  const files = globSync("packages/*/{src,test,e2e,integration,chaos}/**/*.{test,contract}.{ts,tsx}", { cwd: ROOT });
  const found = files.toSorted().flatMap(readMarks);
  return page(
    "Weaknesses that are prevented",
    "the @weakness lines of the tests",
    "What servers of this kind were seen to get wrong, and the test that fails when it comes back. [How the rest is secured](../explain/security.md).",
    ...SECTIONS.flatMap((section) => {
      const rows = found.filter((one) => one.section === section).map(buildRow);
      return rows.length === 0 ? [] : [`## ${section}\n\n${table(["Weakness", "Test"], rows)}`];
    }),
  );
}

/** Shows only the file: with titles, the page would change whenever a test is renamed. */
function buildRow({ text, file }: Weakness): readonly string[] {
  return [text, code(file)];
}

function readMarks(file: string): readonly Weakness[] {
  const lines = readFileSync(join(ROOT, file), "utf8").split("\n");
  return lines.flatMap((line, index) => {
    const [, section = "", text = ""] = MARK.exec(line) ?? [];
    if (section === "") return [];
    if (!SECTIONS.includes(section)) throw new Error(`${file}:${index + 1}: there is no section ${section}`);
    const below = lines.slice(index + 1).filter((next) => !MARK.test(next));
    if (!/["'`](.+?)["'`]/.test(below.slice(0, TITLE_LINES).join("\n")))
      throw new Error(`${file}:${index + 1}: no test follows the mark`);
    return [{ section, text, file }];
  });
}
