import type { Io } from "../../core/io.ts";
import { CliError, EXIT } from "../../core/exit.ts";
import { plain } from "../../print/columns.ts";
import { printBare, printList, type Output, type Shape } from "../../print/output.ts";
import {
  checkedSetting,
  resolveDefaults,
  replaceSettings,
  SETTINGS,
  settingsPath,
  storedSettings,
  writeSetting,
} from "../../session/defaults.ts";

type Environment = Readonly<Record<string, string | undefined>>;

interface Setting {
  readonly setting: string;
  readonly value: string | number;
  readonly source: string;
}

const SHAPE: Shape<Setting> = {
  kind: "Setting",
  columns: [plain("SETTING", "setting"), plain("VALUE", "value"), plain("SOURCE", "source")],
  name: ({ setting }) => `setting/${setting}`,
};

function listSettings(env: Environment): Setting[] {
  const values = resolveDefaults(env);
  const stored = storedSettings(env);
  return SETTINGS.map((setting) => {
    const isVariable = setting === "output" && (env["FAIRWAY_OUTPUT"] ?? "") !== "";
    const source = isVariable ? "FAIRWAY_OUTPUT" : setting in stored ? settingsPath(env) : "built in";
    return { setting, value: values[setting], source };
  });
}

export async function viewSettings(env: Environment, output: Output): Promise<void> {
  await printList(output, { ...SHAPE, rows: listSettings(env), empty: "" });
}

export async function getSetting(env: Environment, name: string, output: Output): Promise<void> {
  const found = listSettings(env).find(({ setting }) => setting === name);
  if (!found) throw unknown(name);
  await printBare(output, String(found.value), found, SHAPE);
}

export function setSetting(
  env: Environment,
  { name, value }: { readonly name: string; readonly value: string },
  output: Output,
): void {
  const path = writeSetting(env, name, checkedSetting(name, value, "config"));
  output.note(`${name} is ${value} now, in ${path}.`);
}

export function unsetSetting(env: Environment, name: string, output: Output): void {
  if (!SETTINGS.some((one) => one === name)) throw unknown(name);
  writeSetting(env, name, undefined);
  output.note(`${name} has its default again.`);
}

/** Reports mistakes and leaves the text in its file. */
export async function editSettings(
  env: Environment,
  { output, io }: { readonly output: Output; readonly io: Io },
): Promise<void> {
  const text = `${JSON.stringify(storedSettings(env), undefined, 2)}\n`;
  const save = async (changed: string) => {
    const path = replaceSettings(env, changed);
    await Promise.resolve();
    output.note(`${path} is written.`);
  };
  const { editText } = await import("../../terminal/editor.ts");
  await editText({ text, fileName: "config.json" }, save, io);
}

function unknown(name: string): CliError {
  return new CliError(`there is no setting ${name}`, EXIT.notFound, `choose among ${SETTINGS.join(", ")}`);
}
