// The fields of a token that flags set, as their table declares them.
import {
  listTokenFields,
  splitList,
  TOKEN_FIELD_NAMES,
  TOKEN_FIELDS,
  type Token,
  type TokenField,
  type TokenFieldWith,
  type TokenInput,
} from "@fairway/wire";
import { CliError, EXIT } from "../../core/exit.ts";
import { readTagLimits } from "../../core/tag-limits.ts";

type Fields = typeof TOKEN_FIELDS;
type OptionName<S> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<OptionName<Tail>>}` : S & string;
type Flagged = TokenFieldWith<"flag">;

/** Values of the flags, by the names that commander gives them. */
export type FieldOptions = {
  readonly [F in Flagged as OptionName<Fields[F]["flag"]["name"]>]?: Fields[F]["kind"] extends "lines"
    ? readonly string[]
    : string;
};

/** Readers of flags, by the kind of their field; the others are sent as they are. */
const READERS: { readonly [K in TokenField["kind"]]?: (value: never, field: TokenField) => unknown } = {
  lines: (items: readonly string[]) => items.join("\n"),
  fallbacks: toFallbacksText,
  whole: readWhole,
  tag_limits: readTagLimits,
};

/** Returns the fields that the flags set. */
export function readFields(options: FieldOptions): TokenInput {
  const values = options as Readonly<Record<string, unknown>>;
  const fields = listTokenFields("flag").map((name) => {
    const field: TokenField = TOKEN_FIELDS[name];
    const value = values[toOptionName(TOKEN_FIELDS[name].flag.name)];
    const read = READERS[field.kind];
    return [name, read && value !== undefined ? read(value as never, field) : value] as const;
  });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** Returns the fields that an update without them would reset. */
export function copyFields(token: Token): TokenInput {
  const names = TOKEN_FIELD_NAMES.filter((name) => !("staysIfAbsent" in TOKEN_FIELDS[name]));
  return Object.fromEntries(names.map((name) => [name, token[name]]));
}

function toOptionName(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function readWhole(text: string, { least = 0, most = Infinity, flag }: TokenField): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
  throw new CliError(
    `--${flag?.name} ${text} is not a whole number from ${least} to ${most}`,
    EXIT.usage,
    `write ${least} to ${most}`,
  );
}

/** Accepts a comma list of models next to the forms that the gateway reads. */
function toFallbacksText(text: string): string {
  const word = text.trim();
  if (word === "" || word === "off" || word === "inherit" || word.startsWith("[")) return word;
  return JSON.stringify(splitList(word));
}
