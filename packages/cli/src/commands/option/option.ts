import {
  ApiProblem,
  OPTION_KEYS,
  optionHistory,
  optionList,
  optionReset,
  optionUpdate,
  type Client,
  type OptionChange,
  nearest,
} from "@fairway/wire";
import type { Io } from "../../core/io.ts";
import { editText } from "../../terminal/editor.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain, time } from "../../print/columns.ts";
import { printBare, printList, type Output, type Shape } from "../../print/output.ts";
import type { Column } from "../../print/table.ts";
import { readStdin, readTextFile } from "../../terminal/prompt.ts";
import { printPart, type Part } from "../paging.ts";

interface Setting {
  readonly key: string;
  readonly value: string;
}

/** How options are printed. */
export const SETTINGS: Shape<Setting> = {
  kind: "Option",
  columns: [plain("KEY", "key"), plain("VALUE", "value")],
  name: ({ key }) => `option/${key}`,
};

/** Prints the bare value of one option, or without a key all options. */
export async function getOptions(
  client: Client,
  key: string | undefined,
  { prefix = "" }: { readonly prefix?: string },
  output: Output,
): Promise<void> {
  const { data } = await client.call(optionList, {});
  if (key === undefined) {
    const rows = data.filter((row) => row.key.startsWith(prefix));
    return printList(output, { ...SETTINGS, rows, empty: "No options." });
  }
  const found = optionIn(data, key);
  await printBare(output, found.value, found, SETTINGS);
}

function optionIn(rows: readonly Setting[], key: string): Setting {
  const found = rows.find((row) => row.key === key);
  if (found) return found;
  const near = nearest(
    key,
    rows.map((row) => row.key),
  );
  throw new CliError(
    `there is no option ${key} that can be read`,
    EXIT.notFound,
    near === undefined
      ? "list them with `fairway option get`; secrets are never shown"
      : `did you mean ${near}? Secrets are never shown`,
  );
}

export async function editOption(
  client: Client,
  key: string,
  { output, io }: { readonly output: Output; readonly io: Io },
): Promise<void> {
  const { data } = await client.call(optionList, {});
  const { value } = optionIn(data, key);
  const save = async (changed: string) => {
    await client.call(optionUpdate, { body: { key, value: changed.trimEnd() } });
    output.note(`${key} is set.`);
  };
  await editText({ text: `${laidOut(value)}\n`, fileName: `${key}.txt` }, save, io);
}

/** Formats objects and lists with one member per line. */
function laidOut(value: string): string {
  if (!/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.stringify(JSON.parse(value), undefined, 2);
  } catch {
    return value;
  }
}

/** `value` may be `@file` or `-` for standard input. */
export async function setOption(client: Client, key: string, value: string, output: Output): Promise<void> {
  const text =
    value === "-"
      ? await readStdin(`Value of ${key}`)
      : value.startsWith("@")
        ? readTextFile(value.slice(1), `the value of ${key}`)
        : value;
  try {
    await client.call(optionUpdate, { body: { key, value: text } });
  } catch (thrown) {
    const near =
      thrown instanceof ApiProblem && thrown.key === "option_unknown" ? nearest(key, OPTION_KEYS) : undefined;
    if (near === undefined) throw thrown;
    throw new CliError(`there is no option ${key}`, EXIT.notFound, `did you mean ${near}?`);
  }
  output.note(`${key} is set.`);
}

export const CHANGE_COLUMNS: readonly Column<OptionChange>[] = [
  time("TIME", "created_at"),
  plain("USER", "username"),
  plain("KEY", "key"),
  { ...plain("BEFORE", "old_value"), value: ({ old_value }) => old_value ?? "-" },
  { ...plain("AFTER", "new_value"), value: ({ new_value }) => new_value ?? "-" },
];

export async function optionChanges(
  client: Client,
  key: string | undefined,
  part: Part,
  output: Output,
): Promise<void> {
  const list = {
    kind: "OptionChange",
    columns: CHANGE_COLUMNS,
    name: ({ key }: OptionChange) => `option/${key}`,
    toShown: (row: OptionChange) => row,
    empty: "No changes.",
  };
  await printPart(output, part, list, (page) => client.call(optionHistory, { query: { key, ...page } }));
}

export async function resetRatios(client: Client, { yes }: { readonly yes?: boolean }, output: Output): Promise<void> {
  await output.confirm("Replace all model ratios by the built-in ones", 1, yes);
  await client.call(optionReset, {});
  output.note("The built-in model ratios are back.");
}
