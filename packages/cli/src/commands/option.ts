import { optionList, optionUpdate, type Client } from "@fairway/wire";
import { CliError, EXIT } from "../exit.ts";
import { printList, type Output } from "../print/output.ts";
import { readStdin, readTextFile } from "../prompt.ts";

/** One option, or all of them without a key. */
export async function getOptions(client: Client, key: string | undefined, output: Output): Promise<void> {
  const { data } = await client.call(optionList, {});
  if (key === undefined) {
    const columns = [
      { title: "KEY", value: (row: { key: string }) => row.key },
      { title: "VALUE", value: (row: { value: string }) => row.value },
    ];
    return printList(output, { kind: "Option", columns, rows: data, empty: "No options." });
  }
  const found = data.find((row) => row.key === key);
  if (!found)
    throw new CliError(
      `there is no option ${key} that can be read`,
      EXIT.notFound,
      "list them with `fairway option get`; secrets are never shown",
    );
  output.out(output.format === "table" ? found.value : JSON.stringify(found));
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
