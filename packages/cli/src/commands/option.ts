import {
  formatTime,
  optionHistory,
  optionList,
  optionReset,
  optionUpdate,
  type Client,
  type OptionChange,
} from "@fairway/wire";
import type { Io } from "../command-context.ts";
import { editText } from "../editor.ts";
import { CliError, EXIT } from "../exit.ts";
import { printList, type Output } from "../print/output.ts";
import type { Column } from "../print/table.ts";
import { confirm, readStdin, readTextFile } from "../prompt.ts";
import { rowsUpTo } from "./paging.ts";

/** One option, or all of them without a key. */
export async function getOptions(
  client: Client,
  key: string | undefined,
  { prefix = "" }: { readonly prefix?: string },
  output: Output,
): Promise<void> {
  const { data } = await client.call(optionList, {});
  if (key === undefined) {
    const columns = [
      { title: "KEY", value: (row: { key: string }) => row.key },
      { title: "VALUE", value: (row: { value: string }) => row.value },
    ];
    const rows = data.filter((row) => row.key.startsWith(prefix));
    return printList(output, { kind: "Option", columns, rows, empty: "No options." });
  }
  const found = optionIn(data, key);
  output.out(output.format === "table" ? found.value : JSON.stringify(found));
}

function optionIn(rows: readonly { key: string; value: string }[], key: string): { key: string; value: string } {
  const found = rows.find((row) => row.key === key);
  if (found) return found;
  throw new CliError(
    `there is no option ${key} that can be read`,
    EXIT.notFound,
    "list them with `fairway option get`; secrets are never shown",
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

/** Objects and lists, one member a line. */
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
  await client.call(optionUpdate, { body: { key, value: text } });
  output.note(`${key} is set.`);
}

const CHANGE_COLUMNS: readonly Column<OptionChange>[] = [
  { title: "TIME", value: ({ created_at }) => formatTime(created_at) },
  { title: "USER", value: ({ username }) => username },
  { title: "KEY", value: ({ key }) => key },
  { title: "BEFORE", value: ({ old_value }) => old_value ?? "-" },
  { title: "AFTER", value: ({ new_value }) => new_value ?? "-" },
];

export async function optionChanges(
  client: Client,
  key: string | undefined,
  { limit }: { readonly limit: number },
  output: Output,
): Promise<void> {
  const rows = await rowsUpTo(limit, (page) => client.call(optionHistory, { query: { key, ...page } }));
  printList(output, { kind: "OptionChange", columns: CHANGE_COLUMNS, rows, empty: "No changes." });
}

export async function resetRatios(client: Client, { yes }: { readonly yes?: boolean }, output: Output): Promise<void> {
  await confirm("Replace all model ratios by the built-in ones", 1, yes);
  await client.call(optionReset, {});
  output.note("The built-in model ratios are back.");
}
