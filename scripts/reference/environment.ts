import { ALIASES } from "../../packages/gateway/src/config/aliases.ts";
import { ENV_VARIABLES } from "../../packages/gateway/src/config/env.ts";
import { code, page, table } from "./markdown.ts";

export function environment(): string {
  const variables = ENV_VARIABLES.map(({ name, about, fallback, example, isSecret }) => [
    isSecret ? `${code(name)}, ${code(`${name}_FILE`)}` : code(name),
    about,
    code(fallback),
    code(example),
  ]);
  const aliases = ALIASES.map(({ name, variable, about }) => [
    code(name),
    variable ? code(variable) : "nothing to set",
    about,
  ]);
  return page(
    "Environment",
    "packages/gateway/src/config",
    "Read once at the start. An unknown `FAIRWAY_` name stops the start, so that a typing error cannot pass. Secrets may also come from the file that `<name>_FILE` names. What operators change at run time are [options](options.md).",
    table(["Variable", "What it does", "Default", "Example"], variables),
    "## Names of compatible gateways",
    "Accepted while ours are absent, and named once in the log.",
    table(["Name", "Stands for", "Difference"], aliases),
  );
}
