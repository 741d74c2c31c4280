import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError, readErrorCode, EXIT } from "../core/exit.ts";
import { BUILT_IN, type Defaults } from "./globals.ts";
import { objectIn } from "../core/json.ts";
import { checkedFormat } from "../print/format.ts";
import { resolveConfigFolder } from "./contexts.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a value from the file or from `config set`; undefined if the value is invalid. */
const READERS: Readonly<Record<keyof Defaults, (text: string) => Defaults[keyof Defaults] | undefined>> = {
  output: checkedFormat,
  timeout: (text) => within(text, 1, 3600),
  retries: (text) => within(text, 0, 99),
};
export const SETTINGS = Object.keys(READERS) as (keyof Defaults)[];

const WORDS: Readonly<Record<keyof Defaults, string>> = {
  output: "a format that -o takes, such as wide",
  timeout: "seconds from 1 to 3600",
  retries: "a number from 0 to 99",
};

function within(text: string, least: number, most: number): number | undefined {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

/** Returns the file with the settings of the program itself, as `fairway config` shows them. */
export function settingsPath(env: Environment): string {
  return join(resolveConfigFolder(env), "config.json");
}

/** Returns the settings of the file, unchecked; empty without a file. */
export function storedSettings(env: Environment): Readonly<Record<string, unknown>> {
  const path = settingsPath(env);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(readErrorCode(cause))) return {};
    throw new CliError(`${path} cannot be read (${readErrorCode(cause)})`, EXIT.failure);
  }
  return settingsIn(text, path);
}

/** The environment overrides the file, which overrides the built-in defaults. */
export function resolveDefaults(env: Environment): Defaults {
  const stored = storedSettings(env);
  const path = settingsPath(env);
  const read = Object.entries(stored).map(([name, value]) => [name, checkedSetting(name, String(value), path)]);
  const variable = env["FAIRWAY_OUTPUT"];
  const named = variable ? { output: checkedSetting("output", variable, "FAIRWAY_OUTPUT") } : {};
  return { ...BUILT_IN, ...(Object.fromEntries(read) as Partial<Defaults>), ...named } as Defaults;
}

export function checkedSetting(name: string, text: string, source: string): Defaults[keyof Defaults] {
  const setting = SETTINGS.find((one) => one === name);
  if (!setting)
    throw new CliError(`${source}: there is no setting ${name}`, EXIT.usage, `choose among ${SETTINGS.join(", ")}`);
  const value = READERS[setting](text);
  if (value === undefined)
    throw new CliError(`${source}: ${text} is not a valid ${name}`, EXIT.usage, `write ${WORDS[setting]}`);
  return value;
}

/** Replaces the whole file after checking each setting. */
export function replaceSettings(env: Environment, text: string): string {
  const path = settingsPath(env);
  const settings = settingsIn(text, "the text");
  for (const [name, value] of Object.entries(settings)) checkedSetting(name, String(value), path);
  writeFile(path, settings);
  return path;
}

function settingsIn(text: string, source: string): Readonly<Record<string, unknown>> {
  const settings = objectIn(text);
  if (settings) return settings;
  throw new CliError(`${source} is not a JSON object`, EXIT.failure, "correct it, or remove it");
}

/** Undefined removes the setting. */
export function writeSetting(env: Environment, name: string, value: Defaults[keyof Defaults] | undefined): string {
  const path = settingsPath(env);
  const { [name]: _before, ...others } = storedSettings(env);
  writeFile(path, value === undefined ? others : { ...others, [name]: value });
  return path;
}

function writeFile(path: string, settings: Readonly<Record<string, unknown>>): void {
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(settings, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch (cause) {
    rmSync(draft, { force: true });
    throw new CliError(`${path} cannot be written (${readErrorCode(cause)})`, EXIT.failure);
  }
}
