import type { CallInput, litellmImport } from "@fairway/wire";

export interface ImportForm {
  readonly config: string;
  /** A line `NAME=value` for each. */
  readonly variables: string;
  readonly isPricedByUpstream: boolean;
  /** Address of the gateway that is left; "" = none. */
  readonly former: string;
}

export const EMPTY_IMPORT: ImportForm = { config: "", variables: "", isPricedByUpstream: false, former: "" };

type ImportBody = NonNullable<CallInput<typeof litellmImport>["body"]>;

/** Reads lines of `NAME=value`; undefined if one of them is none. */
export function parseVariables(text: string): Record<string, string> | undefined {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const pairs = lines.map((line) => /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/.exec(line));
  if (pairs.includes(null)) return undefined;
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? "", (pair?.[2] ?? "").trim()]));
}

/** Returns the call of a form, or the member that is wrong. */
export function buildImport(form: ImportForm, isDry: boolean): ImportBody | "config" | "variables" {
  if (form.config.trim() === "") return "config";
  const variables = parseVariables(form.variables);
  if (!variables) return "variables";
  const former = form.former.trim().replace(/\/+$/, "");
  return {
    config: form.config,
    dry_run: isDry,
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(form.isPricedByUpstream && { price_from_upstream: true }),
    ...(former !== "" && { price_from: former }),
  };
}
