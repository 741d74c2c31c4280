// `npm run check`: words that this repository does not use, each with the words to use instead. Reads comments,
// identifiers, test titles, messages and pages. `node scripts/banned-words.ts PATH...` checks some of them.
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./bootstrap.mjs";

interface Ban {
  readonly pattern: RegExp;
  readonly instead: string;
}

interface Finding {
  readonly line: number;
  readonly word: string;
  readonly instead: string;
}

/** Longer idioms first: the finding names the whole phrase. */
const BANS: readonly Ban[] = [
  ban(String.raw`told|tells? of`, "says, informed"),
  ban("beside", "next to, with, in addition to"),
  ban("anew", "again"),
  ban("whoever|whomever", "the one that, any client that"),
  ban(`nobody(?!")`, "no client, no user"),
  ban("somebody", "a client, a user, one of"),
  ban("of which", "a shorter sentence"),
  ban(String.raw`the family|family's`, "compatible gateways"),
  ban(String.raw`what (?:a |an |the )?\w+ ha(?:s|ve) of`, "the noun itself"),
  ban("(?:brings?|brought|bringing|comes?|came) about", "applies, causes, happens"),
  ban("(?:goes|went|gone|go) on", "continues"),
  ban("(?:gives?|gave|given|giving) back", "returns, releases"),
  ban("(?:is|are|was|were) gone", "no longer exists"),
  ban(String.raw`stands(?! (?:for|in for|Still)\b)`, "is"),
  ban("by then", "a point in time"),
  ban("at hand", "available"),
  ban("(?:hands?|handed|handing) (?:on|over)", "passes"),
  ban("asks for", "requires, requests, needs"),
  ban(String.raw`kept(?![ -](?:alive|open|apart|separate|in sync|Responses)\b)`, "stored, retained, cached, held"),
  ban(String.raw`looks(?! (?:like|up|for|ahead|the same|right|wrong)\b)`, "reads, polls, checks"),
  ban("(?:a|one|each|every|next|last|first|second|per) look", "a read, a poll"),
  ban(String.raw`(?<!line[ -])endings?(?! (?:in|with|at)\b)`, "completion, end"),
  ban("made of", "consists of"),
  ban("lest", "so that not"),
  ban("till", "until"),
  ban("hence", "so"),
  ban("thereby", "a second sentence"),
  ban("in vain", "without success"),
  ban(String.raw`pass(?:es|ed|ing)? over`, "skips, ignores"),
  { pattern: /\bR-[A-Z]+-\d+\b/g, instead: "the behaviour instead of a rule of a specification that is not here" },
  { pattern: /\/\*\* Of (?=\w)/g, instead: "the noun first: The limit of" },
];

/** Everything that people write in this repository: folders, and pages and settings at the top level. */
export const CHECKED: readonly string[] = [
  ".github",
  "charts",
  "deploy",
  "docs",
  "packages",
  "scripts",
  ...globSync("*.{md,ts}", { cwd: ROOT }),
];

const TYPES = "**/*.{ts,tsx,mjs,md,yaml,tpl}";
/** Texts of other authors, generated pages (their source is checked) and this list. */
const EXEMPT = [
  /(?:^|\/)(?:node_modules|dist|vectors|fixtures)\//,
  /^docs\/reference\//,
  /\/locale\/(?!en\b)[^/]+\.tsx?$/,
  /^scripts\/banned-words(?:\.test)?\.ts$/,
];

function ban(words: string, instead: string): Ban {
  return { pattern: new RegExp(String.raw`\b(?:${words})\b`, "gi"), instead };
}

/** Returns every banned word of a text; `keptBack` and `kept-back` count as `kept back`. */
export function bannedWords(text: string): Finding[] {
  return text.split("\n").flatMap((raw, index) => {
    const line = raw.replaceAll(/(?<=[a-z\d])(?=[A-Z])|_/g, " ");
    return BANS.flatMap(({ pattern, instead }) =>
      [...line.matchAll(pattern)].map(([word]) => ({ line: index + 1, word, instead })),
    );
  });
}

/** Returns `path:line: "word": write ...` for every banned word of files and their names below the paths. */
export function findings(paths: readonly string[], exempt: readonly RegExp[] = EXEMPT): string[] {
  const files = paths.flatMap((path) =>
    statSync(join(ROOT, path)).isFile()
      ? [path]
      : globSync(`${path}/${TYPES}`, { cwd: ROOT, exclude: (name) => name === "node_modules" }),
  );
  return files
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !exempt.some((pattern) => pattern.test(path)))
    .toSorted()
    .flatMap((path) =>
      [
        ...bannedWords(path).map((found) => ({ ...found, line: 0 })),
        ...bannedWords(readFileSync(join(ROOT, path), "utf8")),
      ].map(({ line, word, instead }) => `${path}:${line}: "${word}": write ${instead}`),
    );
}

if (import.meta.main) {
  const chosen = process.argv.slice(2);
  const found = findings(chosen.length === 0 ? CHECKED : chosen);
  for (const text of found) console.log(text);
  process.exitCode = found.length === 0 ? 0 : 1;
}
