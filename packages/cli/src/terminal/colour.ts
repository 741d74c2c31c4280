/**
 * Decides once whether output is coloured, before a library reads the environment: the terminal renderer ignores
 * NO_COLOR and reads an empty FORCE_COLOR as a yes.
 */
export function settleColour(env: NodeJS.ProcessEnv, args: readonly string[], isTerminal: boolean): void {
  if (args.includes("--color") && !args.includes("--no-color")) env["FORCE_COLOR"] = "1";
  const isForced = (env["FORCE_COLOR"] ?? "") !== "" && env["FORCE_COLOR"] !== "0";
  const isOff = args.includes("--no-color") || (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb" || !isTerminal;
  if (isOff && !isForced) env["FORCE_COLOR"] = "0";
  else if (env["FORCE_COLOR"] === "") delete env["FORCE_COLOR"];
  delete env["NO_COLOR"];
}
