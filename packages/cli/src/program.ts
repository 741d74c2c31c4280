import { Command } from "commander";
import type { Io } from "./core/io.ts";
import type { CommandContext } from "./session/command-context.ts";
import { CliError, EXIT } from "./core/exit.ts";
import { addGlobals, BUILT_IN, type Defaults, type Globals } from "./session/globals.ts";
import { VARIABLES } from "./core/variables.ts";
import type { Output } from "./print/output.ts";
import { accountCommands } from "./commands/account/command.ts";
import { apiCommands } from "./commands/api/command.ts";
import { chooseLimit, type Reference } from "./core/arguments.ts";
import { batchCommands } from "./commands/batch/command.ts";
import { budgetCommands } from "./commands/budget/command.ts";
import { catalogueCommands } from "./commands/catalogue/command.ts";
import { channelCommands } from "./commands/channel/command.ts";
import { chatCommands } from "./commands/chat/command.ts";
import { completionCommands } from "./commands/completion/command.ts";
import { documentCommands } from "./commands/documents/command.ts";
import { cacheCommands } from "./commands/cache/command.ts";
import { fileCommands } from "./commands/file/command.ts";
import { eventCommands } from "./commands/event/command.ts";
import { idpCommands } from "./commands/idp/command.ts";
import { importCommands } from "./commands/import/command.ts";
import { initCommands } from "./commands/init/command.ts";
import { kubeCommands } from "./commands/kube/command.ts";
import { logCommands } from "./commands/log/command.ts";
import { optionCommands } from "./commands/option/command.ts";
import { programCommands } from "./commands/program/command.ts";
import { redemptionCommands } from "./commands/redemption/command.ts";
import { reportCommands } from "./commands/report/command.ts";
import { serviceAccountCommands } from "./commands/service-account/command.ts";
import { statusCommands } from "./commands/status/command.ts";
import { teamCommands } from "./commands/team/command.ts";
import { tokenCommands } from "./commands/token/command.ts";
import { uiCommands } from "./commands/ui/command.ts";
import { userCommands } from "./commands/user/command.ts";

const HELP = `
Environment:
${Object.entries(VARIABLES)
  .map(([name, about]) => `  ${name.padEnd(29)}  ${about}`)
  .join("\n")}

Exit codes:
  0 done       1 failure      2 wrong usage    3 not found    4 not signed in
  5 conflict   6 not allowed  7 server unreachable or busy
  8 some of several failed    130 interrupted`;

/** In the order of the help. */
const NOUNS = [
  channelCommands,
  tokenCommands,
  logCommands,
  userCommands,
  teamCommands,
  serviceAccountCommands,
  redemptionCommands,
  budgetCommands,
  reportCommands,
  eventCommands,
  idpCommands,
  optionCommands,
  catalogueCommands,
  chatCommands,
  batchCommands,
  fileCommands,
  cacheCommands,
  documentCommands,
  importCommands,
  kubeCommands,
  apiCommands,
  completionCommands,
  programCommands,
];

function resolveLayout(globals: Globals): Pick<Output, "format" | "columns" | "hasTitles" | "sort"> {
  const { output, columns, headers, sort } = globals;
  const flag = columns ? "--columns" : headers ? undefined : "--no-headers";
  if (flag !== undefined && !WITH_COLUMNS.test(output))
    throw new CliError(`-o ${output} has no columns`, EXIT.usage, `leave out ${flag}, or use -o csv`);
  return { format: output, columns, hasTitles: headers, sort };
}

const WITH_COLUMNS = /^(table|wide|csv|tsv|custom-columns=.*)$/s;

/** The command tree. Each action loads its module when it runs, so that `--version` loads none. */
export function createProgram(version: string, process: Io, defaults: Defaults = BUILT_IN): Command {
  const program = new Command("fairway")
    .description("Operate a Fairway gateway from the terminal.")
    .version(version)
    .showHelpAfterError("(try --help)")
    .configureOutput({ writeOut: process.write, writeErr: (text) => process.note(text.replace(/\n$/, "")) })
    .addHelpText("after", HELP);
  addGlobals(program, defaults);
  const context = createContext(() => program.opts<Globals>(), process);
  program.on("option:utc", () => context.io.useUtc());
  program.on("option:no-input", () => context.io.closeInput());
  program.hook("preAction", (_program, command) => chooseLimit(command, process.isPiped));

  accountCommands(program, context);
  initCommands(program, context);
  statusCommands(program, context);
  uiCommands(program, context);
  for (const add of NOUNS) add(program, context);
  return program;
}

/** Gives commands access to the flags, the process and the gateway. */
function createContext(globals: () => Globals, { note: say, ...process }: Io): CommandContext {
  const note = (text: string) => (globals().quiet ? undefined : say(text));
  const io: Io = {
    ...process,
    get isTerminal() {
      return process.isTerminal;
    },
    note,
  };
  const env = () => {
    const { context, server } = globals();
    return {
      ...io.env,
      ...(context === undefined ? {} : { FAIRWAY_CONTEXT: context }),
      ...(server === undefined ? {} : { FAIRWAY_SERVER: server }),
    };
  };
  const link = async () => (await import("./session/link.ts")).createLink(globals(), { env: env(), say, out: io.out });
  const session: CommandContext["session"] = async (how) => (await link()).session(how);
  const client = async () => (await session()).client;
  const resolveId = async (reference: Reference, isExact = false) =>
    typeof reference === "number"
      ? reference
      : (await import("./commands/names.ts")).resolveIdByName(await client(), reference, isExact);
  const resolveIds = async (references: readonly Reference[] = [], isExact = false) => {
    const found: number[] = [];
    for (const reference of references) found.push(await resolveId(reference, isExact));
    return found;
  };
  const resolveTeam: CommandContext["resolveTeam"] = async ({ team }) => {
    const { chooseTeam } = await import("./session/chosen-team.ts");
    const chosen = chooseTeam(team, env(), note);
    return chosen === undefined ? undefined : resolveId(chosen);
  };
  let perUnit: Promise<number> | undefined;
  const askPerUnit = async () => (await import("./commands/status/overview.ts")).quotaPerUnit(await client());
  const output = (): Output => ({
    ...resolveLayout(globals()),
    width: io.width,
    quotaPerUnit: () => (perUnit ??= askPerUnit()),
    out: io.out,
    write: io.write,
    room: io.room,
    note,
    confirm: async (...asked) => (await link()).confirm(...asked),
  });
  const transport = async () => (await link()).transport();
  return {
    io,
    env,
    output,
    globals,
    session,
    transport,
    client,
    resolveId: (one) => resolveId(one),
    resolveIds,
    resolveTeam,
  };
}
